//! assay-exact as a WebAssembly module. A caller allocates, writes what it has, prepares a model once, and runs it.
//! Functions that can refuse give 0 for that; the reason is then the result.
use assay_exact::calldata::Input;
use assay_exact::execute::{run, split_weights};
use assay_exact::program::Program;
use assay_exact::Result;
use std::cell::RefCell;

struct Model {
    program: Program,
    weights: Vec<u8>,
    selector: [u8; 4],
}

thread_local! {
    static MODEL: RefCell<Option<Model>> = const { RefCell::new(None) };
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for so many bytes, which the next function takes. Gives their address.
#[no_mangle]
pub extern "C" fn allocate(length: usize) -> *const u8 {
    BYTES.with_borrow_mut(|bytes| {
        *bytes = vec![0; length];
        bytes.as_ptr()
    })
}

/// Takes a model: the allocated bytes are selector ‖ program ‖ weights.
#[no_mangle]
pub extern "C" fn prepare(program_length: usize) -> u32 {
    finish(BYTES.take(), |bytes| {
        let selector = bytes.first_chunk().copied().unwrap_or_default();
        let (program, weights) = bytes[selector.len()..].split_at(program_length);
        let program = Program::read(program)?;
        split_weights(&program, weights)?;
        let weights = weights.to_vec();
        MODEL.set(Some(Model {
            program,
            weights,
            selector,
        }));
        Ok(Vec::new())
    })
}

/// Runs the model on the allocated bytes as calldata.
#[no_mangle]
pub extern "C" fn execute() -> u32 {
    finish(BYTES.take(), |calldata| {
        MODEL.with_borrow(|model| match model {
            None => Ok(Vec::new()),
            Some(Model {
                program,
                weights,
                selector,
            }) => {
                let weights = split_weights(program, weights)?;
                let input = Input::read(program, *selector, &calldata)?;
                Ok(run(program, &weights, &input)?.output())
            }
        })
    })
}

/// The address of what the last function left: return data, or the reason of a refusal.
#[no_mangle]
pub extern "C" fn result() -> *const u8 {
    BYTES.with_borrow(|bytes| bytes.as_ptr())
}

/// Its length.
#[no_mangle]
pub extern "C" fn result_length() -> usize {
    BYTES.with_borrow(Vec::len)
}

fn finish(bytes: Vec<u8>, compute: impl FnOnce(Vec<u8>) -> Result<Vec<u8>>) -> u32 {
    let (is_done, left) = match compute(bytes) {
        Ok(found) => (1, found),
        Err(error) => (0, error.0.into_bytes()),
    };
    BYTES.set(left);
    is_done
}
