// Changes one bit of one instruction of a cubin: FFMA gets .FMZ, which no PTX spelling gives.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

// The 128-bit instructions of sm_70 and later: FFMA with register operands has 0x223 in its lowest 12 bits, FMZ is
// bit 76 (FTZ is 80, SAT 77, the rounding 78 and 79).
const uint64_t FFMA_OPCODE = 0x223;
const int FMZ_BIT = 76;

// In the code of each entry named there, the only FFMA; an error is text, or empty.
inline std::string make_fmz(std::string &cubin, const std::string &entry) {
    auto read = [&](size_t at, size_t size) {
        uint64_t value = 0;
        if (at + size <= cubin.size()) memcpy(&value, &cubin[at], size);
        return value;
    };
    if (cubin.compare(0, 4, "\177ELF") != 0) return "no cubin";
    size_t sections = read(0x28, 8), size = read(0x3a, 2), count = read(0x3c, 2), names = read(0x3e, 2);
    size_t name_table = read(sections + names * size + 0x18, 8);
    for (size_t i = 0; i < count; i++) {
        size_t header = sections + i * size, name = name_table + read(header, 4);
        std::string wanted = ".text." + entry;
        if (name + wanted.size() >= cubin.size() || cubin.compare(name, wanted.size() + 1, wanted.c_str(), wanted.size() + 1))
            continue;
        size_t start = read(header + 0x18, 8), end = start + read(header + 0x20, 8), found = 0, where = 0;
        for (size_t at = start; at + 16 <= end; at += 16)
            if ((read(at, 8) & 0xfff) == FFMA_OPCODE) found++, where = at;
        if (found != 1) return entry + " has " + std::to_string(found) + " FFMA instructions, not one";
        cubin[where + FMZ_BIT / 8] = char(cubin[where + FMZ_BIT / 8] | 1 << FMZ_BIT % 8);
        return "";
    }
    return "no section .text." + entry;
}
