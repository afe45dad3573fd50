"""References of what invocations compute together, and of integers' dot products."""

from cases import numbers
from exact import F32, f32

WORD = (1 << 32) - 1


def signed(value, bits=32):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def lowest(word):
    return (word & -word).bit_length() - 1


def ballots(draw):
    size, n = 48, 96
    a = [draw.randrange(256) for _ in range(n)]
    results = []
    for i in range(n):
        local = i % size
        lane, start = local % 32, i - local % 32
        here = list(range(start, min(start + 32, i - local + size)))
        x = a[i]
        ballot = sum((a[j] & 1) << j - start for j in here)
        below = ballot & (1 << lane) - 1
        quad = i - lane % 4
        row = [(ballot ^ 5) >> lane & 1, ballot >> (x & 31) & 1, ballot.bit_count()]
        row += [below.bit_count() + (a[i] & 1), below.bit_count(), lowest(ballot | 1 << 30), (ballot | 1).bit_length() - 1]
        row += [a[quad + 2], a[i ^ 1], a[i ^ 2] ^ a[i ^ 3] << 8]
        row.append(sum(a[j] for j in here if j // 8 == i // 8))
        product = f32(1)
        for j in here:
            if j // 4 == i // 4 and a[j] > 40:
                product = F32.mul(product, f32(a[j]))
        results += row + [product if x > 40 else 0]
    return {"0.0": ("u4", a), "0.1": ("u4", [0] * (12 * n), 12)}, {"0.1": ("u4", results, 12)}, {}


def votes(draw):
    n = 64
    a = [draw.randrange(256) for _ in range(n)]
    results = []
    for i in range(n):
        start = i - i % 32
        here = a[start : start + 32]
        row = [sum((x >> 1 & 1) << k for k, x in enumerate(here)), here[7]]
        row.append([x for x in here if x % 3 == 1][0] if a[i] % 3 == 1 else 0)
        row.append(any(x > 250 for x in here) | all(x > 1 for x in here) << 1)
        row.append((len({x > 250 for x in here}) == 1) | 2)
        results += row
    return {"0.0": ("u4", a), "0.1": ("u4", [0] * (5 * n), 5)}, {"0.1": ("u4", results, 5)}, {"determined": True}


def groups_cl(draw):
    size, n = 80, 160
    x = [draw.randrange(-1000, 1000) for _ in range(n)]
    y = numbers(draw, n)
    results, floats = [], []
    for i in range(n):
        group, lane = i - i % size, i % size % 32
        here = x[group : group + size]
        before = here[: i - group]
        start = i - lane
        warp = x[start : min(start + 32, group + size)]
        row = [sum(here), max(before + [x[i]]), min([WORD] + [value & WORD for value in before])]
        row += [all(v > -900 for v in here) | any(v > 900 for v in here) << 1, here[5], max(warp)]
        row += [sum(warp[: lane + 1]), int(any(v > 900 for v in warp)), warp[3], int(all(v > -990 for v in warp)), lane]
        row.append(sum(here))
        results += [value & WORD for value in row]
        total = total_before = 0
        for k in range(size):
            if k == i - group:
                total_before = total
            total = F32.add(total, y[group + k])
        least = min(y[group : i + 1], key=F32.value)
        floats += [total, least, total_before]
    arguments = {"0": ("i4", x), "1": ("f4", y), "2": ("u4", [0] * (12 * n), 12), "3": ("f4", [0] * (3 * n), 3)}
    return arguments, {"2": ("u4", results, 12), "3": ("f4", floats, 3)}, {"block": size}


def dots(draw):
    n = 32
    edges = [0x80808080, 0x7F7F7F7F, WORD, 0x80FF017F, 0]
    a, b = ([draw.choice(edges) if draw.random() < 0.3 else draw.getrandbits(32) for _ in range(n)] for _ in range(2))
    c = [draw.choice([0x7FFFFFF0, 0x80000005, WORD, 0xFFFF0000, draw.getrandbits(32)]) for _ in range(n)]
    results = []
    for p, q, r in zip(a, b, c):
        sp, sq = ([signed(byte, 8) for byte in word.to_bytes(4, "little")] for word in (p, q))
        up, uq = p.to_bytes(4, "little"), q.to_bytes(4, "little")
        ss, uu, su = (sum(x * y for x, y in zip(*pair)) for pair in ((sp, sq), (up, uq), (sp, uq)))
        top, bottom = (1 << 31) - 1, -(1 << 31)
        clamped = [min(max(total + signed(r), bottom), top) for total in (ss, su)]
        row = [ss, uu, su, clamped[0], min(uu + r, WORD), clamped[1], ss, signed(p) * 3 + 9]
        results += [value & WORD for value in row]
    flat = [word for item in zip(a, b, c) for word in item]
    return {"0.0": ("u4", flat, 3), "0.1": ("u4", [0] * (8 * n), 8)}, {"0.1": ("u4", results, 8)}, {"determined": True}
