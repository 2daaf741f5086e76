//! The lines of docs/CONFORMANCE.md.
use crate::words::{hex, Words};
use assay_exact::calldata::Input;
use assay_exact::execute::{run, run_claimed, split_weights, Run};
use assay_exact::ids::{Model, Request};
use assay_exact::openings::{judge, opened_element, Roots};
use assay_exact::program::{Opcode, Program};
use assay_exact::promises::Batch;
use assay_exact::receipt::{Policy, Receipt, Trust};
use assay_exact::reveal::{check_reveal, trace_root_of_tops, Position};
use assay_exact::signals::Binding;
use assay_exact::tree::{keccak, tensor_root, weights_root};
use assay_exact::{orders, promises, receipt, return_data, signals, signature, Error, Result};

type Answer = Result<Vec<String>>;
type Handler = fn(&mut Words<'_>) -> Answer;

/// Each line's name, and what answers it.
const LINES: [(&str, Handler); 23] = [
    ("program", |words| words.program().map(|_| Vec::new())),
    ("run", run_program),
    ("claimed", run_claimed_output),
    ("codec", codec),
    ("output", output),
    ("returned", returned),
    ("element", element),
    ("model", model),
    ("tops", |words| Ok(vec![hex(&trace_root_of_tops(&words.program()?, &words.hashes()?)?)])),
    ("reveal", reveal),
    ("request", |words| {
        let (chain_id, assay) = words.game()?;
        Ok(vec![hex(&words.request()?.id(chain_id, &assay))])
    }),
    ("claim", |words| {
        let (chain_id, assay) = words.game()?;
        Ok(vec![hex(&words.claim()?.id(chain_id, &assay))])
    }),
    ("order", order),
    ("pack", |words| Ok(vec![hex(&orders::pack(&words.request()?, &words.bytes()?)?)])),
    ("signals", public_signals),
    ("receipt", verified),
    ("digest", |words| {
        let (chain_id, promises) = words.game()?;
        Ok(vec![hex(&words.signed_claim()?.digest(chain_id, &promises))])
    }),
    ("signer", |words| Ok(vec![hex(&signature::signer(&words.fixed()?, &words.bytes()?)?)])),
    ("expand", expand),
    ("compact", |words| {
        let (program, selector) = (words.program()?, words.fixed()?);
        Ok(vec![hex(&promises::compact(&program, selector, &words.bytes()?, &words.bytes()?)?)])
    }),
    ("batch", batch),
    ("path", path),
    ("member", |words| {
        let (count, root, index): (u16, _, u16) = (words.number(16)?, words.fixed()?, words.number(16)?);
        let (leaf, path) = (words.bytes()?, words.hashes()?);
        promises::check_member(count.into(), &root, index.into(), &leaf, &path)?;
        Ok(Vec::new())
    }),
];

pub fn answer(line: &str) -> Answer {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, rest) = words.split_first().ok_or_else(|| Error(String::from("an empty line")))?;
    if *name == "lines" {
        return Ok(["lines"].into_iter().chain(LINES.map(|(name, _)| name)).map(String::from).collect());
    }
    let known = LINES.iter().find(|(known, _)| known == name);
    let (_, answer) = known.ok_or_else(|| Error(format!("{name:.20} is no line of docs/CONFORMANCE.md")))?;
    let mut words = Words::new(rest);
    let found = answer(&mut words)?;
    words.end()?;
    Ok(found)
}

fn run_program(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    let weights = words.bytes()?;
    let weights = split_weights(&program, &weights)?;
    let input = Input::read(&program, words.fixed()?, &words.bytes()?)?;
    Ok(shown(&program, &weights, &run(&program, &weights, &input)?))
}

fn run_claimed_output(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    let weights = words.bytes()?;
    let weights = split_weights(&program, &weights)?;
    let input = Input::read(&program, words.fixed()?, &words.bytes()?)?;
    Ok(shown(&program, &weights, &run_claimed(&program, &weights, &input, &words.bytes()?)?))
}

fn shown(program: &Program, weights: &[&[u8]], run: &Run<'_>) -> Vec<String> {
    let mut found = vec![hex(&run.output()), hex(&weights_root(program, weights)), hex(&run.trace_root())];
    found.extend(run.tensors.iter().map(|tensor| hex(tensor)));
    found
}

fn codec(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    let input = Input::read(&program, words.fixed()?, &words.bytes()?)?;
    let index: u16 = words.number(16)?;
    match program.steps.get(usize::from(index)) {
        Some(step) if step.opcode == Opcode::Codec && !step.is_claimed() => {
            let tensor = input.tensor(step);
            Ok(vec![hex(&tensor), hex(&tensor_root(&step.form, &tensor))])
        }
        _ => Err(Error(format!("step {index} is no CODEC step that reads calldata"))),
    }
}

fn output(words: &mut Words<'_>) -> Answer {
    let (program, tensor) = (words.program()?, words.bytes()?);
    let expected = program.output().bytes();
    if tensor.len() != expected {
        return Err(Error(format!("a tensor of {} bytes, expected {expected}", tensor.len())));
    }
    Ok(vec![hex(&return_data::encode(&program, &tensor))])
}

fn returned(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    let roots = Roots { weights: [0; 32], trace: words.fixed()? };
    let output = words.bytes()?;
    let last = program.steps.len() - 1;
    let index = element_of(&program, last, words)?;
    let stored = opened_element(&program, roots, last, index, &words.opening()?)?;
    if !return_data::has_form(&program, &output) {
        return Err(Error(String::from("the output has another form")));
    }
    let claimed = &output[return_data::place(&program, index)];
    Ok(vec![hex(claimed), hex(&return_data::element(&program, stored))])
}

