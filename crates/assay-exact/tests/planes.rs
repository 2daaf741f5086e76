//! Numbers of 16 bits as two planes of bytes: RESCALE planes and DOT planes (docs/EXACT.md, section 3).
mod support;
use assay_exact::program::Program;
use support::builder::{dot_row, parameters, plain, weights, S32, U8, WEIGHT};
use support::one_step::{stored, OneStep};

const S8: u8 = 1;
const DOT: u8 = 2;
const CHANNEL: u8 = 4;
const EDGES: [i32; 12] = [0, 1, -1, 255, 256, 257, 32_767, 65_535, 65_536, 65_537, i32::MAX, i32::MIN];

fn rescale_planes(rows: u32, k: u32, n: u32) -> OneStep {
    let operands = vec![plain(S32, &[rows, k]), weights(CHANNEL, &[n])];
    OneStep { head: [6, 2, U8], k: 0, dims: vec![rows, 2 * k], operands }
}

/// Rows of the output, numbers in a row of a, weight rows and groups.
fn dot_planes(rows: u32, k: u32, n: u32, groups: u32) -> OneStep {
    let operands = vec![plain(U8, &[rows * groups, 2 * k]), weights(DOT, &[n, k])];
    OneStep { head: [4, 4, S32], k: groups, dims: vec![rows, n], operands }
}

type Channel = (i32, u32, i64, u8);
const SAME: Channel = (0, 1, 0, 0);

/// The numbers of 16 bits that RESCALE planes makes of rows of k numbers.
fn rescaled(numbers: &[i32], k: usize, channels: &[Channel]) -> Vec<u32> {
    rescaled_of(numbers, k, k, channels)
}

/// The same of an operand a with rows of `last`.
fn rescaled_of(numbers: &[i32], last: usize, k: usize, channels: &[Channel]) -> Vec<u32> {
    let given = rescale_planes((numbers.len() / k) as u32, k as u32, channels.len() as u32)
        .with(0, plain(S32, &[(numbers.len() / last) as u32, last as u32]));
    let b = channels.iter().flat_map(|&(bias, m, b, s)| parameters(bias, m, b, s, 0)).collect();
    let n = channels.len();
    let bytes = given.computed(&[stored(numbers), b], |weights, index| {
        let (row, column) = (index / (2 * k), index % k);
        let at = row * k + column;
        vec![weights.word(0, at / last, 4 * (at % last)), weights.row(1, if n == 1 { 0 } else { column })]
    });
    let joined = |row: &[u32]| -> Vec<u32> { (0..k).map(|i| 256 * row[i] + row[k + i]).collect() };
    bytes.chunks(2 * k).flat_map(joined).collect()
}

#[test]
fn numbers_are_clamped_to_16_bits() {
    let expected = [0, 1, 0, 255, 256, 257, 32_767, 65_535, 65_535, 65_535, 65_535, 0];
    for k in [1, 3, 4, 12] {
        assert_eq!(rescaled(&EDGES, k, &[SAME]), expected, "rows of {k}");
        assert_eq!(rescaled(&EDGES, k, &vec![SAME; k]), expected, "rows of {k}");
        for last in [1, 2, 6, 12] {
            assert_eq!(rescaled_of(&EDGES, last, k, &vec![SAME; k]), expected, "rows of {k} in {last}");
        }
    }
}

