#!/usr/bin/env python3
"""Compares the 128-bit words of `roundonce asm` and `disasm` with NVIDIA's disassembler.

    modern.py words    random words of every opcode, operand form and target, legal and not
    modern.py cubins   what ptxas makes of tests/kernels, whole listings
    modern.py corpus   writes vectors/edge/sass/modern.tsv.gz, which the tests read
    modern.py names    writes the mnemonics of other opcodes, crates/sass/src/modern/names.tsv

The judges come from PyPI: nvidia-cuda-nvdisasm 13.5 (`--nvdisasm`), the disassembler 12.8 of triton 3.3 for sm_70
(`--volta`), nvidia-cuda-nvcc-cu12 12.9 (`--ptxas`). None of them is a part of the project.
"""

import argparse
import collections
import concurrent.futures
import gzip
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = [70, 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121]
# Bits 0 to 8 of the family, and whether one of its targets is asked for them.
LOW = [0x20, 0x21, 0x23, 0x28, 0x29, 0x2B, 0x30, 0x31, 0x32, 0x35, 0x49, 0x4A, 0x4B, 0x54, 0x55, 0x56]
FAMILY = re.compile(
    r"^(@!?U?P[0-6T] )?(FFMA2?|FADD2?|FMUL2?|FHFMA|FHADD|DFMA|DADD|DMUL|HFMA2|HADD2|HMUL2|UFH?FMA|UFH?ADD|UFMUL)[. ]"
)
LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


class Judge:
    """NVIDIA's disassembler, asked for many words at a time."""

    def __init__(self, arguments):
        self.arguments = arguments

    def batch(self, target, words):
        """The texts of words that are all legal, or None."""
        program = self.arguments.volta if target < 75 else self.arguments.nvdisasm
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(b"".join(word.to_bytes(16, "little") for word in words))
            file.flush()
            done = subprocess.run([program, "-b", f"SM{target}", file.name], capture_output=True, text=True)
        texts = [re.sub(r"\?(PM\d|trans\d+|WAIT\d+_END_GROUP|BATCH_\w+)", "", text).rstrip()
                 for _, text in LINE.findall(done.stdout)]
        return texts if done.returncode == 0 and len(texts) == len(words) else None

    def texts(self, target, words):
        """The text of each word; ILLEGAL for one that the disassembler refuses."""
        if not words:
            return []
        texts = self.batch(target, words)
        if texts is not None:
            return texts
        if len(words) == 1:
            return ["ILLEGAL"]
        half = len(words) // 2
        return self.texts(target, words[:half]) + self.texts(target, words[half:])

    def sorted_texts(self, target, words, legal):
        """The same, with those that are said to be illegal asked one at a time: one spoils a whole file."""
        texts = {}
        good = [word for word, is_legal in zip(words, legal) if is_legal]
        chunks = [good[start : start + 500] for start in range(0, len(good), 500)]
        chunks += [[word] for word, is_legal in zip(words, legal) if not is_legal]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for chunk, answer in zip(chunks, pool.map(lambda chunk: self.texts(target, chunk), chunks)):
                texts.update(zip(chunk, answer))
        return [texts[word] for word in words]


def ours(arguments, verb, target, lines):
    """What the command answers, a line each; ILLEGAL for an error."""
    command = [arguments.roundonce, verb, "--lang", "sass", "--arch", f"sm_{target}", "-"]
    command += ["--style", "nvdisasm"] if verb == "disasm" else []
    done = subprocess.run(command, input="".join(line + "\n" for line in lines), capture_output=True, text=True)
    answers = done.stdout.splitlines()
    if len(answers) != len(lines):
        sys.exit(f"{verb}: {len(answers)} answers to {len(lines)} lines: {done.stderr}")
    return ["ILLEGAL" if answer.startswith("error: ") else answer for answer in answers]


def hex_word(word):
    return f"0x{word:032x}"


def bits(low, width, value):
    return (value & ((1 << width) - 1)) << low


def put(word, low, width, value):
    return word & ~bits(low, width, -1) | bits(low, width, value)


# A schedule that is legal in every form: one cycle, no barrier.
PLAIN = bits(105, 5, 17) | bits(110, 6, 63) | bits(12, 3, 7)


