#!/usr/bin/env python3
"""Compares the 128-bit words of `roundonce asm` and `disasm` with NVIDIA's disassembler.

    modern.py words    random words of every opcode, operand form and target, legal and not
    modern.py cubins   what ptxas makes of tests/kernels, whole listings
    modern.py corpus   writes vectors/edge/sass/modern.tsv.gz, which the tests read
    modern.py names    the rows of crates/sass/src/modern/names.rs: mnemonics of other opcodes, from the same cubins

The judges come from PyPI: nvidia-cuda-nvdisasm 13.5 (`--nvdisasm`), the disassembler 12.8 of triton 3.3 for sm_70
(`--volta`) and its ptxas (`--volta-ptxas`), nvidia-cuda-nvcc 13.5 (`--ptxas`). None of them is a part of the project.
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
GENERATIONS = [(70, 72), (75,), (80,), (86, 87, 88, 89), (90,), (100, 103, 107), (101, 110), (120, 121)]
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


def control_words(target):
    """Words with every value of the reuse bits beside schedules of each kind, and the values that are no schedule."""
    for low, forms in ((0x23, (1, 2, 4)), (0x21, (1, 2)), (0x20, (1,)), (0x30, (1, 2)), (0x2B, (1,)), (0x55, (1,))):
        if low == 0x55 and target < 120:
            continue
        for form in forms:
            for schedule in (0, 5, 16, 20, 28):
                for reuse in range(8) if schedule not in (16, 28) else (0,):
                    word = PLAIN | bits(16, 8, 4) | bits(24, 8, 6) | bits(32, 8, 8) | bits(64, 8, 10) | low | form << 9
                    # From sm_86 on this is HADD2.F32.
                    word |= (1 << 78 if low == 0x30 else 0) | (4 << 84 if low == 0x20 else 0)
                    word |= 1 << 91 if low == 0x55 else 0
                    yield put(put(word, 105, 5, schedule), 122, 3, reuse)


def corpus(arguments):
    """Words of every opcode, form and generation, with the judge's text."""
    rng = random.Random(arguments.seed)
    judge = Judge(arguments)
    rows = []
    for targets in GENERATIONS:
        for target in targets:
            if target not in TARGETS:
                continue
            # One target of a generation in full, the others in brief.
            each = 200 if target in (70, 75, 80, 86, 90, 100, 110, 120) else 2
            asked = list(dict.fromkeys(random_words(rng, target, each)))
            answers = ours(arguments, "disasm", target, [hex_word(word) for word in asked])
            kept, counts, seen = [], collections.Counter(), set()
            for word, answer in zip(asked, answers):
                is_illegal = answer == "ILLEGAL"
                counts[word & 0xFFF, is_illegal] += 1
                # What has not been seen of an opcode is kept beside a dozen words of each form.
                pieces = {(word & 0x1FF, word >> 81 & 1, piece) for piece in re.findall(r"\.[A-Z]\w*", answer)}
                if not is_illegal and (counts[word & 0xFFF, False] <= 12 or pieces - seen):
                    kept.append((word, answer))
                    seen |= pieces
                elif is_illegal and counts[word & 0xFFF, True] == 1 and rng.random() < 0.25:
                    kept.append((word, answer))
            if each > 2:
                words = list(control_words(target))
                kept += zip(words, ours(arguments, "disasm", target, [hex_word(word) for word in words]))
            texts = judge.sorted_texts(target, [word for word, _ in kept], [text != "ILLEGAL" for _, text in kept])
            for (word, _), text in zip(kept, texts):
                rows.append(f"sm_{target}\t{hex_word(word)}\t{text if FAMILY.match(text + ' ') else 'ILLEGAL'}\n")
    path = ROOT / "vectors/edge/sass/modern.tsv.gz"
    head = "# A target, a word, and its text by nvdisasm 13.5 (sm_70: 12.8). Written by dev/sass/modern.py corpus.\n"
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as out:
        out.write((head + "".join(rows)).encode())
    print(len(rows), "rows,", path.stat().st_size, "bytes")