#[test]
fn each_channel_has_its_parameters() {
    let channels = [
        (1, 1, 0, 0),
        (-256, 3, 1 << 20, 4),
        (i32::MIN, u32::MAX, i64::MIN, 65),
        (7, 1 << 31, i64::MAX, 255),
        (0, 1 << 20, 1 << 19, 20),
    ];
    let numbers: Vec<i32> = (0..60).map(|i| EDGES[i * 7 % 12].wrapping_add(i as i32)).collect();
    let by_definition = |x: i32, (bias, m, b, s): Channel| {
        let acc = i128::from(x.wrapping_add(bias));
        let sum = (acc * i128::from(m) + i128::from(b)) as i64;
        (sum >> (s % 64)) as i32
    };
    let clamped = |v: i32| v.clamp(0, 65_535) as u32;
    let expected: Vec<u32> =
        numbers.iter().enumerate().map(|(i, &x)| clamped(by_definition(x, channels[i % 5]))).collect();
    assert_eq!(rescaled(&numbers, 5, &channels), expected);
    for channel in channels {
        let expected: Vec<u32> = numbers.iter().map(|&x| clamped(by_definition(x, channel))).collect();
        assert_eq!(rescaled(&numbers, 5, &[channel]), expected);
    }
    // The sum with the bias wraps, and so does the low half of the quotient.
    assert_eq!(rescaled(&[i32::MAX, i32::MIN], 2, &[(1, 1, 0, 0)]), [0, 0]);
    assert_eq!(rescaled(&[i32::MIN, 0], 2, &[(-1, 1, 0, 0)]), [65_535, 0]);
    assert_eq!(rescaled(&[0, 3], 2, &[(0, 1, (1 << 32) + 5, 0)]), [5, 8]);
}

/// What DOT planes makes of numbers of 16 bits, as signed numbers. `channels` are bias′ and o of each weight row.
fn products(numbers: &[u32], k: usize, groups: usize, rows: &[Vec<u8>], channels: &[(i32, u16)]) -> Vec<i32> {
    let (count, n) = (numbers.len() / k / groups, rows.len());
    let given = dot_planes(count as u32, k as u32, n as u32, groups as u32);
    let planes = |row: &[u32]| -> Vec<u8> {
        row.iter().map(|u| u / 256).chain(row.iter().map(|u| u % 256)).map(|byte| byte as u8).collect()
    };
    let a = numbers.chunks(k).flat_map(planes).collect();
    let words = channels.iter().map(|&(bias, offset)| parameters(bias, 0, 0, 0, offset));
    let b = rows.iter().zip(words).flat_map(|(row, word)| dot_row(row, word)).collect();
    let elements = given.computed(&[a, b], |weights, index| {
        let (m, row) = (index / n, index % n);
        vec![weights.row(0, m * groups + row * groups / n), weights.row(1, row)]
    });
    let found: Vec<i32> = elements.iter().map(|&x| x as i32).collect();
    let expected = (0..count * n).map(|index| {
        let (m, row) = (index / n, index % n);
        let start = (m * groups + row * groups / n) * k;
        let (bias, offset) = channels[row];
        let pairs = numbers[start..start + k].iter().zip(&rows[row]);
        let sum: i128 = pairs.map(|(&u, &w)| i128::from(u) * (i128::from(w) - i128::from(offset))).sum();
        (sum + i128::from(bias)) as i32
    });
    assert_eq!(found, expected.collect::<Vec<_>>(), "rows of {k}, {n} weight rows, {groups} groups");
    found
}

#[test]
fn products_of_16_bits() {
    assert_eq!(products(&[0, 255, 256, 65_535], 4, 1, &[vec![1, 10, 100, 0]], &[(5, 0)]), [28_155]);
    assert_eq!(products(&[258], 1, 1, &[vec![3]], &[(0, 1)]), [516]);
    assert_eq!(products(&[65_535], 1, 1, &[vec![0]], &[(0, 65_535)]), [131_071]);
    // Sums of two rows of the output, four weight rows, one to four groups.
    for k in [1, 31, 32, 33, 64, 992, 2016] {
        for groups in [1, 2, 4] {
            let numbers: Vec<u32> = (0..2 * groups * k).map(|i| (i * 40_503 % 65_536) as u32).collect();
            let rows: Vec<Vec<u8>> =
                (0..4).map(|n| (0..k).map(|i| (i * 97 + n * 31) as u8).collect()).collect();
            let channels = [(0, 128), (i32::MAX, 0), (i32::MIN, 65_535), (-9, 131)];
            products(&numbers, k, groups, &rows, &channels);
        }
    }
    // 2,016 · 65,535 · 255 is far beyond s32.
    let largest = products(&vec![65_535; 2016], 2016, 1, &[vec![255; 2016]], &[(0, 0)]);
    assert_eq!(largest, [(2016i64 * 65_535 * 255) as i32]);
}

