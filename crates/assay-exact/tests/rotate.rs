//! ARITH rotate: pairs of neighbours as complex numbers, to numbers and to bytes (docs/EXACT.md, section 3).
mod support;
use support::builder::{plain, weights, BOOL, F32, S32, U8, WEIGHT};
use support::one_step::{stored, OneStep};

const S8: u8 = 1;
const DOT: u8 = 2;
const TYPES: [u8; 3] = [U8, S8, S32];

fn rotate(element_type: u8, k: u32, dims: &[u32], a: &[u32], b: &[u32]) -> OneStep {
    let operands = vec![plain(S32, a), plain(S32, b)];
    OneStep { head: [8, 10, element_type], k, dims: dims.to_vec(), operands }
}

/// An operand's dims and numbers.
type Operand<'o> = (&'o [u32], &'o [i32]);

/// The number of an operand's element at an index of the output: each axis by itself.
fn place_in(index: usize, dims: &[u32], own: &[u32]) -> usize {
    let (mut rest, mut stride, mut found) = (index, 1, 0);
    for (axis, &dim) in dims.iter().enumerate().rev() {
        let on_axis = rest % dim as usize;
        rest /= dim as usize;
        if let Some(&size) = (axis + own.len()).checked_sub(dims.len()).and_then(|axis| own.get(axis)) {
            found += if size == 1 { 0 } else { on_axis * stride };
            stride *= size as usize;
        }
    }
    found
}

/// The element of the output by its definition, as a number.
fn by_definition(element_type: u8, k: u32, [x, y]: [i128; 2], [c, s]: [i128; 2], is_first: bool) -> i128 {
    let value = if is_first { x * c - y * s } else { x * s + y * c };
    let rounded = (2 * value + (1 << k)).div_euclid(1 << (k + 1));
    let (least, most) = match element_type {
        U8 => (0, 255),
        S8 => (-128, 127),
        _ => (i32::MIN.into(), i32::MAX.into()),
    };
    rounded.max(least).min(most)
}

/// The numbers of the output, which are those of the definition.
fn rotated(element_type: u8, k: u32, dims: &[u32], a: Operand<'_>, b: Operand<'_>) -> Vec<i128> {
    let step = rotate(element_type, k, dims, a.0, b.0);
    let place = |index, own: &[u32]| place_in(index, dims, own);
    let elements = step.computed(&[stored(a.1), stored(b.1)], |weights, index| {
        let word = |tensor, own: &[u32]| {
            let (at, length) = (place(index, own), dims[dims.len() - 1] as usize);
            weights.word(tensor, at / length, 4 * (at % length))
        };
        vec![word(0, a.0), word(1, b.0)]
    });
    let pair = |(own, numbers): Operand<'_>, index: usize| {
        let first = place(index - index % 2, own);
        [numbers[first].into(), numbers[first + 1].into()]
    };
    let expected: Vec<i128> = (0..elements.len())
        .map(|index| by_definition(element_type, k, pair(a, index), pair(b, index), index % 2 == 0))
        .collect();
    let number = |&x: &u32| match element_type {
        S8 => i128::from(x) - 128,
        S32 => i128::from(x as i32),
        _ => i128::from(x),
    };
    let found: Vec<i128> = elements.iter().map(number).collect();
    assert_eq!(found, expected, "type {element_type}, shift {k}, dims {dims:?}");
    found
}

/// One row of pairs, times as many.
fn row(element_type: u8, k: u32, a: &[i32], b: &[i32]) -> Vec<i128> {
    let dims = [a.len() as u32];
    rotated(element_type, k, &dims, (&dims, a), (&dims, b))
}

#[test]
fn pairs_of_numbers() {
    // (3 + 4i)(1 + 2i) = -5 + 10i.
    assert_eq!(row(S32, 0, &[3, 4], &[1, 2]), [-5, 10]);
    assert_eq!(row(S8, 0, &[3, 4], &[1, 2]), [-5, 10]);
    assert_eq!(row(U8, 0, &[3, 4], &[1, 2]), [0, 10]);
}

