"""NVIDIA's disassembler as a judge of Maxwell words: what `nvdisasm -b SM50` prints for each of many words.

    NVDISASM=… python3 dev/sass/judge.py rows [TARGET]     random words of every row
    NVDISASM=… python3 dev/sass/judge.py sweep [TARGET]    random words of every value of the upper 13 bits
    NVDISASM=… python3 dev/sass/judge.py cubins CUBIN…     every instruction of cubins, on their own targets

Each prints what differs from the product, in text or in the word that the text assembles to. It needs nvdisasm 12.8, which
the package triton 3.3 of PyPI carries, and `cargo build --release -p roundonce-sass --example words`.

nvdisasm refuses a whole file for one word that it does not know, but names every address that it refused; the words
there are replaced and the rest is asked again.
"""

import collections
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

NVDISASM = os.environ.get("NVDISASM", "nvdisasm")
TARGETS = ["SM50", "SM52", "SM53", "SM60", "SM61", "SM62"]
NOP = 0x50B0_0000_0007_0F00
#: No barrier, no wait, no reuse, a stall of one cycle.
CONTROL = 0x001F_8400_FC20_07E1
BATCH = 30_000

LINE = re.compile(r"^ *(?:\.[A-Za-z_0-9.$]+:)? */\*([0-9a-f]{4,})\*/ +(.*?) *; +/\* 0x([0-9a-f]{16}) \*/", re.M)
BAD = re.compile(r"at address 0x([0-9a-f]+)")


def _run(words, target, control):
    data = bytearray()
    for at in range(0, len(words), 3):
        bundle = words[at : at + 3]
        bundle += [NOP] * (3 - len(bundle))
        data += struct.pack("<4Q", control, *bundle)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return subprocess.run([NVDISASM, "-b", target, "-hex", file.name], capture_output=True, text=True)


#: The upper 12 bits of instructions whose target is a distance.
RELATIVE = {0xE23, 0xE24, 0xE26, 0xE27, 0xE28, 0xE29, 0xE2A, 0xE2B}


def _at_zero(word, address, text):
    """The text as it would be at address 0."""
    if word >> 52 not in RELATIVE or word >> 52 != 0xE23 and word >> 5 & 1:
        return text
    before, _, target = text.rpartition(" ")
    target = int(target, 16) - address
    return f"{before} {'-' if target < 0 else ''}{abs(target):#x}"


