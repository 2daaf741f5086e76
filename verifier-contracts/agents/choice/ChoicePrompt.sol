// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U16} from "../../libraries/Memory.sol";

/// @notice Prompts of a language model as ids, each id two bytes, and the calldata that they make.
/// @dev Nothing is tokenized here: words that are fixed come as ids, and a text of others becomes one id a byte. So a
/// text has one form, which nobody chooses, and none of its bytes is a control token.
library ChoicePrompt {
    /// @notice Thrown when a prompt has more ids than the model reads.
    error PromptTooLong(uint256 ids, uint256 most);

    /// @dev Calldata hold an id less 32,768, which is the id with its highest bit turned over.
    uint256 private constant TURN = 0x8000800080008000800080008000800080008000800080008000800080008000;
    /// @dev 1 in each of sixteen numbers of 16 bits.
    uint256 private constant EACH = 0x0001000100010001000100010001000100010001000100010001000100010001;
    /// @dev Stands in front of a prompt that is shorter than the model's: 32,767 once it is turned.
    bytes2 private constant NO_ID = 0xffff;
    /// @dev Stands behind the last number: 0 once it is turned.
    bytes2 private constant ZERO = 0x8000;

    /// @notice The ids of a text's first bytes.
    /// @param byteIds id of each of the 256 bytes @param most bytes that are read
    function textIds(string memory text, bytes memory byteIds, uint256 most)
        internal
        pure
        returns (bytes memory ids)
    {
        uint256 count = bytes(text).length;
        if (count > most) count = most;
        ids = new bytes(2 * count);
        assembly ("memory-safe") {
            let from := add(text, 1)
            let to := add(ids, 2)
            for { let end := add(from, count) } lt(from, end) { from := add(from, 1) } {
                // The last byte of a word that ends at it, and the last two of one that ends at its id.
                let id := and(mload(add(add(byteIds, 2), shl(1, and(mload(from), 0xff)))), 0xffff)
                // What is written in front of the id is what stands there.
                mstore(to, or(and(mload(to), not(0xffff)), id))
                to := add(to, 2)
            }
        }
    }

    /// @notice Calldata of a model that takes numbers of 16 bits, sixteen a word.
    /// @param size numbers that the model takes
    function toCalldata(bytes4 selector, bytes memory ids, uint256 size)
        internal
        pure
        returns (bytes memory)
    {
        uint256 count = ids.length / 2;
        if (count > size) revert PromptTooLong(count, size);
        uint256[] memory words = new uint256[]((size + 15) / 16);
        bytes memory all = bytes.concat(_filled(NO_ID, size - count), ids);
        all = bytes.concat(all, _filled(ZERO, 16 * words.length - size));
        for (uint256 i; i < words.length; ++i) {
            uint256 word;
            assembly ("memory-safe") {
                word := mload(add(add(all, 32), mul(32, i)))
            }
            words[i] = word ^ TURN;
        }
        return abi.encodeWithSelector(selector, words);
    }

    /// @notice The first id of an answer in return data; none, if there is no id in its place.
    function firstId(bytes memory output) internal pure returns (bool found, uint16 id) {
        // Offset, length, sixteen numbers.
        if (output.length < 96) return (false, 0);
        uint256 word;
        assembly ("memory-safe") {
            word := mload(add(output, 96))
        }
        id = uint16((word ^ TURN) >> FIRST_U16);
        found = id != uint16(NO_ID);
    }

    /// @dev So many times the same two bytes.
    function _filled(bytes2 id, uint256 count) private pure returns (bytes memory all) {
        all = new bytes(2 * count);
        uint256 word = uint256(uint16(id)) * EACH;
        uint256 whole = count / 16;
        for (uint256 i; i < whole; ++i) {
            assembly ("memory-safe") {
                mstore(add(add(all, 32), mul(32, i)), word)
            }
        }
        for (uint256 i = 32 * whole; i < all.length; i += 2) {
            (all[i], all[i + 1]) = (id[0], id[1]);
        }
    }
}
