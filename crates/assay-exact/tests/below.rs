//! LOOKUP below: elements of a table by how far numbers are below the largest of their row (docs/EXACT.md, section 3).
mod support;
use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::openings::{judge, Opening, Roots};
use assay_exact::program::Program;
use assay_exact::tree::weights_root;
use support::builder::{plain, weights, BOOL, F32, S32, U8, WEIGHT};
use support::one_step::OneStep;
use support::opened::Committed;

const S8: u8 = 1;
const LOOKUP: u8 = 3;
const DOT: u8 = 2;

fn below(element_type: u8, dims: &[u32], v: u32, mask: Option<&[u32]>) -> OneStep {
    let mut operands = vec![plain(S32, dims), plain(element_type, &[v, 1])];
    operands.extend(mask.map(|dims| plain(BOOL, dims)));
    OneStep { head: [LOOKUP, 3, element_type], k: 0, dims: dims.to_vec(), operands }
}

/// A mask's dims and bytes.
type Mask<'m> = (&'m [u32], &'m [u8]);

/// The number of the mask's byte at an index of the output: each axis by itself.
fn place_in_mask(index: usize, dims: &[u32], mask: &[u32]) -> usize {
    let (mut rest, mut on_axes) = (index, Vec::new());
    for &dim in dims.iter().rev() {
        on_axes.push(rest % dim as usize);
        rest /= dim as usize;
    }
    on_axes.reverse();
    let own = &on_axes[dims.len() - mask.len()..];
    own.iter().zip(mask).fold(0, |all, (&i, &dim)| all * dim as usize + if dim == 1 { 0 } else { i })
}

/// The stored elements. Each is judged as well, and all of them are those of the definition.
fn looked_up(
    element_type: u8,
    dims: &[u32],
    numbers: &[i32],
    table: &[u8],
    mask: Option<Mask<'_>>,
) -> Vec<Vec<u8>> {
    let size = if matches!(element_type, S32 | F32) { 4 } else { 1 };
    let (length, v) = (dims[dims.len() - 1] as usize, table.len() / size);
    let given = below(element_type, dims, v as u32, mask.map(|(dims, _)| dims));
    let counts = |index| mask.is_none_or(|(own, bytes)| bytes[place_in_mask(index, dims, own)] != 0);
    // How far each place's number is below the largest, if the place counts.
    let distance = |index: usize| {
        let row = index / length * length..index / length * length + length;
        let largest = row.filter(|&i| counts(i)).map(|i| i128::from(numbers[i])).max();
        largest.filter(|_| counts(index)).map(|largest| largest - i128::from(numbers[index]))
    };
    let source = |index| distance(index).map(|far| far.min(v as i128 - 1) as usize);
    let zero = if element_type == S8 { vec![128] } else { vec![0; size] };
    let expected: Vec<Vec<u8>> = (0..numbers.len())
        .map(|index| source(index).map_or(zero.clone(), |at| table[size * at..][..size].to_vec()))
        .collect();

    let program = Program::read(&given.bytes()).unwrap();
    let bin: Vec<u8> = numbers.iter().flat_map(|x| x.to_be_bytes()).chain(table.iter().copied()).collect();
    let bin = [bin, mask.map_or(Vec::new(), |(_, bytes)| bytes.to_vec())].concat();
    let tensors = split_weights(&program, &bin).unwrap();
    let mut calldata = vec![0; 100];
    [calldata[35], calldata[67]] = [32, 1];
    let run = run(&program, &tensors, &Input::read(&program, [0; 4], &calldata).unwrap()).unwrap();
    assert_eq!(run.tensors[0], expected.concat(), "dims {dims:?}, a table of {v}, mask {mask:?}");

    let roots = Roots { weights: weights_root(&program, &tensors), trace: run.trace_root() };
    let of_weights = Committed(program.weights.iter().copied().zip(tensors.iter().copied()).collect());
    let of_trace = Committed(vec![(program.steps[0].form, &run.tensors[0])]);
    // Of long rows not each element: every one opens two of them.
    for index in (0..numbers.len()).step_by(1 + numbers.len() / 64) {
        let mut openings = vec![of_trace.word(0, index / length, size * (index % length))];
        openings.push(of_weights.row(0, index / length));
        if let Some((own, _)) = mask {
            openings.push(of_weights.row(2, place_in_mask(index, dims, own) / length));
        }
        if let Some(row) = source(index) {
            openings.push(of_weights.word(1, row, 0));
        }
        let stored = expected[index].iter().fold(0, |all, &x| all << 8 | u32::from(x));
        assert_eq!(judge(&program, roots, 0, index, &openings), Ok((stored, stored)), "element {index}");
        refuses_others(&program, roots, index, &openings, of_weights.word(1, 0, 0));
    }
    expected
}

