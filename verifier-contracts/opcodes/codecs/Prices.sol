// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Codec prices: closes, highs and lows to returns (docs/EXACT.md, section 5). Total on any words.
library Prices {
    /// @dev 2^128 - 1
    uint256 private constant CAP = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF;

    /// @notice Writes the returns, s32 [3, n − 1].
    /// @param closes memory of the first close @param highs of the first high @param lows of the first low
    /// @param n prices a list, at least 2 @param out zeroed memory: three rows
    /// @param stride bytes from one to the next, at least 4 · (n − 1)
    function write(uint256 closes, uint256 highs, uint256 lows, uint256 n, uint256 out, uint256 stride)
        internal
        pure
    {
        unchecked {
            uint256 size = 32 * (n - 1);
            uint256 before = _price(closes);
            uint256 last = _price(closes + size);
            for (uint256 offset = 32; offset <= size; offset += 32) {
                uint256 close = _price(closes + offset);
                _put(out, close - before, before);
                _put(out + stride, _price(highs + offset) - _price(lows + offset), close);
                _put(out + 2 * stride, last - close, close);
                before = close;
                out += 4;
            }
        }
    }

    function _price(uint256 pointer) private pure returns (uint256 price) {
        assembly ("memory-safe") {
            price := mload(pointer)
            if gt(price, CAP) { price := CAP }
        }
    }

    /// @dev Writes 10^4 · difference / divisor in 4 bytes. The difference is a two's complement.
    function _put(uint256 out, uint256 difference, uint256 divisor) private pure {
        assembly ("memory-safe") {
            // Toward zero; 0 where the divisor is 0.
            let quotient := sdiv(mul(difference, 10000), divisor)
            if sgt(quotient, 32767) { quotient := 32767 }
            if slt(quotient, sub(0, 32767)) { quotient := sub(0, 32767) }
            out := sub(out, 28)
            mstore(out, or(mload(out), and(quotient, 0xFFFFFFFF)))
        }
    }
}
