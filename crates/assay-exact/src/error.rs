use alloc::string::String;
use core::fmt;

/// Why something is refused: a sentence with the value and the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

/// What may be refused.
pub type Result<T> = core::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Error {}

/// Returns the error that is written like the arguments of `format!`.
macro_rules! refuse {
    ($($part:tt)*) => {
        return Err($crate::Error(alloc::format!($($part)*)))
    };
}

/// Refuses, with a sentence, unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($part:tt)*) => {
        if !$condition {
            $crate::error::refuse!($($part)*);
        }
    };
}

pub(crate) use {ensure, refuse};
