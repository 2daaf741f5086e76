//! The program `assay-prove`: Groth16 proofs of .zkey and .wtns files, one after the other.
mod files;
mod key;
mod prove;

use files::Result;
use key::{read_witness, Key};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

const USAGE: &str = "\
assay-prove prove KEY WITNESS   prints the proof of a .zkey and a .wtns file as 256 bytes in hexadecimal digits
assay-prove serve               answers frames on the standard input (docs/CIRCUIT.md)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["prove", key, witness] => Keys::default()
            .prove(key, &std::fs::read(witness).unwrap_or_default())
            .map(|proof| {
                println!(
                    "0x{}",
                    proof
                        .iter()
                        .map(|byte| format!("{byte:02x}"))
                        .collect::<String>()
                )
            }),
        ["serve"] => serve().map_err(|error| error.to_string()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The key that was read last: its file is megabytes, and a node has few models.
#[derive(Default)]
struct Keys {
    last: Option<(PathBuf, SystemTime, Key)>,
}

impl Keys {
    fn prove(&mut self, path: &str, witness: &[u8]) -> Result<Vec<u8>> {
        let failed = |error: io::Error| format!("{path}: {error}");
        let path_buf = PathBuf::from(path);
        let modified = std::fs::metadata(&path_buf)
            .and_then(|data| data.modified())
            .map_err(failed)?;
        let is_last =
            matches!(&self.last, Some((known, at, _)) if *known == path_buf && *at == modified);
        if !is_last {
            let key = Key::read(&std::fs::read(&path_buf).map_err(failed)?)
                .map_err(|why| format!("{path}: {why}"))?;
            self.last = Some((path_buf, modified, key));
        }
        let (_, _, key) = self.last.as_ref().ok_or("no key")?;
        let witness = read_witness(witness).map_err(|why| format!("the witness: {why}"))?;
        Ok(prove::prove(key, &witness)?.bytes())
    }
}

/// A request is the key's path and a .wtns file, an answer a byte (0 a proof, 1 a reason) and its content; each part
/// has its length, 4 bytes little-endian, in front.
fn serve() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut keys = Keys::default();
    while let Some(path) = part(&mut input)? {
        let Some(witness) = part(&mut input)? else {
            break;
        };
        let (mark, content) = match keys.prove(&String::from_utf8_lossy(&path), &witness) {
            Ok(proof) => (0, proof),
            Err(why) => (1, why.into_bytes()),
        };
        output.write_all(&[mark])?;
        output.write_all(&(content.len() as u32).to_le_bytes())?;
        output.write_all(&content)?;
        output.flush()?;
    }
    Ok(())
}

/// The next part; none at the end of the input.
fn part(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut content = vec![0; u32::from_le_bytes(length) as usize];
    input.read_exact(&mut content)?;
    Ok(Some(content))
}
