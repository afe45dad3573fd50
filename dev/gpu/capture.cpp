// Runs every form that a GPU has over directed and random operands, compares on the machine, and writes what to bring
// back. The open questions come first.
//
//   capture BUILD OUT [RANDOM [DATE [ASSEMBLER]]]      BUILD as capture.sh makes it; RANDOM triples a form and mode
//   capture --pretend BUILD OUT ...                    a machine that is wrong in known ways instead of a GPU
//   capture --fmz CUBIN ENTRY NEW                      gives .FMZ to the one FFMA of an entry, and stops
//
// It writes to OUT: summary.txt, questions.txt, results.jsonl, nan.tsv, mismatches.jsonl and vectors.jsonl.
#include "capture.h"
#include "cubin.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

std::string hex(uint64_t bits, int width) {
    char text[32];
    snprintf(text, sizeof text, "0x%0*" PRIx64, width / 4, bits);
    return text;
}

std::vector<Entry> read_entries(const std::string &path) {
    std::vector<Entry> entries;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::vector<std::string> words = split(line, ' ');
        std::optional<Operation> op = operation_of(words[1]);
        if (!op) {
            std::cerr << "capture: " << path << ": `" << words[1] << "` is no spelling of the kit\n";
            exit(2);
        }
        // A pair of instructions has two more words.
        entries.push_back(Entry{words[0], words[1], *op, words.size() == 3 ? atoi(words[2].c_str()) : 1});
    }
    return entries;
}

// The operands as the instruction takes them, and the result; two lanes packed, the first in the low half.
std::string vector_line(const Entry &entry, const Triple *t, const uint64_t *d) {
    auto packed = [&](auto field) {
        uint64_t bits = 0;
        for (int lane = 0; lane < entry.lanes; lane++) bits |= field(lane) << entry.op.format.width() * lane;
        return bits;
    };
    int in = entry.op.factors.width() * entry.lanes, out = entry.op.format.width() * entry.lanes;
    std::string a = hex(packed([&](int l) { return t[l].a; }), in), b = hex(packed([&](int l) { return t[l].b; }), in);
    std::string c = hex(packed([&](int l) { return t[l].c; }), out), result = hex(packed([&](int l) { return d[l]; }), out);
    std::string line = "{\"instruction\":\"" + entry.spelling + "\",\"a\":\"" + a;
    if (entry.op.kind == MUL_ADD) line += "\",\"b\":\"" + b + "\",\"c\":\"" + c;
    else line += "\",\"b\":\"" + (entry.op.kind == ADD ? c : b);
    return line + "\",\"d\":\"" + result + "\"}";
}

static void write_vectors(Machine &machine, const Entry &entry, std::ostream &out) {
    // A stride that shares no factor with the number of directed triples passes all kinds of them.
    const uint64_t each = 2048, stride = 127 * 131;
    std::vector<Triple> operands;
    for (uint64_t i = 0; i < each; i++) operands.push_back(directed(entry.op, i * stride % DIRECTED));
    for (uint64_t i = 0; i < each; i++) operands.push_back(aimed(entry.op, 99, i));
    std::vector<uint64_t> results = machine.run(entry, operands);
    for (size_t i = 0; i < operands.size(); i += size_t(entry.lanes))
        out << vector_line(entry, &operands[i], &results[i]) << '\n';
}

// TestFloat's triples, as the repository has them, through the forms of their format.
static Tally testfloat(Machine &machine, const Entry &entry, const std::string &directory) {
    Tally tally;
    Format f = entry.op.format;
    if (directory.empty() || !(f == entry.op.factors) || f == BF16) return tally;
    const char *name = f == F16 ? "f16" : f == F32 ? "f32" : "f64";
    FILE *file = popen(("gzip -dc '" + directory + "/" + name + "_mulAdd_rn.txt.gz'").c_str(), "r");
    std::vector<Triple> operands;
    unsigned long long a, b, c, d;
    unsigned flags;
    while (file && fscanf(file, "%llx %llx %llx %llx %x", &a, &b, &c, &d, &flags) == 5)
        operands.push_back(Triple{a, b, c});
    if (file) pclose(file);
    std::vector<uint64_t> results = machine.run(entry, operands);
    for (size_t i = 0; i < operands.size(); i++) tally_one(tally, entry.op, operands[i], results[i]);
    return tally;
}

