//! RESCALE planes of quotients: numbers by the divisors of rows or of their parts, rescaled, as two planes of
//! bytes (docs/EXACT.md, section 3).
mod support;
use assay_exact::program::Program;
use support::builder::{parameters, plain, weights, BOOL, F32, NONE, S32, U8, WEIGHT};
use support::one_step::{stored, OneStep};

const S8: u8 = 1;
const CHANNEL: u8 = 4;

type Channel = (i32, u32, i64, u8);
const SAME: Channel = (0, 1, 0, 0);

/// A step of so many numbers in a row of the output, whose operand a has the dims of `a`, and c those of `divisors`.
fn planes(k: u32, dims: &[u32], a: &[u32], channels: u32, divisors: &[u32]) -> OneStep {
    let operands = vec![plain(S32, a), weights(CHANNEL, &[channels]), plain(S32, divisors)];
    OneStep { head: [6, 2, U8], k, dims: dims.to_vec(), operands }
}

fn by_definition(x: i32, k: u32, divisor: i32, (bias, m, b, s): Channel) -> u32 {
    let (x, d) = (i128::from(x), i128::from(divisor));
    let quotient = if d < 1 { 0 } else { (2 * x * i128::from(k) + d).div_euclid(2 * d) };
    let narrow = quotient.max(i32::MIN.into()).min(i32::MAX.into()) as i32;
    let acc = i128::from(narrow.wrapping_add(bias));
    let sum = (acc * i128::from(m) + i128::from(b)) as i64;
    ((sum >> (s % 64)) as i32).clamp(0, 65_535) as u32
}

/// A tensor's dims and numbers.
type Tensor<'t> = (&'t [u32], &'t [i32]);

/// The output's numbers of 16 bits, in rows of `count`, which are those of the definition. Each row has equal shares of
/// the divisors.
fn quotients(k: u32, count: usize, a: Tensor<'_>, divisors: Tensor<'_>, channels: &[Channel]) -> Vec<u32> {
    let [of_a, of_divisors] = [a, divisors].map(|(dims, _)| dims[dims.len() - 1] as usize);
    let dims = [(a.1.len() / count) as u32, 2 * count as u32];
    let step = planes(k, &dims, a.0, channels.len() as u32, divisors.0);
    let b = channels.iter().flat_map(|&(bias, m, b, s)| parameters(bias, m, b, s, 0)).collect();
    let own = |column| if channels.len() == 1 { 0 } else { column };
    // Numbers of one divisor stand one after the other, in the order of a.
    let share = a.1.len() / divisors.1.len();
    let bytes = step.computed(&[stored(a.1), b, stored(divisors.1)], |weights, index| {
        let (row, column) = (index / (2 * count), index % count);
        let at = row * count + column;
        vec![
            weights.word(0, at / of_a, 4 * (at % of_a)),
            weights.row(1, own(column)),
            weights.word(2, at / share / of_divisors, 4 * (at / share % of_divisors)),
        ]
    });
    let joined = |row: &[u32]| -> Vec<u32> { (0..count).map(|i| 256 * row[i] + row[count + i]).collect() };
    let found: Vec<u32> = bytes.chunks(2 * count).flat_map(joined).collect();
    let expected: Vec<u32> = (0..a.1.len())
        .map(|i| by_definition(a.1[i], k, divisors.1[i / share], channels[own(i % count)]))
        .collect();
    assert_eq!(found, expected, "a of {:?} in rows of {count}, divisors of {:?}", a.0, divisors.0);
    found
}

/// One row of numbers by one divisor and one channel.
fn row(k: u32, numbers: &[i32], divisor: i32, channel: Channel) -> Vec<u32> {
    quotients(k, numbers.len(), (&[numbers.len() as u32], numbers), (&[1], &[divisor]), &[channel])
}

#[test]
fn quotients_are_rounded_and_then_rescaled() {
    assert_eq!(row(1, &[4, 5, 6, 7], 2, SAME), [2, 3, 3, 4]);
    // Halves up: -0.5 is 0, -1.5 is -1; the bias is added behind that.
    assert_eq!(row(1, &[-1, -2, -3, -4], 2, (100, 1, 0, 0)), [100, 99, 99, 98]);
    assert_eq!(row(300, &[1, 2, 3], 7, (0, 10, 5, 1)), [217, 432, 647]);
}

#[test]
fn of_a_divisor_below_1_the_quotient_is_0() {
    for divisor in [0, -1, -7, i32::MIN] {
        assert_eq!(row(9, &[1, -1, i32::MAX, i32::MIN], divisor, (5, 2, 1, 0)), [11; 4]);
    }
}

