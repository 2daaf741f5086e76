//! Programs, codecs and whole runs.
mod support;
use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::openings::{opened_element, Roots};
use assay_exact::program::Program;
use assay_exact::return_data;
use assay_exact::tree::{climb, keccak, tensor_root, weights_root};
use support::{root, vectors, Tuple};

#[test]
fn programs_are_taken_or_refused() {
    let mut counts = [0, 0];
    for (i, vector) in vectors("program.json").iter().enumerate() {
        let vector = Tuple::of(vector);
        let program = Program::read(vector.bytes(0));
        let accepted = vector.number(1) == 1;
        assert_eq!(program.is_ok(), accepted, "vector {i}: {:?}", program.err());
        counts[usize::from(accepted)] += 1;
        if accepted {
            assert_eq!(keccak(vector.bytes(0)), vector.word(2));
        }
    }
    println!("{} programs taken, {} refused", counts[1], counts[0]);
    assert!(counts[0] > 0 && counts[1] > 0);
}

#[test]
fn calldata_are_canonical_or_refused() {
    let mut counts = [0, 0];
    for (i, vector) in vectors("calldata.json").iter().enumerate() {
        let vector = Tuple::of(vector);
        let program = Program::read(vector.bytes(0)).unwrap();
        let input = Input::read(&program, vector.selector(1), vector.bytes(2));
        let canonical = vector.number(3) == 1;
        assert_eq!(input.is_ok(), canonical, "vector {i}: {:?}", input.err());
        counts[usize::from(canonical)] += 1;
    }
    println!("{} calldata canonical, {} not", counts[1], counts[0]);
    assert!(counts[0] > 0 && counts[1] > 0);
}

#[test]
fn codec_steps_have_their_roots() {
    let vectors = vectors("codec.json");
    for (i, vector) in vectors.iter().enumerate() {
        let vector = Tuple::of(vector);
        let program = Program::read(vector.bytes(0)).unwrap();
        let input = Input::read(&program, vector.selector(1), vector.bytes(2)).unwrap();
        let index = vector.index(3);
        let step = &program.steps[index];
        let found = tensor_root(&step.form, &input.tensor(step));
        assert_eq!(found, vector.word(5), "vector {i}");
        assert_eq!(climb(found, index as u64, &vector.words(6)), vector.word(4), "vector {i}");
    }
    println!("{} codec steps", vectors.len());
}

#[test]
fn claimed_outputs_have_their_roots() {
    let vectors = vectors("claimed.json");
    for (i, vector) in vectors.iter().enumerate() {
        let vector = Tuple::of(vector);
        let program = Program::read(vector.bytes(0)).unwrap();
        let index = vector.index(3);
        assert!(program.steps[index].is_claimed(), "vector {i}");
        let tensor = return_data::elements(&program, vector.bytes(2)).unwrap();
        let found = tensor_root(&program.steps[index].form, &tensor);
        assert_eq!(found, vector.word(5), "vector {i}");
        assert_eq!(climb(found, index as u64, &vector.words(6)), vector.word(4), "vector {i}");
    }
    println!("{} claimed outputs", vectors.len());
}

#[test]
fn outputs_have_their_form_and_elements() {
    let mut counts = [0, 0];
    for (i, vector) in vectors("output.json").iter().enumerate() {
        let vector = Tuple::of(vector);
        let program = Program::read(vector.bytes(0)).unwrap();
        let roots = Roots { weights: [0; 32], trace: vector.word(1) };
        let output = vector.bytes(2);
        assert!(return_data::has_form(&program, output), "vector {i}");
        for case in vector.tuples(3) {
            let mut turned = output.to_vec();
            let bit = case.index(0);
            turned[bit / 8] ^= 0x80 >> (bit % 8);
            let is_form = case.number(1) == 1;
            assert_eq!(!return_data::has_form(&program, &turned), is_form, "vector {i}, bit {bit}");
            counts[usize::from(is_form)] += 1;
            if is_form {
                continue;
            }
            let element = case.index(2);
            let place = return_data::place(&program, element);
            assert!(place.contains(&(bit / 8)));
            let opening = case.tuple(5).opening();
            let last = program.steps.len() - 1;
            let stored = opened_element(&program, roots, last, element, &opening).unwrap();
            let number = |bytes: &[u8]| {
                let mut word = [0; 32];
                word[32 - bytes.len()..].copy_from_slice(bytes);
                word
            };
            assert_eq!(number(&return_data::element(&program, stored)), case.word(3), "vector {i}");
            assert_eq!(number(&turned[place]), case.word(4), "vector {i}");
        }
    }
    println!("{} turned bits of elements, {} of the form", counts[0], counts[1]);
    assert!(counts[0] > 0 && counts[1] > 0);
}

#[test]
fn whole_runs() {
    let mut elements = 0;
    let vectors = vectors("run.json");
    for (i, vector) in vectors.iter().enumerate() {
        let vector = Tuple::of(vector);
        let program = Program::read(vector.bytes(0)).unwrap();
        let weights = split_weights(&program, vector.bytes(2)).unwrap();
        assert_eq!(weights_root(&program, &weights), vector.word(3), "vector {i}");
        let input = Input::read(&program, vector.selector(1), vector.bytes(4)).unwrap();
        let run = run(&program, &weights, &input).unwrap();
        assert_eq!(run.output(), vector.bytes(5), "vector {i}");
        elements += program.steps.iter().map(|step| step.form.dims.count()).sum::<usize>();
    }
    println!("{} runs, {elements} elements computed", vectors.len());
}

#[test]
fn shipped_models() {
    let mut elements = 0;
    for vector in vectors("model-runs.json") {
        let vector = Tuple::of(&vector);
        let name = std::str::from_utf8(vector.bytes(0)).unwrap();
        let file = |field: usize, file: &str| match vector.bytes(field) {
            [] => std::fs::read(root().join("models").join(name).join(file)).unwrap(),
            bytes => bytes.to_vec(),
        };
        let (program, weights) = (file(1, "program.bin"), file(2, "weights.bin"));
        let program = Program::read(&program).unwrap();
        let weights = split_weights(&program, &weights).unwrap();
        assert_eq!(weights_root(&program, &weights), vector.word(3), "{name}");
        let (inputs, outputs) = (vector.many_bytes(5), vector.many_bytes(6));
        assert_eq!(inputs.len(), outputs.len());
        for (input, output) in inputs.iter().zip(outputs) {
            let input = Input::read(&program, vector.selector(4), input).unwrap();
            assert_eq!(run(&program, &weights, &input).unwrap().output(), output, "{name}");
            elements += program.steps.iter().map(|step| step.form.dims.count()).sum::<usize>();
        }
        println!("{name}: {} runs", inputs.len());
    }
    println!("{elements} elements computed");
}