def cubins_of(arguments, folder):
    """Cubins of the kernels, each with its target."""
    jobs = []
    for source in sorted((ROOT / "tests/kernels").glob("*.ptx")):
        for target in arguments.targets:
            jobs.append((source, target, pathlib.Path(folder) / f"{source.stem}.{target}.cubin"))

    def made(job):
        source, target, cubin = job
        program = arguments.volta_ptxas if target < 75 else arguments.ptxas
        for name in (f"sm_{target}", f"sm_{target}a"):
            text = re.sub(r"^\.target\s+.*$", f".target {name}", source.read_text(), flags=re.M)
            for version in (None, "8.4") if target < 75 else (None,):
                text = re.sub(r"^\.version\s+.*$", f".version {version}", text, flags=re.M) if version else text
                edited = cubin.with_suffix(".ptx")
                edited.write_text(text)
                done = subprocess.run([program, f"-arch={name}", str(edited), "-o", str(cubin)], capture_output=True)
                if done.returncode == 0:
                    return True
        return False

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (source, target, cubin), done in zip(jobs, pool.map(made, jobs)):
            if done:
                yield source, target, cubin


WORDS = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\* 0x([0-9a-f]{16}) \*/\s*/\* 0x([0-9a-f]{16}) \*/")


def listing(program, cubin, *options):
    """Address, text and word of each instruction, kernel by kernel."""
    done = subprocess.run([program, *options, str(cubin)], capture_output=True, text=True)
    found = []
    for kernel in re.split(r"^\.text\.", done.stdout, flags=re.M)[1:]:
        name = kernel.split(":")[0].strip()
        for address, text, low, high in WORDS.findall(kernel):
            found.append((name, address, re.sub(r"\s*\?\w+", "", text), int(high + low, 16)))
    return found


def mnemonic_of(text):
    name = re.sub(r"^@!?U?P[0-6T]\s+", "", text).split()[0]
    return name.split(".")[0]


def cubins(arguments):
    counts = collections.Counter()
    unknown = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for source, target, cubin in cubins_of(arguments, folder):
            judge = listing(arguments.volta if target < 75 else arguments.nvdisasm, cubin, "-hex", "-c")
            command = [arguments.roundonce, "disasm", "--style", "nvdisasm", "--words", str(cubin)]
            answer = subprocess.run(command, capture_output=True, text=True).stdout
            mine = {}
            for kernel in re.split(r"^\.text\.", answer, flags=re.M)[1:]:
                name, body = kernel.split(":", 1)
                for address, text in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", body):
                    mine[name, address] = text
            counts["cubins"] += 1
            for name, address, text, word in judge:
                own = mine.get((name, address), "missing")
                text = re.sub(r"\s+", " ", text)
                if FAMILY.match(text):
                    counts["family"] += 1
                    is_same = own == text.strip()
                else:
                    counts["others"] += 1
                    halves = f".dword 0x{word & (1 << 64) - 1:016x}, 0x{word >> 64:016x}"
                    is_same = own == f"{halves} /* {mnemonic_of(text)} */"
                    if own == halves:
                        counts["unnamed"] += 1
                        unknown[mnemonic_of(text), target] += 1
                        is_same = True
                if not is_same:
                    counts["different"] += 1
                    print(f"{source.name} sm_{target} {name} {address}\t{text}\t{own}")
    print(dict(counts), unknown.most_common(10))
    sys.exit(1 if counts["different"] else 0)


def names(arguments):
    """A row a mnemonic: the generations, then each 12-bit opcode."""
    seen = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for _, target, cubin in cubins_of(arguments, folder):
            generation = next(at for at, targets in enumerate(GENERATIONS) if target in targets)
            for _, _, text, word in listing(arguments.volta if target < 75 else arguments.nvdisasm, cubin, "-hex", "-c"):
                if not FAMILY.match(text + " "):
                    seen[word & 0xFFF, generation][mnemonic_of(text)] += 1
    rows = collections.defaultdict(lambda: collections.defaultdict(set))
    for (opcode, generation), counter in seen.items():
        rows[counter.most_common(1)[0][0]][opcode].add(generation)
    lines = []
    for name, opcodes in sorted(rows.items()):
        for opcode, generations in sorted(opcodes.items()):
            mask = sum(1 << generation for generation in generations)
            lines.append(f'    (0x{opcode:03x}, 0x{mask:02x}, "{name}"),')
    print("\n".join(sorted(lines)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["words", "cubins", "corpus", "names"])
    parser.add_argument("--roundonce", default=str(ROOT / "target/release/roundonce"))
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--volta", default="nvdisasm")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--volta-ptxas", default="ptxas")
    parser.add_argument("--targets", type=int, nargs="+", default=[70, 75, 80, 86, 90, 100, 110, 120])
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--illegal", type=float, default=0.02, help="the part of illegal words that is asked")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    {"words": words, "cubins": cubins, "corpus": corpus, "names": names}[arguments.what](arguments)


if __name__ == "__main__":
    main()
