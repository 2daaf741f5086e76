//! RESCALE planes of products: numbers by factors of their own, rescaled, as two planes of bytes (docs/EXACT.md,
//! section 3).
mod support;
use assay_exact::program::Program;
use support::builder::{parameters, plain, weights, BOOL, F32, NONE, S32, U8, WEIGHT};
use support::one_step::{stored, OneStep};

const S8: u8 = 1;
const CHANNEL: u8 = 4;

type Channel = (i32, u32, i64, u8);
const SAME: Channel = (0, 1, 0, 0);

/// A step whose operand a has the dims of `a`, and c those of `factors`.
fn planes(dims: &[u32], a: &[u32], channels: u32, factors: &[u32]) -> OneStep {
    let operands = vec![plain(S32, a), weights(CHANNEL, &[channels]), plain(S32, factors)];
    OneStep { head: [6, 2, U8], k: 0, dims: dims.to_vec(), operands }
}

fn by_definition(x: i32, factor: i32, (bias, m, b, s): Channel) -> u32 {
    let product = (i128::from(x) * i128::from(factor)).rem_euclid(1 << 32) as u32 as i32;
    let acc = i128::from(product.wrapping_add(bias));
    let sum = (acc * i128::from(m) + i128::from(b)) as i64;
    ((sum >> (s % 64)) as i32).clamp(0, 65_535) as u32
}

/// A tensor's dims and numbers.
type Tensor<'t> = (&'t [u32], &'t [i32]);

/// The output's numbers of 16 bits, in rows of `count`, which are those of the definition.
fn products(count: usize, a: Tensor<'_>, factors: Tensor<'_>, channels: &[Channel]) -> Vec<u32> {
    let dims = [(a.1.len() / count) as u32, 2 * count as u32];
    let step = planes(&dims, a.0, channels.len() as u32, factors.0);
    let b = channels.iter().flat_map(|&(bias, m, b, s)| parameters(bias, m, b, s, 0)).collect();
    let own = |column| if channels.len() == 1 { 0 } else { column };
    let bytes = step.computed(&[stored(a.1), b, stored(factors.1)], |weights, index| {
        let (row, column) = (index / (2 * count), index % count);
        let at = row * count + column;
        let word = |tensor: usize, dims: &[u32]| {
            let length = dims[dims.len() - 1] as usize;
            weights.word(tensor, at / length, 4 * (at % length))
        };
        vec![word(0, a.0), weights.row(1, own(column)), word(2, factors.0)]
    });
    let joined = |row: &[u32]| -> Vec<u32> { (0..count).map(|i| 256 * row[i] + row[count + i]).collect() };
    let found: Vec<u32> = bytes.chunks(2 * count).flat_map(joined).collect();
    let expected: Vec<u32> =
        (0..a.1.len()).map(|i| by_definition(a.1[i], factors.1[i], channels[own(i % count)])).collect();
    assert_eq!(found, expected, "a of {:?} in rows of {count}, factors of {:?}", a.0, factors.0);
    found
}

/// One row of numbers by factors and one channel.
fn row(numbers: &[i32], factors: &[i32], channel: Channel) -> Vec<u32> {
    let dims = [numbers.len() as u32];
    products(numbers.len(), (&dims, numbers), (&dims, factors), &[channel])
}

#[test]
fn products_are_rescaled() {
    assert_eq!(row(&[3, -3, 3, -3, 0], &[5, 5, -5, -5, 9], SAME), [15, 0, 0, 15, 0]);
    // The bias is added to the product, before M.
    assert_eq!(row(&[3, -3, 3, -3], &[5, 5, -5, -5], (20, 10, 5, 1)), [177, 27, 27, 177]);
    assert_eq!(row(&[300, 256, 255], &[300, 256, 257], SAME), [65_535; 3]);
}

#[test]
fn products_wrap_before_they_are_rescaled() {
    // 2^32 is 0, 2^32 + 2^16 is 2^16, 2^31 is -2^31, and -2^31 stays.
    let (numbers, factors) = ([1 << 16, 1 << 16, 1 << 30, i32::MIN, i32::MIN], [1 << 16, 65_537, 2, 1, -1]);
    assert_eq!(row(&numbers, &factors, (0, 1, 0, 1)), [0, 32_768, 0, 0, 0]);
    // A bias brings them back, and wraps itself.
    assert_eq!(row(&numbers, &factors, (i32::MIN, 1, 7, 0)), [0, 0, 7, 7, 7]);
    assert_eq!(row(&numbers, &factors, (i32::MAX, 1, 0, 0)), [65_535, 0, 0, 0, 0]);
    // The ends by each other: 1, 2^31, 2^62 and those around.
    let ends = [i32::MAX, i32::MAX, i32::MIN, i32::MIN, i32::MIN + 1, i32::MAX];
    let others = [i32::MAX, i32::MIN, i32::MIN, i32::MAX, i32::MAX, -2];
    assert_eq!(row(&ends, &others, SAME), [1, 0, 0, 0, 0, 2]);
    assert_eq!(row(&ends, &others, (i32::MIN, 1, 6, 1)), [0, 3, 0, 3, 65_535, 0]);
    for channel in [(1, u32::MAX, 1 << 40, 31), (-1, 1, 0, 16), (i32::MAX, 3, -9, 80)] {
        row(&ends, &others, channel);
    }
}

