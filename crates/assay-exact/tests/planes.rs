//! Numbers of 16 bits as two planes of bytes: RESCALE planes and DOT planes (docs/EXACT.md, section 3).
mod support;
use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::ids::judge_version;
use assay_exact::openings::{judge, Opening, Roots};
use assay_exact::program::Program;
use assay_exact::tree::weights_root;
use support::builder::{dot_row, parameters, plain, program, record, weights, NONE, S32, U8, WEIGHT};
use support::opened::Committed;

const RAW: [u8; 2] = [4, 3];
const S8: u8 = 1;
const DOT: u8 = 2;
const CHANNEL: u8 = 4;
const EDGES: [i32; 12] = [0, 1, -1, 255, 256, 257, 32_767, 65_535, 65_536, 65_537, i32::MAX, i32::MIN];

/// One step over two weight tensors: its head, k and dims, and the descriptors.
#[derive(Clone)]
struct Given {
    head: [u8; 3],
    k: u32,
    dims: Vec<u32>,
    a: [u8; 32],
    b: [u8; 32],
}

impl Given {
    fn bytes(&self) -> Vec<u8> {
        let mut step = record(self.head, [WEIGHT, WEIGHT + 1, NONE], &self.dims);
        step[10..14].copy_from_slice(&self.k.to_be_bytes());
        program(RAW, 1, &[self.a, self.b], &[step])
    }

    /// The step's tensor. Each of its elements is judged as well, from what `reads` opens of the weights.
    fn computed(&self, stored: &[Vec<u8>; 2], reads: impl Fn(&Committed, usize) -> Vec<Opening>) -> Vec<u8> {
        let program = Program::read(&self.bytes()).unwrap();
        let bin = stored.concat();
        let tensors = split_weights(&program, &bin).unwrap();
        let mut calldata = vec![0; 100];
        [calldata[35], calldata[67]] = [32, 1];
        let input = Input::read(&program, [0; 4], &calldata).unwrap();
        let run = run(&program, &tensors, &input).unwrap();
        let roots = Roots { weights: weights_root(&program, &tensors), trace: run.trace_root() };
        let of_weights = Committed(program.weights.iter().copied().zip(tensors.iter().copied()).collect());
        let form = program.steps[0].form;
        let of_trace = Committed(vec![(form, &run.tensors[0])]);
        let size = form.element_type.size();
        for index in 0..form.dims.count() {
            let (row, byte) = (size * index / form.row_bytes(), size * index % form.row_bytes());
            let mut openings = vec![of_trace.word(0, row, byte)];
            openings.extend(reads(&of_weights, index));
            let word =
                run.tensors[0][size * index..][..size].iter().fold(0, |all, &x| all << 8 | u32::from(x));
            assert_eq!(judge(&program, roots, 0, index, &openings), Ok((word, word)), "element {index}");
            assert!(judge(&program, roots, 0, index, &openings[..2]).is_err());
            openings.swap(1, 2);
            assert!(judge(&program, roots, 0, index, &openings).is_err());
        }
        run.tensors.concat()
    }
}

fn rescale_planes(rows: u32, k: u32, n: u32) -> Given {
    let dims = vec![rows, 2 * k];
    Given { head: [6, 2, U8], k: 0, dims, a: plain(S32, &[rows, k]), b: weights(CHANNEL, &[n]) }
}

/// Rows of the output, numbers in a row of a, weight rows and groups.
fn dot_planes(rows: u32, k: u32, n: u32, groups: u32) -> Given {
    let a = plain(U8, &[rows * groups, 2 * k]);
    Given { head: [4, 4, S32], k: groups, dims: vec![rows, n], a, b: weights(DOT, &[n, k]) }
}

type Channel = (i32, u32, i64, u8);
const SAME: Channel = (0, 1, 0, 0);

/// The numbers of 16 bits that RESCALE planes makes of rows of k numbers.
fn rescaled(numbers: &[i32], k: usize, channels: &[Channel]) -> Vec<u32> {
    rescaled_of(numbers, k, k, channels)
}