/// Openings in another order, too few or too many.
fn refuses_others(program: &Program, roots: Roots, index: usize, openings: &[Opening], more: Opening) {
    let is_refused = |openings: &[Opening]| judge(program, roots, 0, index, openings).is_err();
    let last = openings.len() - 1;
    assert!(is_refused(&openings[..last]));
    assert!(is_refused(&[openings, &[more]].concat()));
    for i in 1..last {
        let mut swapped = openings.to_vec();
        swapped.swap(i, i + 1);
        assert!(is_refused(&swapped));
    }
}

/// The elements of a table of bytes.
fn bytes(dims: &[u32], numbers: &[i32], table: &[u8], mask: Option<Mask<'_>>) -> Vec<u8> {
    looked_up(U8, dims, numbers, table, mask).concat()
}

const TABLE: [u8; 5] = [100, 50, 25, 12, 6];

#[test]
fn by_how_far_below_the_largest_of_the_row() {
    let numbers = [3, 5, 4, 0, -1, -7, -2, -1];
    assert_eq!(bytes(&[2, 4], &numbers, &TABLE, None), [25, 100, 50, 6, 100, 6, 50, 100]);
    assert_eq!(bytes(&[8], &numbers, &TABLE, None), [25, 100, 50, 6, 6, 6, 6, 6]);
    // Rows of one number, and a table of one element.
    assert_eq!(bytes(&[8, 1], &numbers, &TABLE, None), [100; 8]);
    assert_eq!(bytes(&[2, 4], &numbers, &TABLE[..1], None), [100; 8]);
    // The last element of the table is that of every larger distance.
    assert_eq!(bytes(&[6], &[4, 1, 0, -1, -2, 3], &TABLE, None), [100, 12, 6, 6, 6, 50]);
}

#[test]
fn a_distance_has_up_to_32_bits() {
    let numbers = [i32::MAX, i32::MIN, 0, i32::MIN, -1, i32::MAX];
    assert_eq!(bytes(&[6], &numbers, &TABLE, None), [100, 6, 6, 6, 6, 100]);
    // 2^32 - 1 is no -1, and 2^31 no negative distance.
    assert_eq!(bytes(&[3, 2], &numbers, &TABLE, None), [100, 6, 100, 6, 6, 100]);
    assert_eq!(bytes(&[3], &[i32::MIN, i32::MIN + 2, i32::MIN], &TABLE, None), [25, 100, 25]);
}

#[test]
fn only_places_that_count_take_part() {
    let numbers = [3, 5, 4, 0, -1, -7, -2, -1];
    // Each byte but 0 counts; the largest number of the first row does not.
    let mask = [1, 0, 2, 255, 0, 128, 1, 0];
    assert_eq!(bytes(&[2, 4], &numbers, &TABLE, Some((&[2, 4], &mask))), [50, 0, 100, 6, 0, 6, 100, 0]);
    // No place of the first row counts, and all of the second.
    let rows = [0, 0, 0, 0, 1, 1, 1, 1];
    assert_eq!(bytes(&[2, 4], &numbers, &TABLE, Some((&[2, 4], &rows))), [0, 0, 0, 0, 100, 6, 50, 100]);
    assert_eq!(bytes(&[8, 1], &numbers, &TABLE, Some((&[1], &[0]))), [0; 8]);
    let least = [i32::MIN, i32::MAX, i32::MIN];
    assert_eq!(bytes(&[3], &least, &TABLE, Some((&[3], &[1, 0, 1]))), [100, 0, 100]);
}

#[test]
fn the_mask_is_broadcast() {
    let dims = [2, 3, 2, 5];
    let numbers: Vec<i32> = (0..60).map(|i| i * 37 % 11 - 5).collect();
    for mask in [
        &[5][..],
        &[1, 5],
        &[2, 5],
        &[3, 1, 5],
        &[1, 2, 5],
        &[3, 2, 5],
        &[2, 1, 1, 5],
        &[1, 3, 1, 5],
        &[2, 1, 2, 5],
        &[2, 3, 2, 5],
    ] {
        let count: u32 = mask.iter().product();
        let own: Vec<u8> = (0..count).map(|i| if i * 29 % 17 < 7 { 0 } else { i as u8 | 1 }).collect();
        looked_up(U8, &dims, &numbers, &TABLE, Some((mask, &own)));
    }
}