#[test]
fn bytes_saturate() {
    let numbers = [300, 255, 256, -1, -128, -129, 127, 128];
    let one = [1, 0, 1, 0, 1, 0, 1, 0];
    assert_eq!(row(U8, 0, &numbers, &one), [255, 255, 255, 0, 0, 0, 127, 128]);
    assert_eq!(row(S8, 0, &numbers, &one), [127, 127, 127, -1, -128, -128, 127, 127]);
    assert_eq!(row(S32, 0, &numbers, &one), numbers.map(i128::from));
    // Rounded first: 255.5 and -128.5 are 256 and -128, 127.4 is 127.
    assert_eq!(row(U8, 1, &[511, -1, 509, -2], &[1, 0, 1, 0]), [255, 0, 255, 0]);
    assert_eq!(row(S8, 1, &[-257, 254, -258, 255], &[1, 0, 1, 0]), [-128, 127, -128, 127]);
}

#[test]
fn halves_are_rounded_up() {
    for element_type in [S8, S32] {
        assert_eq!(row(element_type, 1, &[1, -1, 3, -3], &[1, 0, 1, 0]), [1, 0, 2, -1]);
        assert_eq!(row(element_type, 2, &[2, -2, 6, -6], &[1, 0, 1, 0]), [1, 0, 2, -1]);
    }
}

#[test]
fn a_value_has_up_to_64_bits() {
    const EDGES: [i32; 4] = [i32::MIN, i32::MAX, -1, 0];
    for element_type in TYPES {
        for k in [0, 1, 30, 31] {
            for [x, y] in EDGES.iter().flat_map(|&x| EDGES.map(|y| [x, y])) {
                let turns: Vec<i32> = EDGES.iter().flat_map(|&c| EDGES.map(|s| [c, s])).flatten().collect();
                rotated(element_type, k, &[16, 2], (&[2], &[x, y]), (&[16, 2], &turns));
            }
        }
    }
    // Twice 2^62 is 2^63, which is no number below 0.
    let least = [i32::MIN; 2];
    assert_eq!(row(S32, 0, &least, &least), [0, i32::MAX.into()]);
    assert_eq!(row(U8, 0, &least, &least), [0, 255]);
    assert_eq!(row(S8, 31, &least, &least), [0, 127]);
}

#[test]
fn operands_are_broadcast() {
    let numbers = |dims: &[u32], seed: i32| -> Vec<i32> {
        (0..dims.iter().product::<u32>() as i32).map(|i| (i + seed) * 7919 % 401 - 200).collect()
    };
    let dims = [2, 3, 2, 10];
    for (a, b) in [
        (&[2, 3, 2, 10][..], &[10][..]),
        (&[2, 3, 2, 10], &[2, 10]),
        (&[2, 1, 2, 10], &[3, 1, 10]),
        (&[10], &[2, 3, 1, 10]),
        (&[1, 3, 2, 10], &[2, 1, 1, 10]),
    ] {
        for (element_type, k) in [(U8, 7), (S8, 8), (S32, 3)] {
            rotated(element_type, k, &dims, (a, &numbers(a, 3)), (b, &numbers(b, 11)));
        }
    }
}

#[test]
fn structure() {
    let right = rotate(S8, 31, &[2, 3, 4], &[2, 3, 4], &[3, 4]);
    for element_type in TYPES {
        let given = OneStep { head: [8, 10, element_type], ..right.clone() };
        assert_eq!(given.version(), Some(2));
    }
    for (why, wrong) in [
        ("an output of bool", OneStep { head: [8, 10, BOOL], ..right.clone() }),
        ("an output of f32", OneStep { head: [8, 10, F32], ..right.clone() }),
        ("a shift of 32", OneStep { k: 32, ..right.clone() }),
        ("a of bytes", right.with(0, plain(S8, &[2, 3, 4]))),
        ("b of bytes", right.with(1, plain(U8, &[3, 4]))),
        ("no b", OneStep { operands: vec![plain(S32, &[2, 3, 4])], ..right.clone() }),
        ("an operand c", right.with(2, plain(S32, &[2, 3, 4]))),
        ("b of one pair", right.with(1, plain(S32, &[3, 2]))),
        ("b of one number", right.with(1, plain(S32, &[3, 1]))),
        ("b of other rows", right.with(1, plain(S32, &[2, 4]))),
        ("a number without its pair", rotate(S8, 0, &[2, 3], &[2, 3], &[3])),
        ("b that is no plain tensor", right.with(1, weights(DOT, &[3, 4]))),
        ("variant 11", OneStep { head: [8, 11, S8], ..right.clone() }),
    ] {
        assert!(!wrong.is_taken(), "{why}");
    }
    assert!(assay_exact::program::Program::read(&right.reading([WEIGHT, 0, WEIGHT + 1])).is_err());
}
