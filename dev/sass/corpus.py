"""Makes `crates/sass/tests/maxwell/words.tsv.gz`: words that together show every row, every modifier's value, every
operand form, and random fields, each with what nvdisasm 12.8 prints for SM61; then the words of kernels that ptxas
compiled, given as cubins.

    NVDISASM=… python3 dev/sass/corpus.py crates/sass/tests/maxwell/words.tsv.gz [CUBIN…]
    NVDISASM=… python3 dev/sass/corpus.py older crates/sass/tests/maxwell/older.tsv.gz

The second file has, for each older target, words that it prints otherwise than SM61, or does not know.

It needs `cargo build --release -p roundonce-sass --example words`, which lists the rows.
"""

import gzip
import random
import re
import sys

import judge

TARGET = "SM61"
RANDOM = 25
#: What two texts of one shape may differ in.
VALUES = [
    (re.compile(r"\bR(?:\d+|Z)\b"), "R"),
    (re.compile(r"\bP[0-6T]\b"), "P"),
    (re.compile(r"-?0x[0-9a-f]+"), "#"),
    (re.compile(r"\bSR_?\w+(\.\w)?|\bSR\d+"), "S"),
    (re.compile(r"[-+]?\d[\d.e+-]*(?= |,|$|\.)"), "#"),
    (re.compile(r"\{[\d,]*\}"), "{}"),
]


def features(text):
    """The modifiers of a text, and what is special about each of its operands."""
    for pattern, value in VALUES:
        text = pattern.sub(value, text)
    head, _, operands = text.partition(" ")
    if head.startswith("@"):
        head, _, operands = operands.partition(" ")
    return set(head.split(".")) | set(enumerate(operands.split(", ")))


def candidates(row, generator):
    _, mask, bits = row
    base = bits | 7 << 16
    yield base
    for low in range(0, 62, 2):
        for value in range(16):
            yield base & ~(0xF << low) & ~mask | value << low & ~mask | bits
    for _ in range(400):
        word = bits | generator.getrandbits(64) & ~mask
        yield word if generator.random() < 0.3 else word & ~(0xF << 16) | 7 << 16


def of_rows():
    generator = random.Random(1)
    for row in judge.rows(TARGET):
        words = list(dict.fromkeys(candidates(row, generator)))
        texts = judge.texts(words, TARGET)
        seen, kept = set(), 0
        for word, text in reversed(list(zip(words, texts))):
            # What nvdisasm has no name for it prints from memory that it did not write.
            if text is None or "   ???" in text:
                continue
            if kept < RANDOM or not features(text) <= seen:
                kept += 1
                seen |= features(text)
                yield word, text


#: Words of each row of an older target that it has otherwise.
OLDER = 12


def of_older(target):
    """Words that a target prints otherwise than SM61; no text where it has no such instruction."""
    generator = random.Random(2)
    rows = dict.fromkeys([*judge.rows(target), *judge.rows(TARGET)])
    asked = {row: list(dict.fromkeys(candidates(row, generator))) for row in rows}
    words = list(dict.fromkeys(word for some in asked.values() for word in some))
    newest = dict(zip(words, judge.texts(words, TARGET)))
    texts = dict(zip(words, judge.texts(words, target)))
    for some in asked.values():
        seen, kept = set(), 0
        for word in reversed(some):
            text = texts[word]
            if text == newest[word] or "   ???" in f"{text}{newest[word]}":
                continue
            if kept < OLDER or text and not features(text) <= seen:
                kept += 1
                seen |= features(text or "")
                yield word, text or ""


def of_cubins(paths):
    words = sorted({word for path in paths for _, code in judge.kernels(path) for word in code})
    for word, text in zip(words, judge.texts(words, TARGET)):
        if text is not None:
            yield word, text


def write(path, head, lines):
    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as file:
        file.write((f"# {head}; {len(lines)} words\n" + "".join(lines)).encode())
    print(len(lines), "words")


def main():
    path, *cubins = sys.argv[1:]
    if path == "older":
        lines = []
        for target in ("SM50", "SM52", "SM53", "SM60"):
            found = sorted(dict(of_older(target)).items())
            lines += [f"sm_{target[2:]}\t{word:016x}\t{text}\n" for word, text in found]
        return write(cubins[0], "target, word, text or nothing where it has no such instruction; judge: nvdisasm 12.8", lines)
    found = dict(of_rows())
    found.update(of_cubins(cubins))
    lines = [f"{word:016x}\t{text}\n" for word, text in sorted(found.items())]
    write(path, f"word, text; judge: nvdisasm 12.8 -b {TARGET}", lines)


if __name__ == "__main__":
    main()
