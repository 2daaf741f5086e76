// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Random choices that follow from a seed alone.
struct Dice {
    uint256 state;
}

library Dices {
    /// @notice A random word.
    function next(Dice memory d) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := keccak256(d, 0x20)
            mstore(d, word)
        }
    }

    /// @param limit at least 1 @return a number below it
    function below(Dice memory d, uint256 limit) internal pure returns (uint256) {
        unchecked {
            return (next(d) >> 64) % limit;
        }
    }

    /// @return a number from `least` to `most`
    function range(Dice memory d, uint256 least, uint256 most) internal pure returns (uint256) {
        unchecked {
            return least + below(d, most - least + 1);
        }
    }

    /// @return true once in `times`
    function once(Dice memory d, uint256 times) internal pure returns (bool) {
        return below(d, times) == 0;
    }

    /// @notice One byte of `choices`. @param count how many of them, from the first on
    function pick(Dice memory d, bytes32 choices, uint256 count) internal pure returns (uint256) {
        return uint8(choices[below(d, count)]);
    }

    /// @notice A dim: around the lengths of words, blocks and lanes, or any small one. @param most the greatest
    function dim(Dice memory d, uint256 most) internal pure returns (uint256 n) {
        n = once(d, 4) ? range(d, 1, 12) : pick(d, hex"0102030407080910111f2021303f40416080", 18);
        if (n > most) n = range(d, 1, most);
    }

    /// @notice A shape of at most `most` elements. @param rank 1 to 6
    function shape(Dice memory d, uint256 rank, uint256 most) internal pure returns (uint256 dims) {
        unchecked {
            // The axis that is drawn first has the most room.
            uint256 first = below(d, rank);
            for (uint256 i = 0; i < rank; ++i) {
                uint256 axis = (first + i) % rank;
                uint256 n = i > 1 && once(d, 2) ? range(d, 1, most < 4 ? most : 4) : dim(d, most);
                dims |= n << (224 - 32 * axis);
                most /= n;
            }
        }
    }

    /// @notice Random bytes of a tensor, hostile ones among them. @param code type of the elements
    function tensorBytes(Dice memory d, uint256 code, uint256 count)
        internal
        pure
        returns (bytes memory data)
    {
        unchecked {
            bool wide = code == 2 || code == 3;
            data = new bytes(wide ? 4 * count : count);
            // All random; all from the list; or a mixture of both, in words of eight elements.
            uint256 style = below(d, 4);
            uint256 constant_ = next(d);
            for (uint256 i = 0; i < data.length; i += 32) {
                uint256 word = next(d);
                if (style == 1 || (style == 2 && word & 1 == 0)) {
                    word = wide ? _hostileWord(d, code) : _edges(word);
                }
                if (style == 3 && word & 7 != 0) word = constant_;
                if (style == 0 && wide && word & 6 == 0) word = _small(word);
                if (code == 4 && word >> 255 == 0) {
                    word &= 0x0101010101010101010101010101010101010101010101010101010101010101;
                }
                uint256 left = data.length - i;
                if (left < 32) word = (word >> (256 - 8 * left)) << (256 - 8 * left);
                assembly ("memory-safe") {
                    mstore(add(add(data, 0x20), i), word)
                }
            }
        }
    }

    /// @dev Bytes 0, 1, 127, 128, 254 and 255.
    function _edges(uint256 word) private pure returns (uint256 edges) {
        unchecked {
            for (uint256 i = 0; i < 32; ++i) {
                edges = (edges << 8) | uint8(bytes6(0x00017F80FEFF)[(word >> (8 * i)) % 6]);
            }
        }
    }

    /// @dev s32 within −128 to 127, as quantized models have them.
    function _small(uint256 word) private pure returns (uint256 small) {
        unchecked {
            for (uint256 i = 0; i < 8; ++i) {
                small = (small << 32) | uint32(int32(int8(uint8(word >> (8 + 8 * i)))));
            }
        }
    }

    function _hostileWord(Dice memory d, uint256 code) private pure returns (uint256 word) {
        unchecked {
            uint256 random = next(d);
            for (uint256 i = 0; i < 8; ++i) {
                word = (word << 32) | (code == 3 ? hostileFloat(random) : hostileInteger(random));
                random >>= 32;
            }
        }
    }

    function hostileInteger(uint256 random) internal pure returns (uint32) {
        bytes32 edges = 0x80000000_7FFFFFFF_FFFFFFFF_00000000_00000001_80000001_00010000_000000FF;
        uint256 chosen = (random >> 8) & 15;
        if (chosen < 8) return uint32(uint256(edges) >> (32 * chosen));
        if (chosen < 11) return uint32(1 << ((random >> 16) & 31));
        if (chosen < 13) return uint32((random & 0xFF) << ((random >> 16) & 31));
        return uint32(random >> 1);
    }

    function hostileFloat(uint256 random) internal pure returns (uint32) {
        // NaN, -NaN with a payload, the infinities, zeros, subnormals, the greatest and least normal numbers, 1, 0.5.
        bytes32 a = 0x7FC00000_FF800001_7F800000_FF800000_00000000_80000000_00000001_807FFFFF;
        bytes32 b = 0x7F7FFFFF_00800000_3F800000_BF800000_3F000000_4B000000_CB800001_007FFFFF;
        uint256 chosen = (random >> 8) & 31;
        if (chosen < 8) return uint32(uint256(a) >> (32 * chosen));
        if (chosen < 16) return uint32(uint256(b) >> (32 * (chosen - 8)));
        // Near 1: exponents that meet.
        if (chosen < 26) {
            return uint32((random & 0x80000000) | ((112 + ((random >> 24) & 31)) << 23) | (random & 0x7FFFFF));
        }
        return uint32(random);
    }
}