/// The same of an operand a with rows of `last`.
fn rescaled_of(numbers: &[i32], last: usize, k: usize, channels: &[Channel]) -> Vec<u32> {
    let given = Given {
        a: plain(S32, &[(numbers.len() / last) as u32, last as u32]),
        ..rescale_planes((numbers.len() / k) as u32, k as u32, channels.len() as u32)
    };
    let a = numbers.iter().flat_map(|x| x.to_be_bytes()).collect();
    let b = channels.iter().flat_map(|&(bias, m, b, s)| parameters(bias, m, b, s, 0)).collect();
    let n = channels.len();
    let bytes = given.computed(&[a, b], |weights, index| {
        let (row, column) = (index / (2 * k), index % k);
        let at = row * k + column;
        vec![weights.word(0, at / last, 4 * (at % last)), weights.row(1, if n == 1 { 0 } else { column })]
    });
    let joined = |row: &[u8]| -> Vec<u32> {
        (0..k).map(|i| 256 * u32::from(row[i]) + u32::from(row[k + i])).collect()
    };
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
    let bytes = given.computed(&[a, b], |weights, index| {
        let (m, row) = (index / n, index % n);
        vec![weights.row(0, m * groups + row * groups / n), weights.row(1, row)]
    });
    let found: Vec<i32> = bytes.chunks(4).map(|x| i32::from_be_bytes(x.try_into().unwrap())).collect();
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

fn is_taken(given: &Given) -> bool {
    Program::read(&given.bytes()).is_ok()
}

#[test]
fn structure_of_rescale_planes() {
    for n in [1, 4] {
        let program = Program::read(&rescale_planes(3, 4, n).bytes()).unwrap();
        assert_eq!(judge_version(&program), 2);
    }
    let right = rescale_planes(3, 4, 4);
    // The elements count, whatever their dims.
    assert!(is_taken(&Given { a: plain(S32, &[3, 1, 4]), ..right.clone() }));
    assert!(is_taken(&Given { a: plain(S32, &[2, 6]), ..right.clone() }));
    assert!(is_taken(&Given { dims: vec![24], ..rescale_planes(3, 4, 1) }));
    assert!(is_taken(&Given { dims: vec![1, 3, 8], ..right.clone() }));
    for (why, wrong) in [
        ("3 channels for 4 numbers", rescale_planes(3, 4, 3)),
        ("as many channels as bytes", rescale_planes(3, 4, 8)),
        ("a k", Given { k: 1, ..right.clone() }),
        ("an output of s8", Given { head: [6, 2, S8], ..right.clone() }),
        ("an output of s32", Given { head: [6, 2, S32], ..right.clone() }),
        ("a of bytes", Given { a: plain(U8, &[3, 4]), ..right.clone() }),
        ("one plane", Given { dims: vec![3, 4], ..right.clone() }),
        ("half a row more", Given { dims: vec![3, 12], ..right.clone() }),
        ("a row less", Given { dims: vec![2, 8], ..right.clone() }),
        ("channels of other rows", Given { dims: vec![6, 4], ..right.clone() }),
        ("half a number", Given { dims: vec![8, 3], ..rescale_planes(3, 4, 1) }),
        ("plain parameters", Given { b: plain(U8, &[4]), ..right.clone() }),
        ("variant 3", Given { head: [6, 3, U8], ..right.clone() }),
    ] {
        assert!(!is_taken(&wrong), "{why}");
    }
}

#[test]
fn structure_of_dot_planes() {
    for groups in [1, 2, 4] {
        let program = Program::read(&dot_planes(3, 5, 4, groups).bytes()).unwrap();
        assert_eq!(judge_version(&program), 2);
    }
    assert!(is_taken(&dot_planes(1, 2016, 1, 1)));
    let right = dot_planes(3, 5, 4, 2);
    let bytes = Given { head: [4, 0, S32], a: plain(U8, &[6, 5]), ..right.clone() };
    assert_eq!(judge_version(&Program::read(&bytes.bytes()).unwrap()), 1);
    for (why, wrong) in [
        ("a of s8", Given { a: plain(S8, &[6, 10]), ..right.clone() }),
        ("a of s32", Given { a: plain(S32, &[6, 10]), ..right.clone() }),
        ("one plane", Given { a: plain(U8, &[6, 5]), ..right.clone() }),
        ("a byte more", Given { a: plain(U8, &[6, 11]), ..right.clone() }),
        ("2,017 numbers", dot_planes(1, 2017, 1, 1)),
        ("no groups", Given { k: 0, ..right.clone() }),
        ("3 groups of 4 rows", dot_planes(3, 5, 4, 3)),
        ("rows of one group", Given { k: 1, ..right.clone() }),
        ("an output of u8", Given { head: [4, 4, U8], ..right.clone() }),
        ("another last dim", Given { dims: vec![3, 5], ..right.clone() }),
        ("plain weights", Given { b: plain(U8, &[4, 5]), ..right.clone() }),
        ("planes by variant 0", Given { head: [4, 0, S32], ..right.clone() }),
        ("variant 6", Given { head: [4, 6, S32], ..right.clone() }),
    ] {
        assert!(!is_taken(&wrong), "{why}");
    }
    let mut bytes = right.bytes();
    bytes[32 + 64 + 8..32 + 64 + 10].copy_from_slice(&WEIGHT.to_be_bytes());
    assert!(Program::read(&bytes).is_err(), "an operand c");
}