#[test]
fn structure_of_rescale_planes() {
    for n in [1, 4] {
        assert_eq!(rescale_planes(3, 4, n).version(), Some(2));
    }
    let right = rescale_planes(3, 4, 4);
    // The elements count, whatever their dims.
    assert!(right.with(0, plain(S32, &[3, 1, 4])).is_taken());
    assert!(right.with(0, plain(S32, &[2, 6])).is_taken());
    assert!(OneStep { dims: vec![24], ..rescale_planes(3, 4, 1) }.is_taken());
    assert!(OneStep { dims: vec![1, 3, 8], ..right.clone() }.is_taken());
    for (why, wrong) in [
        ("3 channels for 4 numbers", rescale_planes(3, 4, 3)),
        ("as many channels as bytes", rescale_planes(3, 4, 8)),
        ("a k", OneStep { k: 1, ..right.clone() }),
        ("an output of s8", OneStep { head: [6, 2, S8], ..right.clone() }),
        ("an output of s32", OneStep { head: [6, 2, S32], ..right.clone() }),
        ("a of bytes", right.with(0, plain(U8, &[3, 4]))),
        ("one plane", OneStep { dims: vec![3, 4], ..right.clone() }),
        ("half a row more", OneStep { dims: vec![3, 12], ..right.clone() }),
        ("a row less", OneStep { dims: vec![2, 8], ..right.clone() }),
        ("channels of other rows", OneStep { dims: vec![6, 4], ..right.clone() }),
        ("half a number", OneStep { dims: vec![8, 3], ..rescale_planes(3, 4, 1) }),
        ("plain parameters", right.with(1, plain(U8, &[4]))),
        ("variant 3", OneStep { head: [6, 3, U8], ..right.clone() }),
    ] {
        assert!(!wrong.is_taken(), "{why}");
    }
}

#[test]
fn structure_of_dot_planes() {
    for groups in [1, 2, 4] {
        assert_eq!(dot_planes(3, 5, 4, groups).version(), Some(2));
    }
    assert!(dot_planes(1, 2016, 1, 1).is_taken());
    let right = dot_planes(3, 5, 4, 2);
    let bytes = OneStep { head: [4, 0, S32], ..right.with(0, plain(U8, &[6, 5])) };
    assert_eq!(bytes.version(), Some(1));
    for (why, wrong) in [
        ("a of s8", right.with(0, plain(S8, &[6, 10]))),
        ("a of s32", right.with(0, plain(S32, &[6, 10]))),
        ("one plane", right.with(0, plain(U8, &[6, 5]))),
        ("a byte more", right.with(0, plain(U8, &[6, 11]))),
        ("2,017 numbers", dot_planes(1, 2017, 1, 1)),
        ("no groups", OneStep { k: 0, ..right.clone() }),
        ("3 groups of 4 rows", dot_planes(3, 5, 4, 3)),
        ("rows of one group", OneStep { k: 1, ..right.clone() }),
        ("an output of u8", OneStep { head: [4, 4, U8], ..right.clone() }),
        ("another last dim", OneStep { dims: vec![3, 5], ..right.clone() }),
        ("plain weights", right.with(1, plain(U8, &[4, 5]))),
        ("planes by variant 0", OneStep { head: [4, 0, S32], ..right.clone() }),
        ("variant 6", OneStep { head: [4, 6, S32], ..right.clone() }),
    ] {
        assert!(!wrong.is_taken(), "{why}");
    }
    let mut bytes = right.bytes();
    bytes[32 + 64 + 8..32 + 64 + 10].copy_from_slice(&WEIGHT.to_be_bytes());
    assert!(Program::read(&bytes).is_err(), "an operand c");
}
