//! The two files of vectors that are plain JSON: codecs.json and binary32.json.
mod support;
use assay_exact::calldata::Input;
use assay_exact::execute::run;
use assay_exact::program::Program;
use assay_exact::return_data;
use assay_exact::tree::tensor_root;
use serde_json::Value;
use support::builder::{first_element, plain, program, record, BOOL, F32, NONE, S32, U8, WEIGHT};
use support::{hex, json};

/// Variant, output type and operands of a FLOAT step.
type Operation = (u8, u8, [u16; 3]);

/// A column, as bytes.
fn column(table: &Value, name: &str) -> Vec<Vec<u8>> {
    table[name].as_array().unwrap().iter().map(|text| hex(text.as_str().unwrap())).collect()
}

/// Codecs and input size of a model word (docs/PROTOCOL.md, section 1), whose bit 0 is the last one.
fn codecs(model_word: &[u8]) -> ([u8; 2], u32) {
    let size = u32::from_be_bytes(model_word[32 - 26..32 - 22].try_into().unwrap());
    ([model_word[32 - 21], model_word[32 - 22]], size)
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().unwrap())
}

/// Type, dims and their product of a record.
fn shape(record: &[u8]) -> (u8, Vec<u32>, u32) {
    let dims: Vec<u32> = record[32..56].chunks(4).take(record[3].into()).map(number).collect();
    let count = dims.iter().product();
    (record[2], dims, count)
}

#[test]
fn codec_inputs_and_what_is_refused() {
    let file = json("codecs.json");
    let selector = hex(file["selector"].as_str().unwrap()).try_into().unwrap();
    let inputs = &file["inputs"];
    let (words, records) = (column(inputs, "modelWord"), column(inputs, "record"));
    let (calldata, roots) = (column(inputs, "calldata"), column(inputs, "root"));
    for i in 0..words.len() {
        let (element_type, _, count) = shape(&records[i]);
        let ([input, _], size) = codecs(&words[i]);
        let steps = [records[i].clone().try_into().unwrap(), first_element(element_type, 0, count, &[1])];
        let program = Program::read(&program([input, 3], size, &[], &steps)).unwrap();
        let input = Input::read(&program, selector, &calldata[i]).unwrap();
        let step = &program.steps[0];
        assert_eq!(tensor_root(&step.form, &input.tensor(step)).to_vec(), roots[i], "input {i}");
    }
    let refused = &file["refused"];
    let (words_refused, calldata) = (column(refused, "modelWord"), column(refused, "calldata"));
    for i in 0..words_refused.len() {
        let ([input, _], size) = codecs(&words_refused[i]);
        let steps = [first_element(U8, WEIGHT, 1, &[1])];
        let program = Program::read(&program([input, 3], size, &[plain(U8, &[1])], &steps)).unwrap();
        assert!(Input::read(&program, selector, &calldata[i]).is_err(), "refused {i}");
    }
    println!("{} codec inputs, {} refused", words.len(), words_refused.len());
}

#[test]
fn codec_outputs() {
    let outputs = &json("codecs.json")["outputs"];
    let (words, records) = (column(outputs, "modelWord"), column(outputs, "record"));
    let (tensors, return_data) = (column(outputs, "words"), column(outputs, "returnData"));
    for i in 0..words.len() {
        let (element_type, dims, count) = shape(&records[i]);
        let ([input, output], size) = codecs(&words[i]);
        let steps = [first_element(element_type, WEIGHT, count, &dims)];
        let program = program([input, output], size, &[plain(element_type, &dims)], &steps);
        let program = Program::read(&program).unwrap();
        let row = program.output().row_bytes();
        let rows = tensors[i].chunks(row.next_multiple_of(32));
        let bytes: Vec<u8> = rows.flat_map(|padded| &padded[..row]).copied().collect();
        assert_eq!(return_data::encode(&program, &bytes), return_data[i], "output {i}");
    }
    println!("{} codec outputs", words.len());
}

#[test]
fn binary32_operations() {
    let file = json("binary32.json");
    let count = file["count"].as_u64().unwrap() as usize;
    let operands = hex(file["operands"].as_str().unwrap());
    assert_eq!(operands.len(), 12 * count);
    let operand = |at: usize| -> Vec<u8> {
        operands.chunks(12).flat_map(|triple| &triple[4 * at..4 * at + 4]).copied().collect()
    };
    let (float_a, whole_a, b, c) = (WEIGHT, WEIGHT + 1, WEIGHT + 2, WEIGHT + 3);
    // Of each result the steps that lead to it; an operand below WEIGHT counts from the first of them.
    let pair = [float_a, b, NONE];
    let one = [float_a, NONE, NONE];
    let operations: [(&str, Vec<Operation>); 17] = [
        ("add", vec![(0, F32, pair)]),
        ("sub", vec![(1, F32, pair)]),
        ("mul", vec![(2, F32, pair)]),
        ("div", vec![(3, F32, pair)]),
        ("sqrt", vec![(4, F32, one)]),
        ("round", vec![(5, F32, one)]),
        ("min", vec![(6, F32, pair)]),
        ("max", vec![(7, F32, pair)]),
        ("lt", vec![(8, BOOL, pair)]),
        ("le", vec![(9, BOOL, pair)]),
        ("eq", vec![(10, BOOL, pair)]),
        ("tofloat", vec![(11, F32, [whole_a, NONE, NONE])]),
        ("toint", vec![(12, S32, one)]),
        ("dequant", vec![(13, F32, [whole_a, b, c])]),
        ("quant", vec![(14, U8, [float_a, b, c])]),
        ("nearest", vec![(5, F32, one), (12, S32, [0, NONE, NONE])]),
        (
            "requantize",
            vec![
                (11, F32, [whole_a, NONE, NONE]),
                (2, F32, [0, b, NONE]),
                (5, F32, [1, NONE, NONE]),
                (12, S32, [2, NONE, NONE]),
            ],
        ),
    ];
    assert_eq!(file["results"].as_object().unwrap().len(), operations.len());
    let dims = [count as u32];
    let weights = [plain(F32, &dims), plain(S32, &dims), plain(F32, &dims), plain(S32, &dims)];
    let (bytes_a, bytes_b, bytes_c) = (operand(0), operand(1), operand(2));
    let content: [&[u8]; 4] = [&bytes_a, &bytes_a, &bytes_b, &bytes_c];
    for (name, steps) in &operations {
        let records: Vec<_> = steps
            .iter()
            .map(|&(variant, element_type, operands)| record([9, variant, element_type], operands, &dims))
            .collect();
        let program = Program::read(&program([4, 3], 1, &weights, &records)).unwrap();
        let run = run(&program, &content, &Input::Raw(vec![0])).unwrap();
        let size = program.output().element_type.size();
        let expected = hex(file["results"][name].as_str().unwrap());
        let found = run.tensors[run.tensors.len() - 1].chunks(size);
        assert_eq!(found.len(), count);
        for (i, (stored, expected)) in found.zip(expected.chunks(4)).enumerate() {
            let stored = stored.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
            assert_eq!(stored, number(expected), "{name} of triple {i}");
        }
    }
    println!("{} binary32 results", count * operations.len());
}
