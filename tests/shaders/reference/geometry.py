"""References of matrices' determinants and inverses, and of refraction."""

from cases import numbers
from exact import F32


def chain(pairs):
    """Products added one to another, each rounded."""
    total = None
    for a, b in pairs:
        product = F32.mul(a, b)
        total = product if total is None else F32.add(total, product)
    return total


def determinant(columns):
    """Expanded along the first column; the columns are lists of rows."""
    if len(columns) == 1:
        return columns[0][0]
    total = None
    for row, entry in enumerate(columns[0]):
        rest = [[value for at, value in enumerate(column) if at != row] for column in columns[1:]]
        product = F32.mul(entry, determinant(rest))
        total = product if total is None else (F32.sub if row % 2 else F32.add)(total, product)
    return total


def inverse(columns):
    size, over = len(columns), determinant(columns)
    result = []
    for column in range(size):
        for row in range(size):
            kept = [[v for at, v in enumerate(c) if at != column] for k, c in enumerate(columns) if k != row]
            cofactor = determinant(kept)
            result.append(F32.div(cofactor ^ (F32.sign_bit if (row + column) % 2 else 0), over))
    return result


def geometry(draw):
    n = 16
    data, results = [], []
    one = F32.one()
    for _ in range(n):
        m = [numbers(draw, 4) for _ in range(4)]
        i, normal = numbers(draw, 4), numbers(draw, 4)
        data += [value for column in m for value in column] + i + normal
        parts = [[column[:size] for column in m[:size]] for size in (2, 3, 4)]
        for part in parts:
            results += inverse(part)
        results += [determinant(part) for part in parts]
        eta = m[0][0]
        along = chain(zip(normal, i))
        k = F32.sub(one, F32.mul(F32.mul(eta, eta), F32.sub(one, F32.mul(along, along))))
        if F32.value(k) < 0:
            results += [0] * 4
        else:
            factor = F32.add(F32.mul(eta, along), F32.sqrt(k))
            results += [F32.sub(F32.mul(eta, p), F32.mul(factor, q)) for p, q in zip(i, normal)]
    arguments = {"0.0": ("f4", data, 24), "0.1": ("f4", [0] * (36 * n), 36)}
    return arguments, {"0.1": ("f4", results, 36)}, {}