def _batch(words, target, control):
    """The text of each word, None where there is none; each word as if it stood at address 8, targets apart."""
    asked = list(words)
    texts = [None] * len(words)
    refused = set()
    # The zero word is refused without its address.
    for index, word in enumerate(asked):
        if word & 0xFFFF_FFFF_FFFF_FFFF == 0:
            refused.add(index)
            asked[index] = NOP
    for _ in range(8):
        done = _run(asked, target, control)
        if done.returncode == 0:
            for address, text, word in LINE.findall(done.stdout):
                address = int(address, 16)
                index = address // 32 * 3 + address % 32 // 8 - 1
                if index < len(words):
                    assert int(word, 16) == asked[index], (index, word)
                    if index not in refused:
                        texts[index] = _at_zero(asked[index], address, text.strip())
            return texts
        addresses = {int(address, 16) for address in BAD.findall(done.stderr)}
        found = {address // 32 * 3 + address % 32 // 8 - 1 for address in addresses}
        fresh = {index for index in found if index < len(words)} - refused
        if not fresh:
            break
        for index in fresh:
            refused.add(index)
            asked[index] = NOP
    if len(words) == 1:
        return [None]
    half = (len(words) // 6 + 1) * 3
    if half >= len(words):
        return [text for word in words for text in _batch([word], target, control)]
    return _batch(words[:half], target, control) + _batch(words[half:], target, control)


def texts(words, target="SM50", control=CONTROL, batch=BATCH):
    """What nvdisasm prints for each word, without the semicolon; None where it knows no such word."""
    words = list(words)
    out = []
    for at in range(0, len(words), batch):
        out += _batch(words[at : at + batch], target, control)
    return out


ROUNDONCE = os.environ.get("ROUNDONCE_WORDS", "target/release/examples/words")


def ours(words, target):
    """For each word our text (None where there is none), the word that the text assembles to or the finding, and the
    bits that mean nothing."""
    name = f"sm_{target[2:]}"
    given = "".join(f"{word:x}\n" for word in words)
    done = subprocess.run([ROUNDONCE, name], input=given, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [(row[1].strip() or None, row[2], int(row[3] or "0", 16) if len(row) > 3 else 0) for row in rows]


def rows(target):
    """The product's rows for a target: mnemonic, mask, bits."""
    command = [ROUNDONCE, "--rows", f"sm_{target[2:]}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        name, mask, bits = line.split("\t")
        yield name, int(mask, 16), int(bits, 16)


def faults(words, target):
    """Where the product and the judge differ: word, what is wrong, the judge's text, ours."""
    doubtful = []
    for word, wanted, (text, again, ignored) in zip(words, texts(words, target), ours(words, target)):
        if wanted != text:
            yield word, "text", wanted, text
        elif text is not None:
            try:
                back = int(again, 16)
            except ValueError:
                yield word, "read", wanted, again
                continue
            if (back ^ word) & ~ignored:
                doubtful.append((word, back, wanted))
    # Another word with the same text is as good: nvdisasm does not show NaN payloads, nor all that some fields say.
    for (word, back, wanted), text in zip(doubtful, texts([back for _, back, _ in doubtful], target)):
        if text != wanted:
            yield word, "word", wanted, f"{back:016x} {text}"


def row_words(generator, target, count=150):
    """Random words of every row, some with few bits set, most without a guard."""
    for _, mask, bits in rows(target):
        for at in range(count):
            word = bits | generator.getrandbits(64) & ~mask
            if at % 3 == 0:
                word = word & (generator.getrandbits(64) | mask) | bits
            yield word if at % 5 == 0 else word & ~(0xF << 16) | 7 << 16


def sweep_words(generator, _target, count=20):
    """Random words of every value of the upper 13 bits."""
    for top in range(1 << 13):
        for at in range(count):
            low = generator.getrandbits(51)
            for _ in range(at % 3):
                low &= generator.getrandbits(51)
            yield top << 51 | low & ~(0xF << 16) | 7 << 16


def kernels(path):
    """The target of a cubin and the instruction words of each of its kernels."""
    with open(path, "rb") as file:
        data = file.read()
    flags, offset = struct.unpack_from("<I", data, 0x30)[0], struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, offset + at * size) for at in range(count)]
    for name, kind, _, _, start, length in sections:
        if kind == 1 and data[sections[names][4] + name :].startswith(b".text."):
            code = struct.unpack_from(f"<{length // 8}Q", data, start)
            yield flags & 0xFF, [word for at, word in enumerate(code) if at % 4]


def main():
    verb, *rest = sys.argv[1:]
    generator = random.Random(1)
    asked = collections.defaultdict(set)
    if verb == "cubins":
        count = total = 0
        for path in rest:
            for target, words in kernels(path):
                count, total = count + 1, total + len(words)
                asked[f"SM{target}"].update(words)
        print(f"{len(rest)} cubins, {count} kernels, {total} instructions")
    else:
        target = rest[0] if rest else "SM61"
        asked[target] = set({"rows": row_words, "sweep": sweep_words}[verb](generator, target))
    for target, words in asked.items():
        differ = list(faults(sorted(words), target))
        print(f"{target}: {len(words)} different words, {len(differ)} differ")
        for word, what, wanted, found in differ[:40]:
            print(f"  {word:016x} {what}: {wanted} | {found}")


if __name__ == "__main__":
    main()
