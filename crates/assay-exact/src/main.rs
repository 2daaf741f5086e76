//! The program `assay-exact`: runs models, or answers lines, by which other implementations are compared with it.
mod lines;
mod words;

use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::program::Program;
use assay_exact::{Error, Result};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;
use words::hex;

const USAGE: &str = "\
assay-exact run PROGRAM WEIGHTS INPUT...   return data of calldata files, one line of hexadecimal digits each;
                                           PROGRAM and WEIGHTS are files as program.bin and weights.bin
assay-exact time PROGRAM WEIGHTS INPUT     microseconds of a run: the fastest of those in a second
assay-exact lines                          answers each line of the standard input by one line (docs/CONFORMANCE.md)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["run", program, weights, inputs @ ..] if !inputs.is_empty() => run_files(program, weights, inputs),
        ["time", program, weights, input] => time(program, weights, input),
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

fn read(path: &str) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Error(format!("{path}: {error}")))
}

fn time(program: &str, weights: &str, input: &str) -> Result<()> {
    let program = Program::read(&read(program)?)?;
    let (weights, calldata) = (read(weights)?, read(input)?);
    let weights = split_weights(&program, &weights)?;
    let selector = calldata.first_chunk().copied().unwrap_or_default();
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed().as_secs() < 1 {
        let before = Instant::now();
        run(&program, &weights, &Input::read(&program, selector, &calldata)?)?.output();
        best = best.min(before.elapsed().as_secs_f64());
    }
    println!("{}", best * 1e6);
    Ok(())
}

fn run_files(program: &str, weights: &str, inputs: &[&str]) -> Result<()> {
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
        match lines::answer(&line?) {
            Ok(words) => writeln!(
                output,
                "{}",
                ["ok".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
            )?,
            Err(Error(why)) => writeln!(output, "refused {}", why.replace('\n', " "))?,
        }
        output.flush()?;
    }
    Ok(())
}
