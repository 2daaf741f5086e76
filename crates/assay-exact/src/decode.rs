//! Program bytes (docs/EXACT.md, section 2): what stands where. What it may say is `validate`'s.
use crate::error::{ensure, refuse};
use crate::program::{
    Coordinate, Dims, ElementType, Form, InputCodec, Layout, Opcode, Operand, OutputCodec, Program, Step,
};
use crate::{Error, Result};
use alloc::format;

const HEADER: usize = 32;
const DESCRIPTOR: usize = 32;
const RECORD: usize = 128;
const MOST: usize = 2048;

pub(crate) fn program(bytes: &[u8]) -> Result<Program> {
    ensure!(bytes.len() >= HEADER, "a program has {} bytes, a header alone {HEADER}", bytes.len());
    let (header, rest) = bytes.split_at(HEADER);
    ensure!(&header[..4] == b"ASY1", "a program begins with ASY1, not with {:02x?}", &header[..4]);
    let weights = usize::from(u16_at(header, 4));
    let steps = usize::from(u16_at(header, 6));
    ensure!(weights <= MOST, "{weights} weight tensors, at most {MOST}");
    ensure!((1..=MOST).contains(&steps), "{steps} steps: 1 to {MOST}");
    zero(header, 14..32, "header")?;
    let expected = weights * DESCRIPTOR + steps * RECORD;
    ensure!(rest.len() == expected, "{} bytes behind the header, expected {expected}", rest.len());
    let (descriptors, records) = rest.split_at(weights * DESCRIPTOR);
    Ok(Program {
        input_codec: InputCodec::of(header[8]).ok_or_else(|| unknown("input codec", header[8]))?,
        output_codec: OutputCodec::of(header[9]).ok_or_else(|| unknown("output codec", header[9]))?,
        input_size: u32_at(header, 10) as usize,
        weights: descriptors.chunks_exact(DESCRIPTOR).map(descriptor).collect::<Result<_>>()?,
        steps: records.chunks_exact(RECORD).map(record).collect::<Result<_>>()?,
    })
}

fn descriptor(bytes: &[u8]) -> Result<Form> {
    zero(bytes, 3..4, "weight descriptor")?;
    zero(bytes, 28..32, "weight descriptor")?;
    Ok(Form {
        layout: Layout::of(bytes[0]).ok_or_else(|| unknown("layout", bytes[0]))?,
        element_type: element_type(bytes[1])?,
        dims: dims(bytes[2], &bytes[4..28])?,
    })
}

fn record(bytes: &[u8]) -> Result<Step> {
    let opcode = Opcode::of(bytes[0]).ok_or_else(|| unknown("opcode", bytes[0]))?;
    zero(bytes, 14..32, "record")?;
    zero(bytes, 56..64, "record")?;
    let mut coordinates = [Coordinate::default(); 4];
    if opcode == Opcode::Move {
        for (j, coordinate) in coordinates.iter_mut().enumerate() {
            *coordinate = self::coordinate(&bytes[64 + 16 * j..80 + 16 * j]);
        }
    } else {
        zero(bytes, 64..RECORD, "record that is no move")?;
    }
    Ok(Step {
        opcode,
        variant: bytes[1],
        form: Form {
            layout: Layout::Plain,
            element_type: element_type(bytes[2])?,
            dims: dims(bytes[3], &bytes[32..56])?,
        },
        operands: [operand(bytes, 4), operand(bytes, 6), operand(bytes, 8)],
        k: u32_at(bytes, 10),
        coordinates,
    })
}

fn coordinate(bytes: &[u8]) -> Coordinate {
    Coordinate {
        size: u32_at(bytes, 0),
        c: u32_at(bytes, 4) as i32,
        a: s24_at(bytes, 8),
        b: s24_at(bytes, 11),
        p: bytes[14],
        q: bytes[15],
    }
}

fn operand(bytes: &[u8], at: usize) -> Operand {
    match u16_at(bytes, at) {
        0xffff => Operand::None,
        step @ 0..=0x7fff => Operand::Step(usize::from(step)),
        weight => Operand::Weight(usize::from(weight - 0x8000)),
    }
}

fn dims(rank: u8, bytes: &[u8]) -> Result<Dims> {
    ensure!((1..=6).contains(&rank), "rank {rank}: 1 to 6");
    let mut sizes = [0; 6];
    for (axis, size) in sizes.iter_mut().enumerate() {
        *size = u32_at(bytes, 4 * axis);
        let is_used = axis < usize::from(rank);
        ensure!(is_used == (*size > 0), "dim {axis} of rank {rank} is {size}");
    }
    Ok(Dims { rank, sizes })
}

fn element_type(code: u8) -> Result<ElementType> {
    ElementType::of(code).ok_or_else(|| unknown("element type", code))
}

fn unknown(what: &str, code: u8) -> Error {
    Error(format!("there is no {what} {code}"))
}

fn zero(bytes: &[u8], range: core::ops::Range<usize>, place: &str) -> Result<()> {
    for at in range {
        if bytes[at] != 0 {
            refuse!("byte {at} of a {place} is {:02x}: it is not used, so it is zero", bytes[at]);
        }
    }
    Ok(())
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn s24_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], 0]) >> 8
}
