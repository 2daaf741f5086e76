// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Canonical ABI of dynamic arguments behind a selector: what a standard encoder writes, nothing else
/// (docs/EXACT.md, section 5). Total on any calldata.
library Abi {
    uint256 internal constant SELECTOR_BYTES = 4;
    /// @dev Offset and length of the only argument.
    uint256 internal constant HEAD_BYTES = 64;

    /// @notice Reads the encoding of one `string` or `bytes`.
    /// @return length of its content, 2^256 - 1 if it is not canonical
    function bytesLength(bytes calldata input) internal pure returns (uint256 length) {
        assembly ("memory-safe") {
            let first := add(input.offset, SELECTOR_BYTES)
            length := calldataload(add(first, 0x20))
            // A length of 2^32 or more would wrap around in the sums below.
            let canonical := and(gt(input.length, 67), lt(length, 0x100000000))
            canonical := and(canonical, eq(calldataload(first), 0x20))
            let padding := and(sub(0, length), 31)
            canonical := and(canonical, eq(input.length, add(add(length, padding), 68)))
            // The bytes behind the content, as many as pad it to a whole word.
            let rest := calldataload(add(add(first, HEAD_BYTES), length))
            canonical := and(canonical, iszero(shr(sub(256, shl(3, padding)), rest)))
            length := or(length, sub(canonical, 1))
        }
    }

    /// @notice True if this is the canonical encoding of `arrays` arrays `uint256[]`, each of `length` words.
    function isArrays(bytes calldata input, uint256 arrays, uint256 length)
        internal
        pure
        returns (bool canonical)
    {
        unchecked {
            uint256 size = 32 + 32 * length;
            if (input.length != SELECTOR_BYTES + arrays * (32 + size)) return false;
            uint256 tail = 32 * arrays;
            for (uint256 i = 0; i < arrays; ++i) {
                if (_word(input, 32 * i) != tail || _word(input, tail) != length) return false;
                tail += size;
            }
            return true;
        }
    }

    /// @dev The word at an offset from the first argument's head; it lies inside the input.
    function _word(bytes calldata input, uint256 offset) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(add(input.offset, SELECTOR_BYTES), offset))
        }
    }
}