#[test]
fn quotients_saturate_before_they_are_rescaled() {
    let numbers = [i32::MAX, i32::MIN, 1, -1];
    // What saturated wraps with a bias.
    assert_eq!(row(u32::MAX, &numbers, 1, (1, 1, 0, 0)), [0, 0, 0, 0]);
    assert_eq!(row(u32::MAX, &numbers, 1, (-1, 1, 0, 0)), [65_535; 4]);
    assert_eq!(row(u32::MAX, &numbers, 1, (0, 1, 0, 16)), [32_767, 0, 32_767, 0]);
    // 2^31 is no s32 any more, 2^31 - 1 is one.
    assert_eq!(row(2, &[1 << 30, (1 << 30) - 1, -1 << 30], 1, (0, 1, 0, 15)), [65_535, 65_535, 0]);
    assert_eq!(row(2, &[1 << 30, -1 << 30], 1, (-i32::MAX, 1, 9, 0)), [9, 10]);
    assert_eq!(row(1, &[i32::MIN, i32::MIN + 1], 1, (i32::MIN, 1, 0, 0)), [0, 1]);
}

#[test]
fn a_numerator_has_up_to_65_bits() {
    // 2 · x · k is nearly 2^64, in size.
    for divisor in [1, 2, 65_537, i32::MAX - 1, i32::MAX] {
        let numbers = [i32::MAX, i32::MAX - 1, i32::MIN, i32::MIN + 1, 1 << 30, 3];
        for k in [u32::MAX, u32::MAX - 1, 1 << 31, 1] {
            row(k, &numbers, divisor, (0, 1, 0, 15));
            row(k, &numbers, divisor, (-(1 << 30), 1, 0, 16));
        }
    }
    assert_eq!(row(u32::MAX, &[i32::MAX, i32::MIN], i32::MAX, (0, 1, 0, 15)), [65_535, 0]);
}

#[test]
fn each_row_has_its_divisor() {
    let numbers: Vec<i32> = (0..120).map(|i| (i * 7919 % 4001 - 1500) << (i % 7)).collect();
    let divisors: Vec<i32> = (0..24).map(|i| [3, 0, 70, -4, 1, 999, 12][i % 7] + i as i32).collect();
    let channels = [(1, 1, 0, 0), (-256, 3, 1 << 20, 4), (7, 1 << 31, 5, 31), (0, 77, -1, 66), (9, 1, 1, 1)];
    // Five numbers in each of 24 rows of the output, whatever the rows of a and of the divisors.
    for (a, dims) in [
        (&[24, 5][..], &[24][..]),
        (&[120], &[24, 1]),
        (&[5, 24], &[1, 24]),
        (&[2, 3, 20], &[2, 12]),
        (&[120, 1], &[3, 1, 8]),
        (&[1, 40, 3], &[2, 2, 2, 3]),
    ] {
        quotients(50, 5, (a, &numbers), (dims, &divisors), &channels);
        quotients(1000, 5, (a, &numbers), (dims, &divisors), &channels[..1]);
        quotients(1000, 10, (a, &numbers), (&[3, 4], &divisors[..12]), &channels[1..2]);
    }
}

#[test]
fn each_part_of_a_row_has_its_divisor() {
    // Six numbers by 1, 2, 3 and 6 divisors.
    let of_parts =
        |divisors: &[i32]| quotients(1, 6, (&[6], &[120; 6]), (&[divisors.len() as u32], divisors), &[SAME]);
    assert_eq!(of_parts(&[2]), [60; 6]);
    assert_eq!(of_parts(&[2, 3]), [60, 60, 60, 40, 40, 40]);
    assert_eq!(of_parts(&[2, 0, 5]), [60, 60, 0, 0, 24, 24]);
    assert_eq!(of_parts(&[1, 2, 3, 4, 5, 6]), [120, 60, 40, 30, 24, 20]);

    let numbers: Vec<i32> = (0..72).map(|i| (i * 7919 % 4001 - 1500) << (i % 7)).collect();
    let divisors: Vec<i32> = (0..72).map(|i| [3, 0, 70, -4, 1, 999, 12][i % 7] + i as i32).collect();
    let channel =
        |i: usize| [(1, 1, 0, 0), (-256, 3, 1 << 20, 4), (7, 1 << 31, 5, 31), (0, 77, -1, 66)][i % 4];
    // Rows of 12 and of 18 numbers, whatever the rows of a and of the divisors.
    for (count, parts) in [(12, [1, 2, 3, 4, 6, 12].as_slice()), (18, &[1, 2, 9, 18])] {
        let rows = 72 / count;
        let channels: Vec<Channel> = (0..count).map(channel).collect();
        for &part in parts {
            let all = rows * part;
            for (dims, a) in [([1, all], [1, 72]), ([part, rows], [8, 9])] {
                let [dims, a] = [dims, a].map(|dims| dims.map(|dim| dim as u32));
                let channels = if part % 2 == 0 { &channels[..] } else { &channels[1..2] };
                quotients(50, count, (&a, &numbers), (&dims, &divisors[..all]), channels);
            }
        }
    }
}

