// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Reads numbers and words from results of tools, which are data: `name: number` pairs and a first word.
library Results {
    /// @notice The number after `name: `, where the name begins the text or follows a space.
    /// @return found false if there is none, or none that fits int256
    function number(string memory text, string memory name) internal pure returns (bool found, int256 value) {
        bytes memory s = bytes(text);
        bytes memory key = bytes.concat(bytes(name), ": ");
        for (uint256 i; i + key.length < s.length; ++i) {
            if ((i == 0 || s[i - 1] == " ") && _startsWith(s, i, key)) return _parse(s, i + key.length);
        }
    }

    /// @notice Decimal digits with at most `decimals` behind a point, times 10^decimals.
    /// @return fits false if it has more decimals or does not fit uint256
    function scaled(string memory text, uint8 decimals) internal pure returns (bool fits, uint256 value) {
        bytes memory s = bytes(text);
        uint256 missing = decimals;
        bool behind;
        for (uint256 i; i < s.length; ++i) {
            if (s[i] == ".") {
                behind = true;
                continue;
            }
            if (behind) {
                if (missing == 0) return (false, 0);
                --missing;
            }
            (fits, value) = _append(value, uint8(s[i]) - 48);
            if (!fits) return (false, 0);
        }
        for (; missing != 0; --missing) {
            (fits, value) = _append(value, 0);
            if (!fits) return (false, 0);
        }
        fits = true;
    }

    /// @notice True if a text begins with a word, and the word ends there.
    function begins(string memory text, string memory word) internal pure returns (bool) {
        bytes memory s = bytes(text);
        uint256 length = bytes(word).length;
        return _startsWith(s, 0, bytes(word)) && (s.length == length || s[length] == " " || s[length] == ",");
    }

    function _parse(bytes memory s, uint256 i) private pure returns (bool found, int256 value) {
        bool negative = s[i] == "-";
        if (negative) ++i;
        uint256 size;
        uint256 start = i;
        bool fits = true;
        for (; i < s.length && s[i] >= "0" && s[i] <= "9"; ++i) {
            (fits, size) = _append(size, uint8(s[i]) - 48);
            if (!fits) return (false, 0);
        }
        if (i == start || size > uint256(type(int256).max)) return (false, 0);
        return (true, negative ? -int256(size) : int256(size));
    }

    function _append(uint256 value, uint256 digit) private pure returns (bool fits, uint256) {
        unchecked {
            if (value > (type(uint256).max - digit) / 10) return (false, 0);
            return (true, 10 * value + digit);
        }
    }

    function _startsWith(bytes memory s, uint256 start, bytes memory part) private pure returns (bool) {
        if (start + part.length > s.length) return false;
        for (uint256 i; i < part.length; ++i) {
            if (s[start + i] != part[i]) return false;
        }
        return true;
    }
}
