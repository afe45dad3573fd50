// What no document answers. Every answer is given as bits, and as the number of cases that speak for each rule.
#include <cinttypes>
#include <map>
#include <set>

#include "capture.h"
#include "cubin.h"

namespace {

const char *const TINY_NAMES[] = {"result", "after rounding", "before rounding"};

const Entry *find(const std::vector<Entry> &entries, const std::string &spelling) {
    for (const Entry &entry : entries)
        if (entry.spelling == spelling) return &entry;
    return nullptr;
}

// Exact results just below the smallest normal number, of either sign: an addend of it less a little, and products.
std::vector<Triple> edge_of(Format f) {
    std::vector<Triple> operands;
    uint64_t normal = f.smallest_normal(), sign = f.sign();
    auto power = [&](int exponent) { return uint64_t(exponent + f.bias()) << f.fraction_bits; };
    // a × b = k × 2^(quantum − 3), an eighth of the subnormals' spacing.
    int half = (f.quantum() - 3) / 2;
    for (uint64_t k = 1; k <= 16; k++) {
        Operation exact = {MUL, f, f, ZERO, false, false, false, false};
        uint64_t b = round_wide(exact, RESULT, false, wide(k), f.quantum() - 3 - half);
        for (uint64_t negative : {uint64_t(0), sign})
            operands.push_back(Triple{power(half) | (negative ^ sign), b, normal | negative});
    }
    // (1 + i ulp) × (1 − j half ulps) × 2^emin.
    int first = f.emin() / 2, second = f.emin() - first;
    for (uint64_t i = 0; i <= 32; i++)
        for (uint64_t j = 1; j <= 40; j++)
            for (uint64_t negative : {uint64_t(0), sign})
                operands.push_back(Triple{(power(first) + i) | negative, power(second) - j, 0});
    return operands;
}

void tiny(Machine &machine, const std::vector<Entry> &forms, Report &report) {
    report.questions << "(a) Which results a flushing form flushes at the edge of the subnormals: of the cases on which\n"
                        "    the rules differ, how many each explains.\n";
    for (const Entry &entry : forms) {
        if (!entry.op.flush || entry.op.saturate || entry.op.kind == ADD) continue;
        std::vector<Triple> operands = edge_of(entry.op.format);
        std::vector<uint64_t> results = machine.run(entry, operands);
        int differ = 0, agree[3] = {};
        for (size_t i = 0; i < operands.size(); i++) {
            uint64_t by_rule[3];
            for (int rule = 0; rule < 3; rule++) {
                Policy policy = default_policy(entry.op.format);
                policy.tiny = Tiny(rule);
                by_rule[rule] = reference(entry.op, policy, operands[i].a, operands[i].b, operands[i].c);
            }
            if (by_rule[0] == by_rule[1] && by_rule[1] == by_rule[2]) continue;
            differ++;
            for (int rule = 0; rule < 3; rule++) agree[rule] += by_rule[rule] == results[i];
        }
        report.questions << "    " << entry.spelling << ": " << differ << " cases";
        for (int rule = 0; rule < 3; rule++) {
            report.questions << (rule ? ", " : ": ") << TINY_NAMES[rule] << " " << agree[rule];
            if (differ && agree[rule] == differ) report.questions << " (all)";
        }
        report.questions << "\n";
    }
}

// A number, zero, infinity, and NaNs quiet and signalling of either sign, told apart by place.
std::vector<uint64_t> classes(Format f, int place) {
    uint64_t payload = uint64_t(place) + 1;
    return {f.one() | f.quiet(), 0, f.infinity(), f.infinity() | f.quiet() | payload,
            f.sign() | f.infinity() | f.quiet() | payload, f.infinity() | payload, f.sign() | f.infinity() | payload};
}
char letter(Format f, uint64_t bits) {
    if (!f.is_nan(bits)) return '-';
    return bits & f.quiet() ? 'q' : 's';
}

void nans(Machine &machine, const Entry &entry, Report &report) {
    Format f = entry.op.format;
    bool has_b = entry.op.kind != ADD, has_c = entry.op.kind != MUL;
    std::vector<Triple> operands;
    for (uint64_t a : classes(f, 0))
        for (uint64_t b : classes(f, 1))
            for (uint64_t c : classes(f, 2)) {
                if ((!has_b && b != classes(f, 1)[0]) || (!has_c && c != classes(f, 2)[0])) continue;
                operands.push_back(Triple{a, b, c});
            }
    std::vector<uint64_t> results = machine.run(entry, operands);
    // Which NaNs there are (quiet or signalling, in the order of places), and whose payload comes out.
    std::map<std::string, std::set<std::string>> winners;
    std::set<uint64_t> made;
    for (size_t i = 0; i < operands.size(); i++) {
        const Triple &t = operands[i];
        report.nans << entry.spelling << '\t' << hex(t.a, f.width()) << '\t' << hex(t.b, f.width()) << '\t'
                    << hex(t.c, f.width()) << '\t' << hex(results[i], f.width()) << '\n';
        if (!f.is_nan(results[i])) continue;
        made.insert(results[i]);
        std::string key = {letter(f, t.a), has_b ? letter(f, t.b) : ' ', has_c ? letter(f, t.c) : ' '};
        std::string winner = hex(results[i], f.width());
        for (int place = 0; place < 3; place++) {
            uint64_t bits = place == 0 ? t.a : place == 1 ? t.b : t.c;
            bool in_use = place == 0 || (place == 1 ? has_b : has_c);
            if (!in_use || !f.is_nan(bits)) continue;
            if (results[i] == bits) winner = std::string(1, char('a' + place)) + " as it is";
            else if (results[i] == (bits | f.quiet())) winner = std::string(1, char('a' + place)) + " made quiet";
            else if ((results[i] ^ f.sign()) == (bits | f.quiet())) winner = std::string(1, char('a' + place)) + " made quiet, its sign turned";
        }
        winners[key].insert(winner);
    }
    report.questions << "    " << entry.spelling << ": " << made.size() << " different NaNs of " << operands.size()
                     << " combinations\n";
    if (made.size() == 1) {
        report.questions << "      always " << hex(*made.begin(), f.width()) << "\n";
        return;
    }
    for (auto &[key, results] : winners) {
        report.questions << "      " << key << ":";
        for (const std::string &winner : results) report.questions << " " << winner << ";";
        report.questions << "\n";
    }
}

void saturation(Machine &machine, const std::vector<Entry> &forms, Report &report) {
    report.questions << "(d) .sat of what is no number between 0 and 1: operands a, b, c and the result.\n";
    const struct {
        const char *what;
        Triple operands;
    } cases[] = {{"-0", {0x80000000, 0x3f800000, 0x80000000}},
                 {"-0 by rounding", {0x80000001, 0x00800000, 0x80000000}},
                 {"NaN", {0x7fc00001, 0x3f800000, 0}},
                 {"-NaN", {0xffc00001, 0x3f800000, 0}},
                 {"signalling NaN", {0x7f800001, 0x3f800000, 0}},
                 {"infinity - infinity", {0x7f800000, 0x3f800000, 0xff800000}},
                 {"0 x infinity", {0, 0x7f800000, 0}},
                 {"-infinity", {0xff800000, 0x3f800000, 0}},
                 {"infinity", {0x7f800000, 0x3f800000, 0}},
                 {"a subnormal", {0x00000001, 0x3f800000, 0}},
                 {"a negative subnormal", {0x80000001, 0x3f800000, 0x80000000}},
                 {"just below one", {0x3f7fffff, 0x3f800000, 0}},
                 {"just above one", {0x3f800001, 0x3f800000, 0}}};
    for (const Entry &entry : forms) {
        if (!entry.op.saturate || !(entry.op.format == F32) || !(entry.op.factors == F32)) continue;
        report.questions << "    " << entry.spelling << ":";
        for (auto &[what, t] : cases)
            report.questions << " " << what << " " << hex(machine.run(entry, {t})[0], 32) << ";";
        report.questions << "\n";
    }
}

void contraction(Machine &machine, const std::string &build, Report &report) {
    for (const char *module : {"contract.cubin", "contract.ptx"}) {
        report.questions << "(e) Contraction, " << module << (module[9] == 'c' ? " (the assembler)" : " (the driver)")
                         << ": of the cases where one rounding and two differ, how many are fused.\n";
        std::string problem = machine.load(build + "/" + module);
        if (!problem.empty()) {
            report.questions << "    " << problem << "\n";
            continue;
        }
        std::ifstream list(build + "/contract.list");
        for (std::string line; std::getline(list, line);) {
            std::vector<std::string> words = split(line, ' ');
            Operation fused = *operation_of(words[1]), mul = *operation_of(words[2]), add = *operation_of(words[3]);
            Entry entry = {words[0], words[1], fused, 1};
            std::vector<Triple> operands;
            for (uint64_t i = 0; i < 1 << 16; i++) operands.push_back(aimed(fused, 5, i));
            std::vector<uint64_t> results = machine.run(entry, operands);
            Policy policy = default_policy(fused.format);
            int differ = 0, once = 0, twice = 0;
            for (size_t i = 0; i < operands.size(); i++) {
                const Triple &t = operands[i];
                uint64_t one = reference(fused, policy, t.a, t.b, t.c);
                uint64_t two = reference(add, policy, reference(mul, policy, t.a, t.b, 0), 0, t.c);
                if (one == two || fused.format.is_nan(results[i])) continue;
                differ++;
                once += results[i] == one;
                twice += results[i] == two;
            }
            report.questions << "    " << words[2] << " then " << words[3] << ": " << differ << " cases, " << once
                             << " fused, " << twice << " unfused\n";
        }
    }
}

// FMZ of the forms that only differ in it.
void zero_dominance(Machine &machine, const std::string &build, const std::vector<Entry> &forms, Report &report) {
    report.questions << "(f) FFMA.FMZ, by one bit of the cubin: against zero dominance as Maxwell's documents have it.\n";
    std::ifstream file(build + "/forms.cubin", std::ios::binary);
    std::string cubin((std::istreambuf_iterator<char>(file)), {});
    std::vector<Entry> patched;
    const std::pair<const char *, const char *> spellings[] = {
        {"fma.rn.f32", "FFMA.FMZ"},        {"fma.rz.f32", "FFMA.FMZ.RZ"},
        {"fma.rm.f32", "FFMA.FMZ.RM"},     {"fma.rp.f32", "FFMA.FMZ.RP"},
        {"fma.rn.sat.f32", "FFMA.FMZ.SAT"}, {"fma.rz.sat.f32", "FFMA.FMZ.RZ.SAT"}};
    for (auto &[from, to] : spellings) {
        const Entry *entry = find(forms, from);
        std::string problem = entry ? make_fmz(cubin, entry->name) : "there is no " + std::string(from);
        if (problem.empty()) patched.push_back(Entry{entry->name, to, *operation_of(to), 1});
        else report.questions << "    " << problem << "\n";
    }
    std::ofstream(build + "/fmz.cubin", std::ios::binary) << cubin;
    std::string problem = machine.load(build + "/fmz.cubin");
    if (!problem.empty()) {
        report.questions << "    " << problem << "\n";
        return;
    }
    for (const Entry &entry : patched) {
        Tally tally = machine.sweep(entry, Source{false, 0, DIRECTED});
        tally.add(machine.sweep(entry, Source{true, 77, 1 << 20}));
        report.form(entry, tally);
        report.questions << "    " << entry.spelling << ": " << tally.compared << " cases, " << tally.mismatches()
                         << " differ, of them in NaN bits alone " << tally.counts[NAN_BITS] << "; 0 x NaN + 1 = "
                         << hex(machine.run(entry, {Triple{0, 0x7fc00000, 0x3f800000}})[0], 32) << ", 0 x inf + -0 = "
                         << hex(machine.run(entry, {Triple{0, 0x7f800000, 0x80000000}})[0], 32) << ", -0 x 1 + -0 = "
                         << hex(machine.run(entry, {Triple{0x80000000, 0x3f800000, 0x80000000}})[0], 32) << "\n";
        std::vector<Triple> operands;
        for (uint64_t i = 0; i < 4096; i++)
            operands.push_back(i % 2 ? aimed(entry.op, 98, i) : directed(entry.op, i * 127 * 131 % DIRECTED));
        std::vector<uint64_t> results = machine.run(entry, operands);
        for (size_t i = 0; i < operands.size(); i++) report.vectors << vector_line(entry, &operands[i], &results[i]) << '\n';
    }
}

}  // namespace