fn element(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    let roots = Roots { weights: words.fixed()?, trace: words.fixed()? };
    let step: u16 = words.number(16)?;
    let index = element_of(&program, step.into(), words)?;
    let mut openings = Vec::new();
    while words.left() > 0 {
        openings.push(words.opening()?);
    }
    let (claimed, computed) = judge(&program, roots, step.into(), index, &openings)?;
    Ok([claimed, computed].map(|stored| hex(&stored.to_be_bytes())).to_vec())
}

/// The number of an element that the step has.
fn element_of(program: &Program, step: usize, words: &mut Words<'_>) -> Result<usize> {
    let index: u32 = words.number(32)?;
    let count = program.steps.get(step).map_or(0, |step| step.form.dims.count());
    if index as usize >= count {
        return Err(Error(format!("element {index} of {count}")));
    }
    Ok(index as usize)
}

fn model(words: &mut Words<'_>) -> Answer {
    let content = words.bytes()?;
    let program = Program::read(&content)?;
    let model = Model {
        weights_root: words.fixed()?,
        selector: words.fixed()?,
        lanes: words.number(8)?,
        vk_hash: words.fixed()?,
    };
    Ok(vec![hex(&model.id(&program, &content)), hex(&model.word(&program))])
}

fn reveal(words: &mut Words<'_>) -> Answer {
    let (program, root) = (words.program()?, words.fixed()?);
    let position = Position::of(words.number(64)?);
    check_reveal(&program, &root, position, &words.hashes()?, &words.hashes()?)?;
    Ok(Vec::new())
}

fn order(words: &mut Words<'_>) -> Answer {
    let (model_id, filed) = (words.fixed()?, words.bytes()?);
    let (request, input) = orders::read(model_id, &filed)?;
    let mut found = fields(&request);
    found.push(hex(input));
    Ok(found)
}

/// A request's fields as a line has them, numbers in 16 bytes.
fn fields(request: &Request) -> Vec<String> {
    let number = |value: u128| hex(&value.to_be_bytes());
    vec![
        hex(&request.requester),
        hex(&request.model_id),
        hex(&request.input_hash),
        number(request.lanes.into()),
        number(request.fee),
        number(request.delivery_fee),
        number(request.min_bond),
        number(request.window.into()),
        number(request.expiry.into()),
        hex(&request.exclusive_prover),
        number(request.exclusive_until.into()),
        hex(&request.callback),
        number(request.callback_gas.into()),
        number(request.salt.into()),
    ]
}

fn public_signals(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    let input = Input::read(&program, words.fixed()?, &words.bytes()?)?;
    let output = words.bytes()?;
    let binding = Binding {
        chain_id: words.number(53)?,
        proof_lane: words.fixed()?,
        model_id: words.fixed()?,
        submitter: words.fixed()?,
    };
    let found = signals::of(&program, &input, &output, &binding)?;
    Ok(found.iter().map(|signal| hex(signal)).collect())
}

fn verified(words: &mut Words<'_>) -> Answer {
    let (chain_id, assay) = words.game()?;
    let trust = Trust {
        chain_id,
        assay,
        answer_time: words.number(40)?,
        block_hash: words.fixed()?,
        code_hash: words.fixed()?,
    };
    let policy = Policy {
        model_id: words.fixed()?,
        input_hash: words.fixed()?,
        lanes: words.number(8)?,
        min_bond: words.number(96)?,
        min_window: words.number(32)?,
    };
    let request = words.request()?;
    let is_claimed: u8 = words.number(1)?;
    let claim = if is_claimed == 1 { Some(words.claim()?) } else { None };
    let (output, header) = (words.bytes()?, words.bytes()?);
    let mut nodes = Vec::new();
    while words.left() > 0 {
        nodes.push(words.bytes()?);
    }
    let nodes: Vec<&[u8]> = nodes.iter().map(Vec::as_slice).collect();
    let receipt = Receipt { request, claim, output: &output, header: &header, nodes: &nodes };
    let shown = receipt::verify(&receipt, &trust, &policy)?;
    let time = shown.timestamp.to_be_bytes();
    Ok(vec![hex(&shown.request_id), hex(&shown.claim_id), hex(&[shown.lane]), hex(&time)])
}

fn expand(words: &mut Words<'_>) -> Answer {
    let (program, selector) = (words.program()?, words.fixed()?);
    let leaf = words.bytes()?;
    let (calldata, output) = promises::expand(&program, selector, &leaf)?;
    Ok(vec![hex(&calldata), hex(&output), hex(&keccak(&leaf))])
}

fn batch(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    words.fixed::<4>()?;
    let (chain_id, contract) = words.game()?;
    let (prover, model_id, window) = (words.fixed()?, words.fixed()?, words.number(32)?);
    let data = words.bytes()?;
    let leaves = promises::split(&program, &data)?;
    let (count, root) = (leaves.len() as u16, promises::root(&leaves));
    let id = Batch { prover, model_id, window, count, root }.id(chain_id, &contract);
    Ok(vec![hex(&count.to_be_bytes()), hex(&root), hex(&id)])
}

fn path(words: &mut Words<'_>) -> Answer {
    let program = words.program()?;
    words.fixed::<4>()?;
    let data = words.bytes()?;
    let leaves = promises::split(&program, &data)?;
    let index: u16 = words.number(16)?;
    let siblings = promises::path(&leaves, index.into())?;
    Ok(vec![hex(leaves[usize::from(index)]), hex(&siblings.concat())])
}
