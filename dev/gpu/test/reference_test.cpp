// Holds the kit's reference against judges that it shares nothing with: Berkeley TestFloat's vectors (SoftFloat), and
// the cases of every spelling that exact rationals judged. And what the program makes of a machine that is wrong in a
// known way: `capture --pretend` is tested by test.sh.
//
//   reference_test vectors/edge
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "../aim.h"
#include "../spelling.h"

static uint64_t failures = 0;

static void differ(const std::string &what, uint64_t found, uint64_t expected) {
    if (failures++ < 10) printf("%s: %016llx, not %016llx\n", what.c_str(), (long long)found, (long long)expected);
}

static uint64_t testfloat(const std::string &directory, const char *name, Format format, const char *suffix,
                          Direction direction) {
    std::string path = directory + "/testfloat/" + name + "_mulAdd_" + suffix + ".txt.gz";
    FILE *file = popen(("gzip -dc '" + path + "'").c_str(), "r");
    Operation op = {MUL_ADD, format, format, direction, false, false, false, false};
    Policy policy = {RESULT, false, {0, 1, 2}};
    unsigned long long a, b, c, expected;
    unsigned flags;
    uint64_t count = 0;
    while (file && fscanf(file, "%llx %llx %llx %llx %x", &a, &b, &c, &expected, &flags) == 5) {
        count++;
        uint64_t found = reference(op, policy, a, b, c);
        // SoftFloat returns the NaN of zero × infinity, we the addend's.
        bool hidden = format.is_nan(c) && ((format.is_zero(a) && format.is_infinite(b)) ||
                                           (format.is_infinite(a) && format.is_zero(b)));
        if (found != expected && !(hidden && format.is_nan(found) && format.is_nan(expected)))
            differ(path + ": " + std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c), found, expected);
    }
    if (file) pclose(file);
    return count;
}

// `INSTRUCTION OPERAND... = RESULT`, where the kit knows the instruction.
static uint64_t rationals(const std::string &directory) {
    std::ifstream file(directory + "/forms.txt");
    uint64_t count = 0;
    for (std::string line; std::getline(file, line);) {
        std::vector<std::string> words = split(line, ' ');
        std::optional<Operation> op = line[0] == '#' ? std::nullopt : operation_of(words[0]);
        if (!op) continue;
        std::vector<uint64_t> operands;
        size_t i = 1;
        for (; words[i] != "="; i++) operands.push_back(strtoull(words[i].c_str(), nullptr, 16));
        uint64_t expected = strtoull(words[i + 1].c_str(), nullptr, 16), found = 0;
        int lanes = components_of(words[0]), width = op->format.width();
        uint64_t mask = lanes == 2 ? (1ull << width) - 1 : ~0ull;
        for (int lane = 0; lane < lanes; lane++) {
            uint64_t a = operands[0] >> width * lane & mask, last = operands.back() >> width * lane & mask;
            uint64_t b = op->kind == MUL_ADD ? operands[1] >> width * lane & mask : last;
            // The last operand of an addition or a product is no third one.
            uint64_t c = op->kind == MUL ? 0 : last;
            found |= reference(*op, default_policy(op->format), a, op->kind == ADD ? 0 : b, c) << width * lane;
        }
        count++;
        if (found != expected) differ(line, found, expected);
    }
    return count;
}

// The three rules at 2^-126 less three eighths, a quarter and an eighth of the subnormals' spacing: three quarters, a
// half (a tie, which the even 2^-126 wins) and a quarter of the spacing that numbers below 2^-126 would have if
// exponents had no end.
static void edge() {
    const uint64_t minus_2_76 = 0x99800000, smallest_normal = 0x00800000;
    const struct {
        uint64_t b;  // 3 × 2^-76, 2 × 2^-76, 2^-76
        bool after;
    } cases[] = {{0x1a400000, true}, {0x1a000000, false}, {0x19800000, false}};
    for (auto &[b, after] : cases) {
        Operation op = {MUL_ADD, F32, F32, NEAREST, false, true, false, false};
        for (Tiny tiny : {RESULT, AFTER_ROUNDING, BEFORE_ROUNDING}) {
            bool flushed = tiny == BEFORE_ROUNDING || (tiny == AFTER_ROUNDING && after);
            uint64_t found = reference(op, Policy{tiny, true, {0, 1, 2}}, minus_2_76, b, smallest_normal);
            uint64_t expected = flushed ? 0 : smallest_normal;
            if (found != expected) differ("edge", found, expected);
        }
    }
}

int main(int, char **arguments) {
    std::string directory = arguments[1];
    const std::pair<const char *, Direction> directions[] = {{"rn", NEAREST}, {"rz", ZERO}, {"rm", DOWN}, {"rp", UP}};
    uint64_t vectors = 0;
    for (auto &[suffix, direction] : directions) {
        vectors += testfloat(directory, "f16", F16, suffix, direction);
        vectors += testfloat(directory, "f32", F32, suffix, direction);
        vectors += testfloat(directory, "f64", F64, suffix, direction);
    }
    uint64_t spelt = rationals(directory);
    edge();
    printf("reference: %llu TestFloat vectors, %llu cases judged by exact rationals, %llu failures\n",
           (long long)vectors, (long long)spelt, (long long)failures);
    return failures != 0 || vectors < 12 * 20000 || spelt < 500;
}
