// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TypedTool} from "./TypedTool.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title Retrieval as a tool: the passage of a small collection that shares most words with a question
/// @notice Passages are written at construction and stay. A word counts once, by its letters and digits, without
/// regard to case; of equal passages the first is taken.
contract PassageTool is TypedTool {
    /// @notice Thrown for a collection that is empty or too large to search.
    error WrongPassageCount(uint256 count, uint256 most);
    /// @notice Thrown for a passage or a question that is too long to search.
    error TooLong(uint256 length, uint256 most);

    uint256 public constant MAX_PASSAGES = 32;
    uint256 public constant MAX_LENGTH = 1_000;
    /// @dev Words of a question that count.
    uint256 private constant MAX_WORDS = 32;

    string[] private _passages;
    bytes32[][] private _words;

    constructor(string[] memory passages)
        TypedTool(
            "RetrievalTool",
            "Finds the passage of the documents that fits a question best, and says its number",
            _one(ParamDescription(ParamType.STRING, "question", "what to look for"))
        )
    {
        if (passages.length == 0 || passages.length > MAX_PASSAGES) {
            revert WrongPassageCount(passages.length, MAX_PASSAGES);
        }
        for (uint256 i; i < passages.length; ++i) {
            _passages.push(passages[i]);
            _words.push(_wordsOf(passages[i], MAX_LENGTH));
        }
    }

    function passage(uint256 index) external view returns (string memory) {
        return _passages[index];
    }

    function _use(bytes memory values) internal view override returns (string memory) {
        bytes32[] memory question = _wordsOf(abi.decode(values, (string)), MAX_WORDS);
        uint256 best;
        uint256 most;
        for (uint256 i; i < _passages.length; ++i) {
            uint256 shared = _shared(question, _words[i]);
            if (shared > most) (best, most) = (i, shared);
        }
        if (most == 0) return "No passage shares a word with the question.";
        return string.concat("Passage ", Strings.toString(best), ": \"", _passages[best], "\"");
    }

    function _shared(bytes32[] memory question, bytes32[] memory words) private pure returns (uint256 count) {
        for (uint256 i; i < question.length; ++i) {
            if (_contains(words, words.length, question[i])) ++count;
        }
    }

    /// @dev Hashes of the different words of a text, at most `most` of them.
    function _wordsOf(string memory text, uint256 most) private pure returns (bytes32[] memory words) {
        bytes memory s = bytes(text);
        if (s.length > MAX_LENGTH) revert TooLong(s.length, MAX_LENGTH);
        words = new bytes32[](s.length < most ? s.length : most);
        uint256 count;
        uint256 start;
        for (uint256 i; i <= s.length && count < words.length; ++i) {
            if (i < s.length) {
                bytes1 c = s[i];
                if (c >= "A" && c <= "Z") s[i] = c | 0x20;
                else if (!(c >= "a" && c <= "z") && !(c >= "0" && c <= "9")) s[i] = 0;
                if (s[i] != 0) continue;
            }
            if (i > start) {
                bytes32 hash;
                assembly ("memory-safe") {
                    hash := keccak256(add(add(s, 32), start), sub(i, start))
                }
                if (!_contains(words, count, hash)) words[count++] = hash;
            }
            start = i + 1;
        }
        assembly ("memory-safe") {
            mstore(words, count)
        }
    }

    function _contains(bytes32[] memory words, uint256 count, bytes32 word) private pure returns (bool) {
        for (uint256 i; i < count; ++i) {
            if (words[i] == word) return true;
        }
        return false;
    }
}
