// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice A token that a prompt may name. @param symbol in lower case @param decimals of its amounts
struct Asset {
    string symbol;
    address token;
    uint8 decimals;
}

/// @notice What a word of a clause is. Only a word of the right kind can fill in a parameter.
enum WordKind {
    PLAIN,
    NUMBER,
    ASSET,
    ACCOUNT,
    TEXT
}

/// @notice One clause of a prompt as the policy model reads it.
/// @param found false if the prompt has no such clause
/// @param text the words, with placeholders for what is data
/// @param range first byte << 128 | end of the clause in the prompt
/// @param kinds of each word of `text`, counted as the text codec counts tokens
/// @param values number, text: first byte << 128 | end in the prompt; asset: its index; account: its address
struct Clause {
    bool found;
    bytes text;
    uint256 range;
    WordKind[32] kinds;
    uint256[32] values;
    uint256 count;
}

/// @notice Splits a prompt into clauses and words.
/// @dev Clauses end at `;` and at the word "then". A text in double quotes is one word and is not looked into.
/// Placeholders hold bytes above 7F, and such bytes of a prompt are dropped, so that no prompt can write one.
library Clauses {
    /// @notice Thrown when a clause has more words than the model reads.
    error ClauseTooLong(uint256 words, uint256 most);
    /// @notice Thrown for "1,000", which is one number to some and two to others: write 1000.
    error NumberAmbiguous(uint256 position);
    /// @notice Thrown when a quote is opened and not closed.
    error QuoteOpen(uint256 position);
    /// @notice Thrown when an address in mixed case is not spelt as its checksum demands.
    error WrongChecksum(string account);

    uint256 internal constant MAX_WORDS = 32;

    /// @param state first two words of the model's text
    /// @param index which clause, from 0
    function read(string memory prompt, uint256 index, string memory state, Asset[] memory assets)
        internal
        pure
        returns (Clause memory clause)
    {
        bytes memory s = bytes(prompt);
        clause.text = bytes(state);
        clause.count = 2;
        uint256 current;
        uint256 start;
        uint256 i;
        while (i < s.length) {
            bytes1 c = s[i];
            if (c == ";") {
                if (current == index) break;
                ++current;
                start = ++i;
                continue;
            }
            if (c == "\"") {
                uint256 close = _endOfQuote(s, i);
                if (current == index) _push(clause, unicode"§text", WordKind.TEXT, (i + 1) << 128 | close);
                i = close + 1;
                continue;
            }
            if (!_isWord(c)) {
                if (c == "'" && current == index) _push(clause, "'", WordKind.PLAIN, 0);
                ++i;
                continue;
            }
            uint256 end = i;
            while (end < s.length && _isWord(s[end])) ++end;
            if (_equals(s, i, end, "then")) {
                if (current == index) break;
                ++current;
                start = end;
            } else if (current == index) {
                end = _pushWord(clause, s, i, end, assets);
            }
            i = end;
        }
        clause.range = start << 128 | i;
        clause.found = clause.count > 2;
    }

    /// @notice A part of the prompt that a word stands for.
    function slice(string memory prompt, uint256 range) internal pure returns (string memory) {
        return string(_cut(bytes(prompt), range >> 128, uint128(range)));
    }

    /// @return end of what was read: a number goes on behind its point
    function _pushWord(
        Clause memory clause,
        bytes memory s,
        uint256 start,
        uint256 end,
        Asset[] memory assets
    ) private pure returns (uint256) {
        if (_isDigits(s, start, end)) {
            if (end + 1 < s.length && s[end] == "," && _isDigit(s[end + 1])) {
                revert NumberAmbiguous(start);
            }
            if (end + 1 < s.length && s[end] == "." && _isDigit(s[end + 1])) {
                ++end;
                while (end < s.length && _isDigit(s[end])) ++end;
            }
            _push(clause, unicode"§number", WordKind.NUMBER, start << 128 | end);
            return end;
        }
        bytes memory word = _cut(s, start, end);
        (bool isAccount, address account) = _account(word);
        if (isAccount) {
            _push(clause, unicode"§account", WordKind.ACCOUNT, uint160(account));
            return end;
        }
        for (uint256 i; i < assets.length; ++i) {
            if (_equals(s, start, end, bytes(assets[i].symbol))) {
                _push(clause, unicode"§asset", WordKind.ASSET, i);
                return end;
            }
        }
        _push(clause, word, WordKind.PLAIN, 0);
        return end;
    }

    function _push(Clause memory clause, bytes memory word, WordKind kind, uint256 value) private pure {
        if (clause.count == MAX_WORDS) revert ClauseTooLong(MAX_WORDS + 1, MAX_WORDS);
        clause.text = bytes.concat(clause.text, " ", word);
        clause.kinds[clause.count] = kind;
        clause.values[clause.count] = value;
        ++clause.count;
    }

    function _account(bytes memory word) private pure returns (bool isAccount, address account) {
        if (word.length != 42) return (false, address(0));
        (isAccount, account) = Strings.tryParseAddress(string(word));
        if (!isAccount || _isOneCase(word)) return (isAccount, account);
        if (keccak256(bytes(Strings.toChecksumHexString(account))) != keccak256(word)) {
            revert WrongChecksum(string(word));
        }
    }

    /// @dev From the third byte: an address in one case carries no checksum.
    function _isOneCase(bytes memory word) private pure returns (bool) {
        bool upper;
        bool lower;
        for (uint256 i = 2; i < word.length; ++i) {
            if (word[i] >= "a") lower = true;
            else if (word[i] >= "A") upper = true;
        }
        return !(upper && lower);
    }

    function _endOfQuote(bytes memory s, uint256 start) private pure returns (uint256 end) {
        end = start + 1;
        while (end < s.length && s[end] != "\"") ++end;
        if (end == s.length) revert QuoteOpen(start);
    }

    function _cut(bytes memory s, uint256 start, uint256 end) private pure returns (bytes memory part) {
        part = new bytes(end - start);
        assembly ("memory-safe") {
            mcopy(add(part, 32), add(add(s, 32), start), sub(end, start))
        }
    }

    /// @dev Compares without regard to case. @param word in lower case
    function _equals(bytes memory s, uint256 start, uint256 end, bytes memory word)
        private
        pure
        returns (bool)
    {
        if (end - start != word.length) return false;
        for (uint256 i; i < word.length; ++i) {
            bytes1 c = s[start + i];
            if (c >= "A" && c <= "Z") c |= 0x20;
            if (c != word[i]) return false;
        }
        return true;
    }

    function _isDigits(bytes memory s, uint256 start, uint256 end) private pure returns (bool) {
        for (uint256 i = start; i < end; ++i) {
            if (!_isDigit(s[i])) return false;
        }
        return true;
    }

    function _isDigit(bytes1 c) private pure returns (bool) {
        return c >= "0" && c <= "9";
    }

    function _isWord(bytes1 c) private pure returns (bool) {
        return _isDigit(c) || (c >= "a" && c <= "z") || (c >= "A" && c <= "Z");
    }
}
