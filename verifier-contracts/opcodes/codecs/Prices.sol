// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Codec prices: closes, highs and lows to returns (docs/EXACT.md, section 5). Total on any words.
library Prices {
    /// @dev 2^128 - 1
    uint256 private constant CAP = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF;

    /// @dev The sign bit of every s32.
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;

    /// @notice Writes the returns, s32 [3, n − 1].
    /// @param closes memory of the first close @param highs of the first high @param lows of the first low
    /// @param n prices a list, at least 2 @param out memory: three rows
    /// @param stride bytes from one to the next, at least 4 · (n − 1)
    function write(uint256 closes, uint256 highs, uint256 lows, uint256 n, uint256 out, uint256 stride)
        internal
        pure
    {
        unchecked {
            uint256 end = closes + 32 * n;
            highs -= closes;
            lows -= closes;
            // Eight days a word: of the last word only what belongs to the row is written.
            for (closes += 32; closes < end; closes += 256) {
                uint256 to = closes + 256;
                uint256 unused = 0;
                if (to > end) {
                    unused = to - end;
                    to = end;
                }
                (uint256 rises, uint256 ranges, uint256 rests) = _days(closes, to, highs, lows, end - 32);
                _store(out, rises, unused);
                _store(out + stride, ranges, unused);
                _store(out + 2 * stride, rests, unused);
                out += 32;
            }
        }
    }

    /// @dev The three returns of up to eight days, each as the sum of r · 2^(32·i) with i = 0 at the last day.
    /// @param day memory of the first one's close @param to behind the last one's
    /// @param highs from a close to the same day's high @param lows likewise @param last memory of the last close
    function _days(uint256 day, uint256 to, uint256 highs, uint256 lows, uint256 last)
        private
        pure
        returns (uint256 rises, uint256 ranges, uint256 rests)
    {
        assembly ("memory-safe") {
            function capped(price) -> p {
                p := price
                if gt(p, CAP) { p := CAP }
            }
            // Toward zero; 0 where the divisor is 0.
            function quotient(difference, divisor) -> q {
                q := sdiv(mul(difference, 10000), divisor)
                if sgt(q, 32767) { q := 32767 }
                if slt(q, sub(0, 32767)) { q := sub(0, 32767) }
            }

            let before := capped(mload(sub(day, 0x20)))
            last := capped(mload(last))
            for {} lt(day, to) { day := add(day, 0x20) } {
                let close := mload(day)
                let high := mload(add(day, highs))
                let low := mload(add(day, lows))
                let rise := sdiv(mul(sub(close, before), 10000), before)
                let range := sdiv(mul(sub(high, low), 10000), close)
                let rest := sdiv(mul(sub(last, close), 10000), close)
                // Rarely a price needs its cap, or a return is beyond ±2^14 and may need its clamp.
                if or(
                    shr(128, or(or(close, high), low)),
                    shr(15, or(or(add(rise, 0x4000), add(range, 0x4000)), add(rest, 0x4000)))
                ) {
                    close := capped(close)
                    rise := quotient(sub(close, before), before)
                    range := quotient(sub(capped(high), capped(low)), close)
                    rest := quotient(sub(last, close), close)
                }
                rises := add(shl(32, rises), rise)
                ranges := add(shl(32, ranges), range)
                rests := add(shl(32, rests), rest)
                before := close
            }
        }
    }

    /// @dev Writes a sum of r · 2^(32·i) as s32 elements. @param unused bits at the end that are left as they are: four
    /// bytes for each day that is missing
    function _store(uint256 out, uint256 sum, uint256 unused) private pure {
        assembly ("memory-safe") {
            // With 2^31 in each, no element borrows from the next.
            let word := shl(unused, xor(add(sum, SIGNS), SIGNS))
            mstore(out, or(word, and(mload(out), sub(shl(unused, 1), 1))))
        }
    }
}