void questions(Machine &machine, const std::string &build, const std::vector<Entry> &forms, Report &report) {
    std::string problem = machine.load(build + "/forms.cubin");
    if (!problem.empty()) {
        report.questions << problem << "\n";
        return;
    }
    tiny(machine, forms, report);
    report.questions << "(b) Whose NaN an f64 result is: NaN operands a, b, c (q quiet, s signalling, - none), and what came\n"
                        "    out; every combination is in nan.tsv.\n";
    for (const char *spelling : {"fma.rn.f64", "fma.rz.f64", "mad.rn.f64", "add.rn.f64", "sub.rn.f64", "mul.rn.f64"})
        if (const Entry *entry = find(forms, spelling)) nans(machine, *entry, report);
    report.questions << "(c) NaN results of f32 and narrower.\n";
    for (const Entry &entry : forms)
        if (entry.op.format.width() < 64 && entry.op.factors == entry.op.format && !entry.op.saturate && entry.lanes == 1)
            nans(machine, entry, report);
    saturation(machine, forms, report);
    contraction(machine, build, report);
    zero_dominance(machine, build, forms, report);
    bool blackwell = find(forms, "fma.rn.f32x2") != nullptr;
    report.questions << "(g) f32x2 and mixed precision: "
                     << (blackwell ? "among the forms; see summary.txt" : "this GPU has none (sm_100 and later)") << "\n";
    report.questions.flush();
}