#[test]
fn each_number_has_its_factor() {
    let numbers: Vec<i32> = (0..60).map(|i| (i * 7919 % 4001 - 1500) << (i % 7)).collect();
    let factors: Vec<i32> = (0..60).map(|i| (i * 4057 % 997 - 400) << (i % 11 * 2)).collect();
    let channels = [(1, 1, 0, 0), (-256, 3, 1 << 20, 4), (7, 1 << 31, 5, 31), (0, 77, -1, 66), (9, 1, 1, 1)];
    // Rows of the output of five numbers and of other ones, whatever the rows of a and of the factors.
    for (a, dims) in [
        (&[12, 5][..], &[12, 5][..]),
        (&[12, 5], &[60]),
        (&[60], &[5, 12]),
        (&[5, 12], &[60, 1]),
        (&[2, 3, 10], &[1, 20, 3]),
        (&[60, 1], &[2, 3, 2, 5]),
        (&[1, 20, 3], &[3, 1, 20]),
    ] {
        products(5, (a, &numbers), (dims, &factors), &channels);
        products(10, (a, &numbers), (dims, &factors), &channels[..1]);
        products(60, (a, &numbers), (dims, &factors), &channels[1..2]);
        products(1, (a, &numbers), (dims, &factors), &channels[2..3]);
    }
}

#[test]
fn structure() {
    let right = planes(&[3, 8], &[3, 4], 4, &[3, 4]);
    for given in [
        right.clone(),
        // The elements count, whatever their dims.
        right.with(0, plain(S32, &[12])),
        right.with(2, plain(S32, &[12])),
        right.with(2, plain(S32, &[2, 6])),
        right.with(2, plain(S32, &[12, 1, 1])),
        right.with(1, weights(CHANNEL, &[1])),
        OneStep { dims: vec![1, 3, 8], ..right.clone() },
        OneStep { dims: vec![24], ..right.with(1, weights(CHANNEL, &[1])) },
        planes(&[2], &[1], 1, &[1]),
    ] {
        assert_eq!(given.version(), Some(2));
    }
    for (why, wrong) in [
        ("a factor too few", right.with(2, plain(S32, &[11]))),
        ("a factor too many", right.with(2, plain(S32, &[13]))),
        ("a factor for all", right.with(2, plain(S32, &[1]))),
        ("a factor for each row", right.with(2, plain(S32, &[3]))),
        ("a factor for each column", right.with(2, plain(S32, &[4]))),
        ("two factors for each row", right.with(2, plain(S32, &[3, 2]))),
        ("a factor for each byte", right.with(2, plain(S32, &[3, 8]))),
        ("factors of bytes", right.with(2, plain(U8, &[3, 4]))),
        ("factors of s8", right.with(2, plain(S8, &[3, 4]))),
        ("factors of f32", right.with(2, plain(F32, &[3, 4]))),
        ("factors of bool", right.with(2, plain(BOOL, &[3, 4]))),
        ("factors in no plain tensor", right.with(2, weights(CHANNEL, &[12]))),
        ("3 channels for 4 numbers", right.with(1, weights(CHANNEL, &[3]))),
        ("a of bytes", right.with(0, plain(U8, &[3, 4]))),
        ("an output of s32", OneStep { head: [6, 2, S32], ..right.clone() }),
        ("half a number", planes(&[8, 3], &[3, 4], 1, &[12])),
        ("a row less", planes(&[2, 8], &[3, 4], 4, &[3, 4])),
        ("channels with factors", OneStep { head: [6, 0, S32], dims: vec![3, 4], ..right.clone() }),
    ] {
        assert!(!wrong.is_taken(), "{why}");
    }
    for operands in [[WEIGHT, WEIGHT + 1, 0], [WEIGHT, WEIGHT + 1, WEIGHT + 3], [WEIGHT, NONE, WEIGHT + 2]] {
        assert!(Program::read(&right.reading(operands)).is_err());
    }
}
