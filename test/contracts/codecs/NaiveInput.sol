// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

/// @notice The input codecs as docs/EXACT.md, section 5 writes them, element by element. Stored bytes, right-aligned.
library NaiveInput {
    /// @param content of raw calldata @param place of the element's first byte @param code its type
    function raw(bytes memory content, uint256 place, uint256 code) internal pure returns (uint256) {
        uint256 first = uint8(content[place]);
        if (code == 0) return first;
        if (code == 1) return first ^ 0x80;
        if (code == 4) return first == 0 ? 0 : 1;
        uint256 word = first | uint256(uint8(content[place + 1])) << 8 | uint256(uint8(content[place + 2]))
            << 16 | uint256(uint8(content[place + 3])) << 24;
        if (code == 2) return word;
        uint256 exponent = (word >> 23) & 0xFF;
        // Zeros and subnormals, and what is above 2^20 or not finite.
        if (exponent == 0) return 0;
        uint256 size = word & 0x7FFFFFFF;
        return size > 0x49800000 ? 0 : word;
    }

    function int16At(bytes memory content, uint256 index) internal pure returns (uint256) {
        uint16 value = uint16(uint8(content[2 * index])) << 8 | uint8(content[2 * index + 1]);
        return uint32(int32(int16(value)));
    }

    function price(uint256[][3] memory lists, uint256 row, uint256 column) internal pure returns (uint256) {
        uint256 n = lists[0].length;
        (int256 close, int256 before) = (_price(lists[0][column + 1]), _price(lists[0][column]));
        int256 change = close - before;
        int256 divisor = before;
        if (row == 1) change = _price(lists[1][column + 1]) - _price(lists[2][column + 1]);
        if (row == 2) change = _price(lists[0][n - 1]) - close;
        if (row != 0) divisor = close;
        if (divisor == 0) return 0;
        int256 result = 10_000 * change / divisor;
        if (result > 32_767) result = 32_767;
        if (result < -32_767) result = -32_767;
        return uint32(int32(result));
    }

    function _price(uint256 any) private pure returns (int256) {
        return int256(any > type(uint128).max ? type(uint128).max : any);
    }

    /// @return ids tokens rows of width @param table rows that the ids name
    function text(bytes memory s, uint256 tokens, uint256 width, uint256 table)
        internal
        pure
        returns (uint256[] memory ids)
    {
        ids = new uint256[](tokens * width);
        uint256 row = 0;
        uint256 i = 0;
        while (i < s.length && row < tokens) {
            if (uint8(s[i]) <= 0x20 || uint8(s[i]) == 0x7F) {
                ++i;
                continue;
            }
            uint256 end = i + 1;
            if (_isWord(s[i])) {
                while (end < s.length && _isWord(s[end])) ++end;
                if (_isScheme(s, i, end)) {
                    while (end < s.length && uint8(s[end]) > 0x20) ++end;
                    i = end;
                    continue;
                }
            }
            _row(ids, row * width, width, table, _lowered(s, i, end));
            ++row;
            i = end;
        }
    }

    function _row(uint256[] memory ids, uint256 from, uint256 width, uint256 table, bytes memory token)
        private
        pure
    {
        uint256 used = 0;
        for (uint256 kind = 0; kind < 3; ++kind) {
            uint256 size = kind == 0 ? token.length : kind + 2;
            if (token.length < size || (kind != 0 && token.length < 3)) continue;
            for (uint256 start = 0; start + size <= token.length && used < width; ++start) {
                bytes memory hashed = new bytes(32);
                for (uint256 j = 0; j < size; ++j) {
                    hashed[j] = token[start + j];
                }
                hashed[31] = bytes1(uint8(kind == 0 ? size : 0x80 + size));
                ids[from + used++] = 1 + uint256(keccak256(hashed)) % (table - 1);
            }
        }
    }

    /// @dev The first 31 bytes, in lower case.
    function _lowered(bytes memory s, uint256 from, uint256 end) private pure returns (bytes memory token) {
        token = new bytes(end - from > 31 ? 31 : end - from);
        for (uint256 i = 0; i < token.length; ++i) {
            uint8 value = uint8(s[from + i]);
            token[i] = bytes1(value >= 0x41 && value <= 0x5A ? value + 0x20 : value);
        }
    }

    function _isScheme(bytes memory s, uint256 from, uint256 end) private pure returns (bool) {
        bytes32 run = keccak256(_lowered(s, from, end));
        if (run != keccak256("http") && run != keccak256("https")) return false;
        return end + 3 <= s.length && s[end] == ":" && s[end + 1] == "/" && s[end + 2] == "/";
    }

    function _isWord(bytes1 value) private pure returns (bool) {
        uint8 x = uint8(value);
        return x >= 0x80 || (x >= 0x30 && x <= 0x39) || (x >= 0x41 && x <= 0x5A) || (x >= 0x61 && x <= 0x7A);
    }
}