#[test]
fn structure() {
    let right = planes(1, &[3, 8], &[3, 4], 4, &[3]);
    let without = OneStep { k: 0, operands: right.operands[..2].to_vec(), ..right.clone() };
    for given in [
        right.clone(),
        without.clone(),
        OneStep { k: u32::MAX, ..right.clone() },
        // The elements count, whatever their dims.
        right.with(0, plain(S32, &[12])),
        right.with(0, plain(S32, &[2, 6])),
        right.with(2, plain(S32, &[3, 1])),
        right.with(2, plain(S32, &[1, 3, 1])),
        right.with(1, weights(CHANNEL, &[1])),
        OneStep { dims: vec![1, 3, 8], ..right.clone() },
        // Two divisors a row, or one a number, with rows of their own.
        right.with(2, plain(S32, &[6])),
        right.with(2, plain(S32, &[3, 2])),
        right.with(2, plain(S32, &[2, 3, 1])),
        right.with(2, plain(S32, &[3, 4])),
        right.with(2, plain(S32, &[2, 6])),
        planes(1, &[3, 12], &[3, 6], 6, &[9]),
        planes(1, &[12], &[6], 1, &[3]),
        planes(1, &[3, 2], &[3], 1, &[3]),
        planes(7, &[24], &[3, 4], 1, &[1]),
        planes(7, &[12, 2], &[3, 4], 1, &[2, 6]),
    ] {
        assert_eq!(given.version(), Some(2));
    }
    for (why, wrong) in [
        ("3 factors of 12 numbers", OneStep { k: 0, ..right.clone() }),
        ("k without divisors", OneStep { k: 1, ..without }),
        ("a divisor too few", right.with(2, plain(S32, &[2]))),
        ("a divisor too many", right.with(2, plain(S32, &[4]))),
        ("3 divisors for 4 numbers of a row", right.with(2, plain(S32, &[9]))),
        ("8 divisors for 4 numbers of a row", right.with(2, plain(S32, &[24]))),
        ("8 divisors of 3 rows", right.with(2, plain(S32, &[8]))),
        ("10 divisors of 3 rows", right.with(2, plain(S32, &[10]))),
        ("4 divisors for 6 numbers of a row", planes(1, &[3, 12], &[3, 6], 6, &[12])),
        ("as many divisors as bytes", planes(1, &[12], &[6], 1, &[12])),
        ("divisors of a's rows", planes(1, &[3, 8], &[2, 6], 4, &[2])),
        ("divisors of bytes", right.with(2, plain(U8, &[3]))),
        ("divisors of s8", right.with(2, plain(S8, &[3]))),
        ("divisors of f32", right.with(2, plain(F32, &[3]))),
        ("divisors of bool", right.with(2, plain(BOOL, &[3]))),
        ("divisors in no plain tensor", right.with(2, weights(CHANNEL, &[3]))),
        ("3 channels for 4 numbers", right.with(1, weights(CHANNEL, &[3]))),
        ("a of bytes", right.with(0, plain(U8, &[3, 4]))),
        ("an output of s32", OneStep { head: [6, 2, S32], ..right.clone() }),
        ("half a number", planes(1, &[8, 3], &[3, 4], 1, &[8])),
        ("a row less", planes(1, &[2, 8], &[3, 4], 4, &[2])),
    ] {
        assert!(!wrong.is_taken(), "{why}");
    }
    // Channels and ratios have no c.
    let numbers = OneStep { dims: vec![3, 4], ..right.clone() };
    for k in [0, 1] {
        assert!(!OneStep { head: [6, 0, S32], k, ..numbers.clone() }.is_taken());
        let ratio = OneStep { head: [6, 1, S32], k, ..numbers.clone() };
        assert!(!ratio.with(1, plain(S32, &[3])).is_taken());
        // A ratio's rows have one divisor each.
        let of = |count| [plain(S32, &[3, 4]), plain(S32, &[count])].to_vec();
        let taken = [3, 6, 12].map(|count| OneStep { operands: of(count), ..ratio.clone() }.is_taken());
        assert_eq!(taken, [k == 1, false, false]);
    }
    for operands in [[WEIGHT, WEIGHT + 1, 0], [WEIGHT, WEIGHT + 1, WEIGHT + 3], [WEIGHT, NONE, WEIGHT + 2]] {
        assert!(Program::read(&right.reading(operands)).is_err());
    }
}
