"""A structured reference string (SRS) from a known secret, in the file format that ezkl reads.

DEVELOPMENT ONLY: who knows the secret, and it is written here, can prove anything. It makes keys, verifiers and model
ids the same on every machine, without a file of many megabytes. Real keys come from the SRS of a ceremony.

Format (all little-endian): k u32; 2^k points tau^i G1; 2^k points L_i(tau) G1; G2; tau G2. Coordinates are of BN254's
base field in Montgomery form, 32 bytes each, x before y, the real part of a G2 coordinate before the imaginary one.
"""

import hashlib

P = 21888242871839275222246405745257275088696311157297823662689037894645226208583  # base field
R = 21888242871839275222246405745257275088548364400416034343698204186575808495617  # scalar field
SECRET = int.from_bytes(hashlib.sha256(b"assay development srs").digest(), "big") % R
ROOT = 7  # generator of the scalar field; 2^28 divides R - 1
G1 = (1, 2)
G2 = (
    (
        10857046999023057135944570762232829481370756359578518086990519993285655852781,
        11559732032986387107991004021392285783925812861821192530917403151452391805634,
    ),
    (
        8495653923123431417604973247489272438418190587263600148770280649306958101930,
        4082367875863433681332203403145435568316851327593401208105741076214120093531,
    ),
)
WINDOW = 10  # bits of a scalar that one table look-up covers


def write(path, k):
    """Writes the SRS for circuits of at most 2^k rows, 1 <= k <= 24."""
    n = 1 << k
    powers = [1] * n
    for i in range(1, n):
        powers[i] = powers[i - 1] * SECRET % R
    tables = windows()
    with open(path, "wb") as file:
        file.write(k.to_bytes(4, "little"))
        for scalars in (powers, lagrange(k)):
            # A part at a time: the points of 2^17 scalars at once would need gigabytes.
            for start in range(0, n, 1 << 14):
                for x, y in multiples(scalars[start : start + (1 << 14)], tables):
                    file.write(montgomery(x) + montgomery(y))
        for point in (G2, multiply_g2(G2, SECRET)):
            for coordinate in point:
                file.write(montgomery(coordinate[0]) + montgomery(coordinate[1]))


def lagrange(k):
    """L_i(SECRET) over the 2^k-th roots of unity: w^i (s^n - 1) / (n (s - w^i))."""
    n = 1 << k
    root = pow(ROOT, (R - 1) >> k, R)
    roots = [1] * n
    for i in range(1, n):
        roots[i] = roots[i - 1] * root % R
    factor = (pow(SECRET, n, R) - 1) * pow(n, -1, R) % R
    inverses = invert([(SECRET - w) % R for w in roots], R)
    return [w * factor * inverse % R for w, inverse in zip(roots, inverses)]


def windows():
    """tables[j][d - 1] = d 2^(10 j) G1, affine."""
    tables, base = [], G1
    for _ in range(0, 254, WINDOW):
        row = [base]
        for _ in range(2, 1 << WINDOW):
            row.append(add_jacobian(row[-1], base))
        base = affine([add_jacobian(row[-1], base)])[0]
        tables.append(affine(row))
    return tables


def multiples(scalars, tables):
    """Products of the scalars, none of them 0, with G1: additions in affine form, one inversion for all of them."""
    sums = [None] * len(scalars)
    for j, table in enumerate(tables):
        where, xs, ys, gaps = [], [], [], []
        for i, scalar in enumerate(scalars):
            digit = (scalar >> (WINDOW * j)) & ((1 << WINDOW) - 1)
            if digit == 0:
                continue
            x, y = table[digit - 1]
            if sums[i] is None:
                sums[i] = (x, y)
                continue
            # The sum is below 2^(10 j) times G1 and the summand at least that, so they are never equal; opposite only
            # where the whole is the group's order, which no scalar is.
            where.append(i)
            xs.append(x)
            ys.append(y)
            gaps.append(x - sums[i][0])
        for i, x, y, inverse in zip(where, xs, ys, invert(gaps, P)):
            a, b = sums[i]
            slope = (y - b) * inverse % P
            c = (slope * slope - a - x) % P
            sums[i] = (c, (slope * (a - c) - b) % P)
    return sums


def invert(values, modulus):
    """Inverses of many values by one inversion."""
    products, product = [], 1
    for value in values:
        products.append(product)
        product = product * value % modulus
    inverse = pow(product, -1, modulus)
    result = [0] * len(values)
    for i in range(len(values) - 1, -1, -1):
        result[i] = inverse * products[i] % modulus
        inverse = inverse * values[i] % modulus
    return result


def add_jacobian(p, q):
    """Sum of points on G1, as (X, Y, Z) or affine (x, y); q is affine."""
    x1, y1, z1 = p if len(p) == 3 else (*p, 1)
    x2, y2 = q
    u = x2 * z1 * z1 % P
    s = y2 * z1 * z1 * z1 % P
    h, r = (u - x1) % P, (s - y1) % P
    if h == 0 and r == 0:
        a = x1 * x1 % P
        b = y1 * y1 % P
        d = 4 * x1 * b % P
        e = 3 * a % P
        x3 = (e * e - 2 * d) % P
        return x3, (e * (d - x3) - 8 * b * b) % P, 2 * y1 * z1 % P
    hh = h * h % P
    hhh = h * hh % P
    v = x1 * hh % P
    x3 = (r * r - hhh - 2 * v) % P
    return x3, (r * (v - x3) - y1 * hhh) % P, z1 * h % P


def affine(points):
    full = [p if len(p) == 3 else (*p, 1) for p in points]
    inverses = invert([z for _, _, z in full], P)
    return [(x * i * i % P, y * i * i * i % P) for (x, y, _), i in zip(full, inverses)]


def multiply_g2(point, scalar):
    result = None
    for bit in bin(scalar)[2:]:
        if result is not None:
            result = add_g2(result, result)
        if bit == "1":
            result = point if result is None else add_g2(result, point)
    return result


def add_g2(p, q):
    """Sum of affine points of G2 that are equal or neither equal nor opposite; numbers are a + b i, i^2 = -1."""
    (x1, y1), (x2, y2) = p, q
    if p == q:
        square = multiply(x1, x1)
        numerator = tuple(3 * c % P for c in square)
        denominator = tuple(2 * c % P for c in y1)
    else:
        numerator, denominator = subtract(y2, y1), subtract(x2, x1)
    norm = pow(denominator[0] ** 2 + denominator[1] ** 2, -1, P)
    slope = multiply(numerator, (denominator[0] * norm % P, -denominator[1] * norm % P))
    x3 = subtract(subtract(multiply(slope, slope), x1), x2)
    return x3, subtract(multiply(slope, subtract(x1, x3)), y1)


def multiply(a, b):
    return (a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P


def subtract(a, b):
    return (a[0] - b[0]) % P, (a[1] - b[1]) % P


def montgomery(x):
    return (x * (1 << 256) % P).to_bytes(32, "little")
