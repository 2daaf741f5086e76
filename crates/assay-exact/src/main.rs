//! The program `assay-exact`: runs models, or answers lines, by which other implementations are compared with it.
use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::ids::{Claim, Model, Request};
use assay_exact::program::{Program, WORD};
use assay_exact::reveal::{check_reveal, trace_root_of_tops, Position};
use assay_exact::tree::{weights_root, Hash};
use assay_exact::{Error, Result};
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

const USAGE: &str = "\
assay-exact run PROGRAM WEIGHTS INPUT...   return data of calldata files, one line of hexadecimal digits each;
                                           PROGRAM and WEIGHTS are files as program.bin and weights.bin
assay-exact lines                          answers each line of the standard input by one line (docs/CONFORMANCE.md)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["run", program, weights, inputs @ ..] if !inputs.is_empty() => run_files(program, weights, inputs),
        ["lines"] => answer_lines().map_err(|error| Error(error.to_string())),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run_files(program: &str, weights: &str, inputs: &[&str]) -> Result<()> {
    let read = |path: &str| std::fs::read(path).map_err(|error| Error(format!("{path}: {error}")));
    let program = Program::read(&read(program)?)?;
    let weights = read(weights)?;
    let weights = split_weights(&program, &weights)?;
    for path in inputs {
        let calldata = read(path)?;
        let Some(&selector) = calldata.first_chunk() else {
            return Err(Error(format!("{path} has {} bytes, a selector alone 4", calldata.len())));
        };
        let input = Input::read(&program, selector, &calldata)?;
        println!("{}", hex(&run(&program, &weights, &input)?.output()));
    }
    Ok(())
}

fn answer_lines() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        match answer(&line?) {
            Ok(words) => writeln!(output, "ok {}", words.join(" "))?,
            Err(Error(why)) => writeln!(output, "refused {}", why.replace('\n', " "))?,
        }
        output.flush()?;
    }
    Ok(())
}

fn answer(line: &str) -> Result<Vec<String>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["program", program] => Program::read(&bytes(program)?).map(|_| Vec::new()),
        ["run", program, weights, selector, calldata] => {
            let program = Program::read(&bytes(program)?)?;
            let weights = bytes(weights)?;
            let weights = split_weights(&program, &weights)?;
            let selector = bytes(selector)?.try_into().map_err(|other: Vec<u8>| {
                Error(format!("a selector of {} bytes, expected 4", other.len()))
            })?;
            let input = Input::read(&program, selector, &bytes(calldata)?)?;
            let run = run(&program, &weights, &input)?;
            let mut words =
                vec![hex(&run.output()), hex(&weights_root(&program, &weights)), hex(&run.trace_root())];
            words.extend(run.tensors.iter().map(|tensor| hex(tensor)));
            Ok(words)
        }
        ["model", program, weights_root, selector, lanes, vk_hash] => {
            let content = bytes(program)?;
            let program = Program::read(&content)?;
            let model = Model {
                weights_root: fixed(weights_root)?,
                selector: fixed(selector)?,
                lanes: number(lanes)?,
                vk_hash: fixed(vk_hash)?,
            };
            Ok(vec![hex(&model.id(&program, &content)), hex(&model.word(&program))])
        }
        ["tops", program, nodes] => {
            let program = Program::read(&bytes(program)?)?;
            Ok(vec![hex(&trace_root_of_tops(&program, &hashes(nodes)?)?)])
        }
        ["reveal", program, trace_root, position, content, path] => {
            let program = Program::read(&bytes(program)?)?;
            let position = Position::of(number(position)?);
            check_reveal(&program, &fixed(trace_root)?, position, &hashes(content)?, &hashes(path)?)?;
            Ok(Vec::new())
        }
        ["request", chain_id, assay, fields @ ..] if fields.len() == 14 => {
            let request = Request {
                requester: fixed(fields[0])?,
                model_id: fixed(fields[1])?,
                input_hash: fixed(fields[2])?,
                lanes: number(fields[3])?,
                fee: number(fields[4])?,
                delivery_fee: number(fields[5])?,
                min_bond: number(fields[6])?,
                window: number(fields[7])?,
                expiry: number(fields[8])?,
                exclusive_prover: fixed(fields[9])?,
                exclusive_until: number(fields[10])?,
                callback: fixed(fields[11])?,
                callback_gas: number(fields[12])?,
                salt: number(fields[13])?,
            };
            Ok(vec![hex(&request.id(number(chain_id)?, &fixed(assay)?))])
        }
        ["claim", chain_id, assay, fields @ ..] if fields.len() == 9 => {
            let claim = Claim {
                request_id: fixed(fields[0])?,
                model_id: fixed(fields[1])?,
                attempt: number(fields[2])?,
                prover: fixed(fields[3])?,
                operator: fixed(fields[4])?,
                output_hash: fixed(fields[5])?,
                bond: number(fields[6])?,
                ticket_bond: number(fields[7])?,
                gas_price: number(fields[8])?,
            };
            Ok(vec![hex(&claim.id(number(chain_id)?, &fixed(assay)?))])
        }
        _ => Err(Error(String::from("this is no line of docs/CONFORMANCE.md: bytes are 0x and digits"))),
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        // A string takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or("-").as_bytes();
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let pairs: Option<Vec<u8>> =
        digits.chunks(2).map(|pair| Some(digit(&pair[0])? << 4 | digit(pair.get(1)?)?)).collect();
    pairs.ok_or_else(|| Error(format!("bytes are written as 0x and pairs of digits, not as {text:.40}")))
}

/// As many bytes as are wanted.
fn fixed<const N: usize>(text: &str) -> Result<[u8; N]> {
    bytes(text)?.try_into().map_err(|other: Vec<u8>| Error(format!("{} bytes, expected {N}", other.len())))
}

/// Words of 32 bytes, joined.
fn hashes(text: &str) -> Result<Vec<Hash>> {
    let bytes = bytes(text)?;
    if bytes.len() % WORD != 0 {
        return Err(Error(format!("{} bytes are no whole words", bytes.len())));
    }
    bytes.chunks_exact(WORD).map(|word| word.try_into().map_err(|_| Error(String::from("no word")))).collect()
}

/// A big-endian number of at most 16 bytes, in the type that the place wants.
fn number<T: TryFrom<u128>>(text: &str) -> Result<T> {
    let bytes = bytes(text)?;
    let value = match bytes.len() {
        0..=16 => bytes.iter().fold(0, |number, &byte| number << 8 | u128::from(byte)),
        length => return Err(Error(format!("a number of {length} bytes, at most 16"))),
    };
    value.try_into().map_err(|_| Error(format!("the number {value} is larger than its field")))
}
