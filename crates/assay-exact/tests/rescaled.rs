//! DOT rescaled: sums of numbers of 16 bits by the parameters of their rows, and what is added to them
//! (docs/EXACT.md, section 3).
mod support;
use assay_exact::program::Program;
use support::builder::{dot_row, parameters, plain, weights, BOOL, F32, NONE, S32, U8, WEIGHT};
use support::one_step::{stored, OneStep};

const S8: u8 = 1;
const DOT: u8 = 2;
const CHANNEL: u8 = 4;

/// Bytes, M, B, S and the upper clamp of a weight row with a bias and an offset.
#[derive(Clone)]
struct Row {
    bytes: Vec<u8>,
    bias: i32,
    m: u32,
    b: i64,
    s: u8,
    offset: u16,
    upper: u8,
}

impl Row {
    fn stored(&self) -> Vec<u8> {
        let mut word = parameters(self.bias, self.m, self.b, self.s, self.offset);
        word[23] = self.upper;
        dot_row(&self.bytes, word)
    }

    fn by_definition(&self, numbers: &[u32], addend: i32) -> i32 {
        let pairs = numbers.iter().zip(&self.bytes);
        let sum: i128 = pairs.map(|(&u, &w)| i128::from(u) * (i128::from(w) - i128::from(self.offset))).sum();
        let acc = (sum + i128::from(self.bias)) as i32;
        let v = (i128::from(acc) * i128::from(self.m) + i128::from(self.b)) as i64 >> (self.s % 64);
        let limit = 1i128 << (self.upper % 32);
        (i128::from(v).max(-limit).min(limit - 1) + i128::from(addend)) as i32
    }
}

/// A row of one weight 1 that leaves a number as it is, up to the clamp.
const ONE: Row = Row { bytes: Vec::new(), bias: 0, m: 1, b: 0, s: 0, offset: 0, upper: 31 };

fn rescaled(element_type: u8, dims: &[u32], k: u32, groups: u32) -> OneStep {
    let n = dims[dims.len() - 1];
    let rows = dims.iter().product::<u32>() / n * groups;
    let operands = vec![plain(U8, &[rows, 2 * k]), weights(DOT, &[n, k])];
    OneStep { head: [4, 5, element_type], k: groups, dims: dims.to_vec(), operands }
}

/// The output's numbers, which are those of the definition.
fn products(dims: &[u32], numbers: &[u32], groups: u32, rows: &[Row], addends: Option<&[i32]>) -> Vec<i32> {
    let (k, n) = (rows[0].bytes.len(), rows.len());
    let mut step = rescaled(S32, dims, k as u32, groups);
    let planes = |row: &[u32]| -> Vec<u8> {
        row.iter().map(|u| u / 256).chain(row.iter().map(|u| u % 256)).map(|byte| byte as u8).collect()
    };
    let mut tensors = vec![numbers.chunks(k).flat_map(planes).collect(), Vec::new()];
    tensors[1] = rows.iter().flat_map(Row::stored).collect();
    if let Some(addends) = addends {
        step = step.with(2, plain(S32, dims));
        tensors.push(stored(addends));
    }
    let row_of = |index: usize| index / n * groups as usize + index % n * groups as usize / n;
    let elements = step.computed(&tensors, |weights, index| {
        let mut openings = vec![weights.row(0, row_of(index)), weights.row(1, index % n)];
        if addends.is_some() {
            openings.push(weights.word(2, index / n, 4 * (index % n)));
        }
        openings
    });
    let expected: Vec<i32> = (0..elements.len())
        .map(|index| {
            let addend = addends.map_or(0, |addends| addends[index]);
            rows[index % n].by_definition(&numbers[k * row_of(index)..][..k], addend)
        })
        .collect();
    let found: Vec<i32> = elements.iter().map(|&x| x as i32).collect();
    assert_eq!(found, expected, "dims {dims:?}, rows of {k}, {groups} groups");
    found
}

/// What one number gives by a row of the weight 1, and an addend.
fn one(number: u32, row: Row, addend: i32) -> i32 {
    products(&[1, 1], &[number], 1, &[Row { bytes: vec![1], ..row }], Some(&[addend]))[0]
}

#[test]
fn an_addend_is_not_rescaled_or_clamped() {
    let row = Row { m: 3, b: 1, s: 1, upper: 4, ..ONE };
    // (5 · 3 + 1) / 2 = 8, and 12 · 3 / 2 is clamped to 15.
    assert_eq!(one(5, row.clone(), 100), 108);
    assert_eq!(one(12, row.clone(), 100), 115);
    assert_eq!(one(12, row.clone(), -20), -5);
    assert_eq!(one(0, Row { bias: -100, ..row.clone() }, 0), -16);
    assert_eq!(one(0, Row { bias: -100, ..row }, 1000), 984);
}

