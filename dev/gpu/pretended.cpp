// A machine to test the kit on, where there is no GPU: the reference with three things done otherwise. It detects tiny
// results before rounding, takes the last NaN operand of f64, and leaves −0 alone under .sat.
#include "machine.h"

namespace {

uint64_t pretended(const Operation &op, const Triple &t) {
    Policy policy = default_policy(op.format);
    policy.tiny = BEFORE_ROUNDING;
    policy.order[0] = 2, policy.order[1] = 1, policy.order[2] = 0;
    uint64_t bits = unsaturated(op, policy, t.a, t.b, t.c);
    if (op.saturate && bits == op.format.sign()) return bits;
    return reference(op, policy, t.a, t.b, t.c);
}

class Pretended : public Machine {
public:
    std::string describe() override { return "a pretended machine"; }
    std::string load(const std::string &) override { return ""; }
    std::vector<uint64_t> run(const Entry &entry, const std::vector<Triple> &operands) override {
        std::vector<uint64_t> results;
        for (const Triple &t : operands) results.push_back(pretended(entry.op, t));
        return results;
    }
    Tally sweep(const Entry &entry, Source source) override {
        Tally tally;
        for (uint64_t i = 0; i < source.count; i++) {
            Triple t = operands_at(entry.op, source.random, source.seed, i);
            uint64_t found = pretended(entry.op, t);
            uint64_t expected = reference(entry.op, default_policy(entry.op.format), t.a, t.b, t.c);
            tally.compared++;
            if (found == expected) continue;
            int which = class_of(entry.op, t, found, expected);
            if (tally.counts[size_t(which)]++ < KEPT_OF_A_CLASS)
                tally.kept.push_back(Mismatch{t, found, expected, which});
        }
        return tally;
    }
    std::string check_reference(const Operation &, uint64_t) override { return ""; }
};

}  // namespace

std::unique_ptr<Machine> pretended_machine() { return std::make_unique<Pretended>(); }
