// The files that are brought back.
#pragma once

#include <fstream>

#include "machine.h"

struct Report {
    std::string machine, date, assembler;
    std::ofstream summary, questions, results, nans, mismatches, vectors;

    Report(const std::string &out, const std::string &machine, const std::string &date, const std::string &assembler)
        : machine(machine), date(date), assembler(assembler), summary(out + "/summary.txt"),
          questions(out + "/questions.txt"), results(out + "/results.jsonl"), nans(out + "/nan.tsv"),
          mismatches(out + "/mismatches.jsonl"), vectors(out + "/vectors.jsonl") {}

    void form(const Entry &entry, const Tally &tally);
};

std::string hex(uint64_t bits, int width);
std::vector<Entry> read_entries(const std::string &path);
std::string vector_line(const Entry &entry, const Triple *operands, const uint64_t *results);
void tally_one(Tally &tally, const Operation &op, const Triple &t, uint64_t found);
// The open questions, each with the bits that answer it.
void questions(Machine &machine, const std::string &build, const std::vector<Entry> &forms, Report &report);