#[test]
fn a_sum_wraps_at_both_ends() {
    let most = Row { bias: i32::MAX, ..ONE };
    assert_eq!(one(0, most.clone(), 0), i32::MAX);
    assert_eq!(one(0, most.clone(), 1), i32::MIN);
    assert_eq!(one(0, most, i32::MAX), -2);
    let least = Row { bias: i32::MIN, ..ONE };
    assert_eq!(one(0, least.clone(), -1), i32::MAX);
    assert_eq!(one(0, least, i32::MIN), 0);
    assert_eq!(one(1, Row { upper: 15, ..ONE }, i32::MAX), i32::MIN);
    // A clamp of 0 bits leaves 0 and -1.
    assert_eq!(one(9, Row { upper: 32, ..ONE }, i32::MIN), i32::MIN);
    assert_eq!(one(0, Row { bias: -9, upper: 0, ..ONE }, i32::MIN), i32::MAX);
}

#[test]
fn each_element_has_its_addend() {
    let row = |n: usize, k: usize| Row {
        bytes: (0..k).map(|i| (i * 97 + n * 31) as u8).collect(),
        bias: [0, i32::MAX, i32::MIN, -9][n % 4],
        m: [1, u32::MAX, 1 << 20, 77][n % 4],
        b: [0, i64::MIN, 1 << 40, -5][n % 4],
        s: [20, 65, 31, 255][n % 4],
        offset: [128, 0, 65_535, 131][n % 4],
        upper: [15, 31, 63, 40][n % 4],
    };
    for (dims, k) in [(&[3, 4][..], 1), (&[12], 33), (&[2, 1, 4], 5), (&[2, 2, 12], 64), (&[1, 4], 2016)] {
        let n = dims[dims.len() - 1] as usize;
        let count = dims.iter().product::<u32>() as usize;
        let rows: Vec<Row> = (0..n).map(|n| row(n, k)).collect();
        let addends: Vec<i32> = (0..count as i32).map(|i| (i + 1).wrapping_mul(0x3fff_ff77)).collect();
        for groups in [1, 2, 4] {
            let length = count / n * groups * k;
            let numbers: Vec<u32> = (0..length).map(|i| (i * 40_503 % 65_536) as u32).collect();
            products(dims, &numbers, groups as u32, &rows, Some(&addends));
            products(dims, &numbers, groups as u32, &rows, None);
        }
    }
}

#[test]
fn structure() {
    let bytes = rescaled(U8, &[2, 3, 4], 5, 2);
    let right = rescaled(S32, &[2, 3, 4], 5, 2).with(2, plain(S32, &[2, 3, 4]));
    for element_type in [U8, S8, S32] {
        let given = OneStep { head: [4, 5, element_type], ..bytes.clone() };
        assert_eq!(given.version(), Some(2));
    }
    assert_eq!(right.version(), Some(2));
    for (why, wrong) in [
        ("c of an output of u8", bytes.with(2, plain(S32, &[2, 3, 4]))),
        ("c of an output of s8", OneStep { head: [4, 5, S8], ..right.clone() }),
        ("c of bytes", right.with(2, plain(U8, &[2, 3, 4]))),
        ("c of f32", right.with(2, plain(F32, &[2, 3, 4]))),
        ("c of bool", right.with(2, plain(BOOL, &[2, 3, 4]))),
        ("c of one row", right.with(2, plain(S32, &[4]))),
        ("c of other dims", right.with(2, plain(S32, &[6, 4]))),
        ("c of a higher rank", right.with(2, plain(S32, &[1, 2, 3, 4]))),
        ("c of as many elements", right.with(2, plain(S32, &[3, 2, 4]))),
        ("c that is no plain tensor", right.with(2, weights(CHANNEL, &[24]))),
        ("c of planes", OneStep { head: [4, 4, S32], ..right.clone() }),
        ("an output of f32", OneStep { head: [4, 5, F32], ..right.clone() }),
    ] {
        assert!(!wrong.is_taken(), "{why}");
    }
    // Of sums of bytes neither.
    let of_bytes = right.with(0, plain(U8, &[12, 5]));
    for variant in 0..3 {
        let head = [4, variant, if variant == 0 { S32 } else { U8 }];
        assert!(!OneStep { head, ..of_bytes.clone() }.is_taken());
        let operands = of_bytes.operands[..2].to_vec();
        assert!(OneStep { head, operands, ..of_bytes.clone() }.is_taken());
    }
    for operands in [[WEIGHT, WEIGHT + 1, 0], [WEIGHT, WEIGHT + 1, WEIGHT + 3], [WEIGHT, NONE, WEIGHT + 2]] {
        assert!(Program::read(&right.reading(operands)).is_err());
    }
}
