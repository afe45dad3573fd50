// From a spelling to what it computes: PTX's multiply-adds, additions and multiplications, and SASS's FFMA.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "reference.h"

inline std::vector<std::string> split(const std::string &text, char at) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

// Nothing if the kit does not know the spelling. `f32x2` is two results of f32, `f16x2` of f16.
inline std::optional<Operation> operation_of(const std::string &spelling) {
    std::vector<std::string> parts = split(spelling, '.');
    Operation op = {MUL_ADD, F32, F32, NEAREST, false, false, false, false};
    const std::string &name = parts[0];
    if (name == "fma" || name == "mad" || name == "FFMA") op.kind = MUL_ADD;
    else if (name == "add") op.kind = ADD;
    else if (name == "sub") op.kind = ADD, op.negate_c = true;
    else if (name == "mul") op.kind = MUL;
    else return std::nullopt;
    int types = name == "FFMA";
    for (size_t i = 1; i < parts.size(); i++) {
        std::string part = parts[i];
        Format type = {0, 0};
        if (name == "FFMA") for (char &letter : part) letter = char(std::tolower(letter));
        if (part == "rn") op.direction = NEAREST;
        else if (part == "rz") op.direction = ZERO;
        else if (part == "rm") op.direction = DOWN;
        else if (part == "rp") op.direction = UP;
        else if (part == "ftz") op.flush = true;
        else if (part == "fmz" && name == "FFMA") op.flush = op.zero_dominance = true;
        else if (part == "sat") op.saturate = true;
        else if (part == "relu") op.relu = true;
        else if (part == "oob") op.oob = true;
        else if (part == "f16" || part == "f16x2") type = F16;
        else if (part == "bf16" || part == "bf16x2") type = BF16;
        else if (part == "f32" || part == "f32x2") type = F32;
        else if (part == "f64") type = F64;
        else return std::nullopt;
        if (type.fraction_bits == 0) continue;
        // The first type is the result's, a second one the factors'.
        if (types++ == 0) op.format = op.factors = type;
        else op.factors = type;
    }
    if (types == 0 || types > 2) return std::nullopt;
    return op;
}

// How many results of the spelling's type one instruction gives.
inline int components_of(const std::string &spelling) { return spelling.find("x2") == std::string::npos ? 1 : 2; }
