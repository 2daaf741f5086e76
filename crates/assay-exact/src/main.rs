//! The program `assay-exact`: runs models, or answers lines, by which other implementations are compared with it.
use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::program::Program;
use assay_exact::tree::weights_root;
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
        _ => Err(Error(String::from(
            "a line is `program PROGRAM`, or `run PROGRAM WEIGHTS SELECTOR CALLDATA`, bytes as 0x and digits",
        ))),
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
