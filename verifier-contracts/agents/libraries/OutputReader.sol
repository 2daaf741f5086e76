// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @title Reads a model's return data: numbers by their place, classes, probabilities and quantiles.
/// @notice For contracts that consume final outputs. What the numbers of a model stand for says its manifest (`meaning`);
///         the consumer passes it as arguments: no manifest is known on the chain. A place counts numbers from 0.
library OutputReader {
    /// @notice Thrown when the output ends before the number at `place`.
    error OutputTooShort(uint256 bytesGiven, uint256 place);
    /// @notice Thrown when the number that names the class is none of 0 to `classes` - 1.
    error UnknownClass(int256 class, uint256 classes);
    /// @notice Thrown for a range of scores that holds no class, or for a class outside of it.
    error NoSuchScore(uint256 class, uint256 classes);
    /// @notice Thrown when a scale is not from 1 to 2^128 - 1.
    error InvalidScale(uint256 scale);

    uint256 private constant WORD = 32;
    /// @dev What `uint256[]` and `bytes` have before their elements: offset and length.
    uint256 private constant HEAD = 64;
    uint256 private constant WAD = 1e18;
    uint256 private constant ONE = 1 << 96;
    /// @dev floor(ln 2 · 2^96)
    uint256 private constant LN2 = 54916777467707473351141471128;

    /// @notice The number at a place of an output of codec words: a quantile, a score, points.
    function number(bytes memory output, uint256 place) internal pure returns (int256 value) {
        if (place >= output.length / WORD) revert OutputTooShort(output.length, place);
        assembly ("memory-safe") {
            value := mload(add(add(output, WORD), mul(place, WORD)))
        }
    }

    /// @notice The number at a place of an output of codec int16s.
    function int16Number(bytes memory output, uint256 place) internal pure returns (int256 value) {
        if (output.length < HEAD || place >= (output.length - HEAD) / 2) {
            revert OutputTooShort(output.length, place);
        }
        // The two bytes at the end of a word that starts 30 before them.
        assembly ("memory-safe") {
            value := signextend(1, mload(add(add(output, add(HEAD, 2)), mul(place, 2))))
        }
    }

    /// @notice value of number / scale as a fixed-point number of 18 decimals, rounded towards 0.
    /// @dev Overflows, and reverts, for a number beyond 2^255 / 10^18.
    function fixedPoint(int256 value, uint256 scale) internal pure returns (int256) {
        _requireScale(scale);
        return value * int256(WAD) / int256(scale);
    }

    /// @notice The class that the number at a place names, from 0 to `classes` - 1.
    function label(bytes memory output, uint256 place, uint256 classes) internal pure returns (uint256) {
        int256 class = number(output, place);
        if (class < 0 || uint256(class) >= classes) revert UnknownClass(class, classes);
        return uint256(class);
    }

    /// @notice The class of the greatest of `classes` scores, the first of equals, and how far it is before the next one, in
    ///         steps of a score.
    /// @param first place of the first score
    function top(bytes memory output, uint256 first, uint256 classes)
        internal
        pure
        returns (uint256 class, uint256 margin)
    {
        if (classes == 0) revert NoSuchScore(0, 0);
        int256 best = number(output, first);
        int256 second = best;
        bool hasSecond;
        for (uint256 i = 1; i < classes; ++i) {
            int256 score = number(output, first + i);
            if (score > best) {
                (class, second, best, hasSecond) = (i, best, score, true);
            } else if (!hasSecond || score > second) {
                (second, hasSecond) = (score, true);
            }
        }
        margin = _difference(best, second);
    }

    /// @notice Probability of a class, softmax of score / scale, with 18 decimals. For display and thresholds: it is what the
    ///         model's scores say, not how often the model is right.
    /// @dev |result - exact| < 2e-18 for up to 256 classes: exp(-x) is known to 100 · 2^-96, and the quotient is cut.
    /// @param first place of the first score @param scale steps of a score in one nat
    function probability(bytes memory output, uint256 first, uint256 classes, uint256 class, uint256 scale)
        internal
        pure
        returns (uint256)
    {
        _requireScale(scale);
        if (class >= classes || classes > 256) revert NoSuchScore(class, classes);
        int256 most = _greatest(output, first, classes);
        uint256 own = _expMinus(_difference(most, number(output, first + class)), scale);
        return own * WAD / _sumOfPowers(output, first, classes, most, scale);
    }

    function _greatest(bytes memory output, uint256 first, uint256 classes)
        private
        pure
        returns (int256 most)
    {
        most = number(output, first);
        for (uint256 i = 1; i < classes; ++i) {
            int256 score = number(output, first + i);
            if (score > most) most = score;
        }
    }

    /// @dev The greatest score's power is 2^96, so that the sum is not 0.
    function _sumOfPowers(bytes memory output, uint256 first, uint256 classes, int256 most, uint256 scale)
        private
        pure
        returns (uint256 sum)
    {
        for (uint256 i; i < classes; ++i) {
            sum += _expMinus(_difference(most, number(output, first + i)), scale);
        }
    }

    function _requireScale(uint256 scale) private pure {
        if (scale == 0 || scale > type(uint128).max) revert InvalidScale(scale);
    }

    /// @dev a - b for a >= b; it fits into a word of any two int256.
    function _difference(int256 a, int256 b) private pure returns (uint256) {
        unchecked {
            return uint256(a) - uint256(b);
        }
    }

    /// @dev exp(-steps / scale) · 2^96: x is brought below ln 2 by halvings, whose number is counted, and the series of
    ///      exp(-r) is summed from its 24th term. Below 2^-96 it is 0.
    function _expMinus(uint256 steps, uint256 scale) private pure returns (uint256) {
        unchecked {
            // exp(-67) < 2^-96; and steps · 2^96 fits into a word, as steps < 67 · 2^128.
            if (steps >= 67 * scale) return 0;
            uint256 x = steps * ONE / scale;
            uint256 halvings = x / LN2;
            uint256 r = x - halvings * LN2;
            // 1 - r/1 (1 - r/2 (1 - r/3 (…))): each bracket lies between 0 and 1.
            uint256 bracket = ONE;
            for (uint256 n = 24; n > 0; --n) {
                bracket = ONE - r * bracket / ONE / n;
            }
            return bracket >> halvings;
        }
    }
}
