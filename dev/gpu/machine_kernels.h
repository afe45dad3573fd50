// What host and GPU say to each other.
#pragma once

#include "aim.h"

struct Work {
    Operation op;
    bool random;
    uint64_t seed, first;
    uint32_t count;
};