def random_word(rng, target, low, form):
    """A word of an opcode, mostly legal."""
    opcode = low | form << 9
    uniform = form in (6, 7) or low in (0x54, 0x55, 0x56)
    kind = rng.randrange(4)
    if kind == 0:
        # The plain word of the form with one bit or two turned.
        word = PLAIN | bits(16, 8, 4) | bits(24, 8, 6) | bits(32, 8, 8) | bits(64, 8, 10)
        word = put(word, 91, 1, uniform) | (4 << 84 if low in (0x20, 0x56) else 0)
        for _ in range(rng.randrange(3)):
            word ^= 1 << rng.randrange(12, 128)
        return put(word, 0, 12, opcode)
    word = rng.getrandbits(128)
    if kind < 3:
        word = put(word, 105, 5, rng.choice([1, 4, 5, 15, 0, 17, 18, 20, 24, 27]))
        word = put(word, 122, 3, rng.choice([0, 0, 0, 1, 2, 4]))
        word = put(word, 91, 1, uniform or (form in (3, 5) and rng.randrange(2)))
        if rng.randrange(2):
            word = put(word, 12, 4, 7)
        if rng.randrange(4) == 0:
            register = rng.choice([16, 24, 32, 64])
            word = put(word, register, 8, 255)
        if rng.randrange(4) == 0:
            # Immediates of every kind: exponents at their ends.
            word = put(word, 32, 32, rng.choice([0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FF00000, 0x7C00FC00, 0x3F803F80,
                                                 0x7FC00000, 0x7F800001, 0x7FF80000, 0x80008000, 0x7C017E00]))
    return put(word, 0, 12, opcode)


def random_words(rng, target, each):
    return [random_word(rng, target, low, form) for low in LOW for form in range(1, 8) for _ in range(each)]


def words(arguments):
    rng = random.Random(arguments.seed)
    judge = Judge(arguments)
    each = max(1, arguments.count // (len(TARGETS) * len(LOW) * 7))
    counts = collections.Counter()
    for target in TARGETS:
        asked = list(dict.fromkeys(random_words(rng, target, each)))
        answers = ours(arguments, "disasm", target, [hex_word(word) for word in asked])
        # Each illegal word costs a run of the judge: a sample.
        keep = [answer != "ILLEGAL" or rng.random() < arguments.illegal for answer in answers]
        asked = [word for word, kept in zip(asked, keep) if kept]
        answers = [answer for answer, kept in zip(answers, keep) if kept]
        legal = [answer != "ILLEGAL" for answer in answers]
        judged = judge.sorted_texts(target, asked, legal)
        for word, answer, text in zip(asked, answers, judged):
            if not FAMILY.match(text + " "):
                text = "ILLEGAL"
            if target < 75:
                # 12.8 knows no SNAN.
                answer = answer.replace("SNAN", "QNAN")
            counts["legal" if text != "ILLEGAL" else "illegal"] += 1
            if answer != text:
                counts["different"] += 1
                print(f"sm_{target}\t{hex_word(word)}\t{text}\t{answer}")
        texts = [(word, text) for word, text in zip(asked, answers) if text != "ILLEGAL"]
        back = ours(arguments, "asm", target, [text for _, text in texts])
        good = [(word, text, int(again, 16)) for (word, text), again in zip(texts, back) if again != "ILLEGAL"]
        for (_, text), again in zip(texts, back):
            if again == "ILLEGAL":
                counts["unread"] += 1
                print(f"sm_{target}\tnot read\t{text}")
        again = ours(arguments, "disasm", target, [hex_word(word) for _, _, word in good])
        for (word, text, other), printed in zip(good, again):
            counts["both ways"] += 1
            if printed != text:
                counts["different back"] += 1
                print(f"sm_{target}\t{hex_word(word)}\t{text}\t{hex_word(other)}\t{printed}")
        print(f"sm_{target}: {dict(counts)}", file=sys.stderr, flush=True)
    print(f"{dict(counts)}")
    sys.exit(1 if any(counts[key] for key in ("different", "unread", "different back")) else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["words"])
    parser.add_argument("--roundonce", default=str(ROOT / "target/release/roundonce"))
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--volta", default="nvdisasm")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--illegal", type=float, default=0.02, help="the part of illegal words that is asked")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    {"words": words}[arguments.what](arguments)


if __name__ == "__main__":
    main()
