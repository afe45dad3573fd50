// Loops that break and continue, a switch that falls through, functions that write their parameters.
#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Seeds { uint seeds[]; };
layout(std430, binding = 1) writeonly buffer Results { uvec2 results[]; };
uint steps = 0;
bool advance(inout uint n) {
    steps++;
    if (n == 1) return false;
    if ((n & 1u) == 0) { n >>= 1; return true; }
    n = 3 * n + 1;
    return true;
}
uint choose(uint n, out uint other) {
    uint value = 7;
    switch (n % 6) {
        case 0: value = 100;
        case 1: value += 11; break;
        case 4: other = n; return 4;
        case 5: value = 0; break;
        default: value ^= n;
    }
    other = value * 2;
    return value;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint n = seeds[i], odd = 0;
    while (true) {
        if (!advance(n)) break;
        if (steps > 200) break;
        if ((n & 1u) == 0) continue;
        for (uint k = 0; k < n % 3; ++k) { if (k == 1) continue; odd += n + k; }
    }
    uint other;
    uint chosen = choose(steps + i, other);
    results[i] = uvec2(odd + chosen, steps * 65536 + other);
}
