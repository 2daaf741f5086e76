//! Programs of one step over weight tensors: run whole, and judged element by element.
use super::builder::{program, record, NONE, WEIGHT};
use super::opened::Committed;
use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::ids::judge_version;
use assay_exact::openings::{judge, Opening, Roots};
use assay_exact::program::Program;
use assay_exact::tree::weights_root;

const RAW: [u8; 2] = [4, 3];

/// A step's head, k and dims, and the descriptors of its operands.
#[derive(Clone)]
pub struct OneStep {
    pub head: [u8; 3],
    pub k: u32,
    pub dims: Vec<u32>,
    pub operands: Vec<[u8; 32]>,
}

impl OneStep {
    pub fn bytes(&self) -> Vec<u8> {
        self.reading([0, 1, 2].map(|i| if i < self.operands.len() { WEIGHT + i as u16 } else { NONE }))
    }

    /// The program of a step whose record has these operands.
    pub fn reading(&self, operands: [u16; 3]) -> Vec<u8> {
        let mut step = record(self.head, operands, &self.dims);
        step[10..14].copy_from_slice(&self.k.to_be_bytes());
        program(RAW, 1, &self.operands, &[step])
    }

    pub fn is_taken(&self) -> bool {
        Program::read(&self.bytes()).is_ok()
    }

    /// The version of the judge, if the program is taken.
    pub fn version(&self) -> Option<u16> {
        Program::read(&self.bytes()).ok().map(|program| judge_version(&program))
    }

    /// The same step with another operand in a place, or behind the last one.
    pub fn with(&self, at: usize, operand: [u8; 32]) -> Self {
        let mut operands = self.operands.clone();
        operands.truncate(at);
        operands.push(operand);
        operands.extend(self.operands.iter().skip(at + 1));
        Self { operands, ..self.clone() }
    }

    /// The step's stored elements. Each is judged as well, from what `reads` opens of the weights, and not from
    /// fewer or more openings or from those in another order.
    pub fn computed(
        &self,
        stored: &[Vec<u8>],
        reads: impl Fn(&Committed, usize) -> Vec<Opening>,
    ) -> Vec<u32> {
        let program = Program::read(&self.bytes()).unwrap();
        let bin = stored.concat();
        let tensors = split_weights(&program, &bin).unwrap();
        let mut calldata = vec![0; 100];
        [calldata[35], calldata[67]] = [32, 1];
        let run = run(&program, &tensors, &Input::read(&program, [0; 4], &calldata).unwrap()).unwrap();
        let roots = Roots { weights: weights_root(&program, &tensors), trace: run.trace_root() };
        let of_weights = Committed(program.weights.iter().copied().zip(tensors.iter().copied()).collect());
        let form = program.steps[0].form;
        let of_trace = Committed(vec![(form, &run.tensors[0])]);
        let size = form.element_type.size();
        let elements: Vec<u32> = run.tensors[0]
            .chunks(size)
            .map(|x| x.iter().fold(0, |all, &x| all << 8 | u32::from(x)))
            .collect();
        for (index, &element) in elements.iter().enumerate() {
            let (row, byte) = (size * index / form.row_bytes(), size * index % form.row_bytes());
            let mut openings = vec![of_trace.word(0, row, byte)];
            openings.extend(reads(&of_weights, index));
            let judged = |openings: &[Opening]| judge(&program, roots, 0, index, openings);
            assert_eq!(judged(&openings), Ok((element, element)), "element {index}");
            let last = openings.len() - 1;
            assert!(judged(&openings[..last]).is_err());
            assert!(judged(&[&openings[..], &openings[last..]].concat()).is_err());
            // Of two equal tensors side by side, each is opened like the other.
            for i in (1..last).filter(|&i| openings[i].words != openings[i + 1].words) {
                let mut swapped = openings.clone();
                swapped.swap(i, i + 1);
                assert!(judged(&swapped).is_err());
            }
        }
        elements
    }
}

/// The stored bytes of s32 numbers.
pub fn stored(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_be_bytes()).collect()
}