#[test]
fn elements_of_every_type() {
    let (dims, mask) = ([2, 3], (&[3][..], &[1, 0, 1][..]));
    let numbers = [1, 9, 0, -4, 0, -4];
    let stored = |element_type, table: &[u8]| looked_up(element_type, &dims, &numbers, table, Some(mask));
    // The number 0 of s8 is stored as 128; a bool is its byte.
    assert_eq!(stored(S8, &[0, 255]).concat(), [0, 128, 255, 0, 128, 0]);
    assert_eq!(stored(BOOL, &[7, 200]).concat(), [7, 0, 200, 7, 0, 7]);
    let words: Vec<u8> = [0x8000_0001u32, 0xffff_fffe].iter().flat_map(|x| x.to_be_bytes()).collect();
    assert_eq!(stored(S32, &words)[..3].concat(), [&words[..4], &[0; 4], &words[4..]].concat());
    // Bits of no number stay as they are.
    let words: Vec<u8> = [0x7fa0_0001u32, 0x8000_0000].iter().flat_map(|x| x.to_be_bytes()).collect();
    assert_eq!(stored(F32, &words)[..3].concat(), [&words[..4], &[0; 4], &words[4..]].concat());
}

#[test]
fn rows_of_1024() {
    let numbers: Vec<i32> = (0..2048).map(|i| i * 40_503 % 1009).collect();
    let table: Vec<u8> = (0..700).map(|i| (i % 251) as u8).collect();
    let mask: Vec<u8> = (0..1024).map(|i| (i % 3) as u8).collect();
    looked_up(U8, &[2, 1024], &numbers, &table, None);
    looked_up(U8, &[2, 1024], &numbers, &table, Some((&[1024], &mask)));
}

#[test]
fn structure() {
    let right = below(U8, &[2, 3, 4], 5, Some(&[3, 4]));
    let without = below(U8, &[2, 3, 4], 5, None);
    for given in [
        right.clone(),
        without.clone(),
        below(U8, &[1], 1, None),
        below(S8, &[1, 1, 1, 1, 2, 1024], 300, Some(&[1024])),
        below(BOOL, &[2, 3, 4], 5, Some(&[2, 1, 4])),
        below(S32, &[2, 3, 4], 5, Some(&[1, 3, 4])),
        below(F32, &[2, 3, 4], 5, Some(&[4])),
        below(U8, &[3, 1], 5, Some(&[1])),
    ] {
        assert_eq!(given.version(), Some(2));
    }
    for (why, wrong) in [
        ("rows of 1,025", below(U8, &[2, 1025], 5, None)),
        ("a k", OneStep { k: 1, ..right.clone() }),
        ("a of bytes", right.with(0, plain(U8, &[2, 3, 4]))),
        ("a of f32", right.with(0, plain(F32, &[2, 3, 4]))),
        ("a of other dims", right.with(0, plain(S32, &[6, 4]))),
        ("a of more rows", right.with(0, plain(S32, &[3, 3, 4]))),
        ("an output of another type", OneStep { head: [LOOKUP, 3, S8], ..right.clone() }),
        ("a table of two columns", right.with(1, plain(U8, &[5, 2]))),
        ("a table of rank 1", right.with(1, plain(U8, &[5]))),
        ("a table of rank 3", right.with(1, plain(U8, &[1, 5, 1]))),
        ("DOT weights", right.with(1, weights(DOT, &[5, 1]))),
        ("c of bytes", right.with(2, plain(U8, &[3, 4]))),
        ("c of s32", right.with(2, plain(S32, &[3, 4]))),
        ("c of one element a row", right.with(2, plain(BOOL, &[3, 1]))),
        ("c of longer rows", right.with(2, plain(BOOL, &[3, 5]))),
        ("c of other rows", right.with(2, plain(BOOL, &[2, 4]))),
        ("c of a higher rank", right.with(2, plain(BOOL, &[1, 2, 3, 4]))),
        ("c that is no plain tensor", right.with(2, weights(DOT, &[3, 4]))),
        ("c of LOOKUP each", OneStep { head: [LOOKUP, 2, U8], ..right.clone() }),
        ("variant 4", OneStep { head: [LOOKUP, 4, U8], ..without }),
    ] {
        assert!(!wrong.is_taken(), "{why}");
    }
    // The table is a weight tensor, and c no later step.
    for (at, operand) in [(6, 0), (8, 0), (8, WEIGHT + 3)] {
        let mut bytes = right.bytes();
        let record = bytes.len() - 128;
        bytes[record + at..record + at + 2].copy_from_slice(&u16::to_be_bytes(operand));
        assert!(Program::read(&bytes).is_err(), "operand at {at}");
    }
}