void tally_one(Tally &tally, const Operation &op, const Triple &t, uint64_t found) {
    uint64_t expected = reference(op, default_policy(op.format), t.a, t.b, t.c);
    tally.compared++;
    if (found == expected) return;
    int which = class_of(op, t, found, expected);
    if (tally.counts[size_t(which)]++ < KEPT_OF_A_CLASS) tally.kept.push_back(Mismatch{t, found, expected, which});
}

void Report::form(const Entry &entry, const Tally &tally) {
    uint64_t result = tally.counts[TINY_RESULT], before = tally.counts[TINY_BEFORE];
    uint64_t both = tally.counts[TINY_RESULT | TINY_BEFORE];
    results << "{\"form\":\"" << entry.spelling << "\",\"machine\":\"" << machine << "\",\"assembler\":\"" << assembler
            << "\",\"date\":\"" << date << "\",\"cases\":" << tally.compared
            << ",\"mismatches\":" << tally.mismatches() << ",\"nan_bits\":" << tally.counts[NAN_BITS]
            << ",\"tiny_result\":" << result << ",\"tiny_before\":" << before << ",\"tiny_either\":" << both
            << ",\"other\":" << tally.counts[OTHER] << "}\n";
    char line[256];
    snprintf(line, sizeof line, "%-24s %14" PRIu64 " cases %12" PRIu64 " differ", entry.spelling.c_str(), tally.compared,
             tally.mismatches());
    summary << line;
    if (tally.mismatches())
        summary << ": NaN bits " << tally.counts[NAN_BITS] << ", tiny as delivered " << result << ", tiny before rounding "
                << before << ", either of these " << both << ", other " << tally.counts[OTHER];
    summary << std::endl;
    for (const Mismatch &m : tally.kept) {
        Entry scalar = entry;
        scalar.lanes = 1;
        std::string line = vector_line(scalar, &m.operands, &m.found);
        line.pop_back();
        mismatches << line << ",\"expected\":\"" << hex(m.expected, entry.op.format.width()) << "\",\"class\":" << m.which
                   << "}\n";
    }
}

int main(int count, char **words) {
    std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.size() == 4 && arguments[0] == "--fmz") {
        std::ifstream file(arguments[1], std::ios::binary);
        std::string cubin((std::istreambuf_iterator<char>(file)), {}), problem = make_fmz(cubin, arguments[2]);
        std::ofstream(arguments[3], std::ios::binary) << cubin;
        std::cerr << problem;
        return problem.empty() ? 0 : 2;
    }
    bool pretend = !arguments.empty() && arguments[0] == "--pretend";
    if (pretend) arguments.erase(arguments.begin());
    if (arguments.size() < 2) {
        std::cerr << "usage: capture [--pretend] BUILD OUT [RANDOM [DATE [ASSEMBLER]]]\n";
        return 2;
    }
    std::string build = arguments[0], out = arguments[1];
    arguments.resize(6);
    uint64_t random = arguments[2].empty() ? 100'000'000 : strtoull(arguments[2].c_str(), nullptr, 10);
#ifdef WITHOUT_CUDA
    pretend = true;
#endif
    std::unique_ptr<Machine> machine = pretend ? pretended_machine() : cuda_machine(build + "/check.cubin");

    Report report(out, machine->describe(), arguments[3], arguments[4]);
    std::vector<Entry> forms = read_entries(build + "/forms.list");
    report.summary << report.machine << "\n" << report.assembler << "\n" << report.date << "\n\n";
    for (const Entry &entry : forms) {
        std::string problem = machine->check_reference(entry.op, 1 << 14);
        if (!problem.empty()) {
            std::cerr << "capture: " << entry.spelling << ": " << problem << "\n";
            return 2;
        }
    }
    questions(*machine, build, forms, report);

    std::string problem = machine->load(build + "/forms.cubin");
    if (!problem.empty()) {
        std::cerr << "capture: " << problem << "\n";
        return 2;
    }
    const char *vectors = getenv("TESTFLOAT");
    for (size_t i = 0; i < forms.size(); i++) {
        Tally tally = machine->sweep(forms[i], Source{false, 0, DIRECTED});
        tally.add(testfloat(*machine, forms[i], vectors ? vectors : ""));
        tally.add(machine->sweep(forms[i], Source{true, 1000 + i, random}));
        report.form(forms[i], tally);
        write_vectors(*machine, forms[i], report.vectors);
    }
    return 0;
}
