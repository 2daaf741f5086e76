//! What codes in program bytes name (docs/EXACT.md, sections 1 to 3).

/// Gives an enum the codes by which bytes name its values.
macro_rules! coded {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $code:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$value_doc])* $value = $code),+ }

        impl $name {
            /// The value of a code, if there is one.
            pub fn of(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$value),)+
                    _ => None,
                }
            }
        }
    };
}

coded!(
    /// The type of a tensor's elements.
    ElementType {
        /// The byte.
        U8 = 0,
        /// The value + 128, in one byte.
        S8 = 1,
        /// Big-endian two's complement.
        S32 = 2,
        /// Big-endian IEEE 754 binary32.
        F32 = 3,
        /// One byte; any nonzero byte reads as true.
        Bool = 4,
    }
);

coded!(
    /// How a weight tensor's rows are stored.
    Layout {
        /// The elements, as in a step's tensor.
        Plain = 1,
        /// Byte-reversed words and a parameter word.
        Dot = 2,
        /// Words that are interleaved in SIMD lanes.
        Lookup = 3,
        /// One parameter word.
        Channel = 4,
    }
);

coded!(
    /// What the calldata hold.
    InputCodec {
        /// A string, cut into tokens and n-grams.
        Text = 1,
        /// Three lists of prices.
        Prices = 2,
        /// Signed 16-bit numbers.
        Int16s = 3,
        /// Bytes.
        Raw = 4,
    }
);

coded!(
    /// What the return data hold.
    OutputCodec {
        /// One int256 each.
        Words = 1,
        /// Signed 16-bit numbers.
        Int16s = 2,
        /// Bytes.
        Raw = 3,
    }
);

coded!(
    /// What a step computes (section 3).
    #[allow(missing_docs)]
    Opcode {
        Codec = 1,
        Move = 2,
        Lookup = 3,
        Dot = 4,
        Requant = 5,
        Rescale = 6,
        Table = 7,
        Arith = 8,
        Float = 9,
        Reduce = 10,
        Select = 11,
    }
);

impl ElementType {
    /// Bytes of a stored element.
    pub fn size(self) -> usize {
        match self {
            Self::S32 | Self::F32 => 4,
            _ => 1,
        }
    }

    /// Whether it reads as an integer: everything but f32.
    pub fn is_integer(self) -> bool {
        self != Self::F32
    }
}
