// Something that computes instructions: a GPU, or the reference pretending to be one that is wrong in known ways.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aim.h"
#include "spelling.h"

// One entry of a module of instructions.
struct Entry {
    std::string name, spelling;
    Operation op;
    // Results of the spelling's type that one thread makes.
    int lanes;
};

// Where operands come from: every triple of the named numbers, or random ones.
struct Source {
    bool random;
    uint64_t seed, count;
};
BOTH Triple operands_at(const Operation &op, bool random, uint64_t seed, uint64_t index) {
    return random ? aimed(op, seed, index) : directed(op, index);
}

struct Tally {
    uint64_t compared = 0;
    std::array<uint64_t, CLASSES> counts = {};
    // The first of each class.
    std::vector<Mismatch> kept;

    uint64_t mismatches() const {
        uint64_t sum = 0;
        for (uint64_t count : counts) sum += count;
        return sum;
    }
    void add(const Tally &other) {
        compared += other.compared;
        for (int i = 0; i < CLASSES; i++) counts[i] += other.counts[i];
        kept.insert(kept.end(), other.kept.begin(), other.kept.end());
    }
};
const uint32_t KEPT_OF_A_CLASS = 4096;

struct Machine {
    virtual ~Machine() = default;
    virtual std::string describe() = 0;
    // A module of `entries` becomes the one that `run` and `sweep` take entries of. An error is text, or empty.
    virtual std::string load(const std::string &path) = 0;
    virtual std::vector<uint64_t> run(const Entry &entry, const std::vector<Triple> &operands) = 0;
    // Computes and compares with the reference under the default policy.
    virtual Tally sweep(const Entry &entry, Source source) = 0;
    // Whether the reference computes there what it computes here; an error is text, or empty.
    virtual std::string check_reference(const Operation &op, uint64_t count) = 0;
};

#ifdef WITHOUT_CUDA
inline std::unique_ptr<Machine> cuda_machine(const std::string &) { return nullptr; }
#else
std::unique_ptr<Machine> cuda_machine(const std::string &check_module);
#endif
std::unique_ptr<Machine> pretended_machine();
