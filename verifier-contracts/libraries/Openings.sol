// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../interfaces/IFloatJudge.sol";
import {IJudge} from "../interfaces/IJudge.sol";
import {NONE, Record, Tensor} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";
import {HeldTensors} from "./HeldTensors.sol";
import {FIRST_U32, FIRST_U8} from "./Memory.sol";
import {Merkle} from "./Merkle.sol";
import {ModelWord} from "./ModelWord.sol";
import {ProgramReader} from "./ProgramReader.sol";
import {Shapes} from "./Shapes.sol";

/// @notice One element on trial: what its opcode needs to open operands and compute it.
/// @param word the model word @param chunks data contracts of the program
/// @param record of the step @param out its tensor @param element row-major index in it
/// @param used openings taken so far
/// @param held the operands' tensors if they are at hand (HeldTensors); empty if a sender opens their words
/// @param store data contracts of the published weights, for held weight tensors
struct Trial {
    ModelWord word;
    address[] chunks;
    bytes32 weightsRoot;
    bytes32 traceRoot;
    IFloatJudge floatJudge;
    Record record;
    Tensor out;
    uint256 element;
    uint256 used;
    Tensor[] held;
    address[] store;
}

/// @notice Operands of an element on trial: opened by a sender, or held by whoever computes the whole tensor.
/// Takes openings in their order. Where each one is in its tree follows from the program alone; one that has
/// other words or siblings than belong there, or folds to another root, reverts.
library Openings {
    /// @notice The tensor of an operand of the step. @param position 0 for a, 1 for b, 2 for c
    function operand(Trial memory t, uint256 position) internal view returns (Tensor memory) {
        if (t.held.length != 0) return t.held[position];
        uint256 code = t.record.head.operandOf(position);
        return ProgramReader.tensor(t.chunks, t.word.weights(), code);
    }

    /// @notice Opens one word of a tensor.
    function openWord(
        Trial memory t,
        Opening[] calldata openings,
        Tensor memory x,
        uint256 row,
        uint256 column
    ) internal view returns (uint256 word) {
        if (x.place != 0) return HeldTensors.word(t.store, x, row, column);
        Opening calldata opening = _next(t, openings);
        if (opening.words.length != 1) revert IJudge.WrongWordCount(opening.words.length, 1);
        word = uint256(opening.words[0]);
        bytes32 leaf;
        assembly ("memory-safe") {
            mstore(0, word)
            leaf := keccak256(0, 0x20)
        }
        _requireFolds(t, x, leaf, 0, (row << x.wordBits) | column, opening.path);
    }

    /// @notice Opens a row of a tensor. @return pointer memory of its real words
    function openRow(Trial memory t, Opening[] calldata openings, Tensor memory x, uint256 row)
        internal
        view
        returns (uint256 pointer)
    {
        if (x.place != 0) return HeldTensors.row(t.store, x, row);
        Opening calldata opening = _next(t, openings);
        bytes32[] calldata words = opening.words;
        if (words.length != x.words) revert IJudge.WrongWordCount(words.length, x.words);
        uint256 nodes;
        assembly ("memory-safe") {
            pointer := mload(0x40)
            let size := shl(5, words.length)
            calldatacopy(pointer, words.offset, size)
            // The row stays; its copy for hashing lies beyond what is allocated, nothing allocates before it is folded.
            nodes := add(pointer, size)
            mstore(0x40, nodes)
            calldatacopy(nodes, words.offset, size)
        }
        Merkle.hashLeaves(nodes, words.length);
        bytes32 root = Merkle.foldNodes(nodes, words.length, x.wordBits, Merkle.zeroLeaf());
        _requireFolds(t, x, root, x.wordBits, row, opening.path);
    }

    /// @notice Opens the word that holds an element. @param index row-major
    /// @return stored bytes of the element, right-aligned
    function openElement(Trial memory t, Opening[] calldata openings, Tensor memory x, uint256 index)
        internal
        view
        returns (uint256 stored)
    {
        unchecked {
            uint256 column = index % x.last;
            if (Shapes.elementBytes(x.code) == 4) {
                uint256 word = openWord(t, openings, x, index / x.last, column >> 3);
                return (word >> (FIRST_U32 - 32 * (column & 7))) & 0xFFFFFFFF;
            } else {
                uint256 word = openWord(t, openings, x, index / x.last, column >> 5);
                return (word >> (FIRST_U8 - 8 * (column & 31))) & 0xFF;
            }
        }
    }

    /// @notice Opens the element of a plain operand that stands at the trial's element under broadcast.
    /// @return stored its bytes @return code its type
    function openBroadcast(Trial memory t, Opening[] calldata openings, uint256 position)
        internal
        view
        returns (uint256 stored, uint256 code)
    {
        Tensor memory x = operand(t, position);
        return (openElement(t, openings, x, Shapes.broadcast(t.out, x, t.element)), x.code);
    }

    /// @notice As openBroadcast; 0 without an opening where the step names no such operand.
    function openIfNamed(Trial memory t, Opening[] calldata openings, uint256 position)
        internal
        view
        returns (uint256 stored)
    {
        if (t.record.head.operandOf(position) == NONE) return 0;
        (stored,) = openBroadcast(t, openings, position);
    }

    function _next(Trial memory t, Opening[] calldata openings) private pure returns (Opening calldata) {
        uint256 used = t.used;
        if (used == openings.length) revert IJudge.WrongOpeningCount(used, used + 1);
        t.used = used + 1;
        return openings[used];
    }

    /// @dev A tensor's root is the node number x.index of its trace or weights tree, at level 0.
    /// @param level of the node in the tensor's tree @param index of it at that level
    function _requireFolds(
        Trial memory t,
        Tensor memory x,
        bytes32 node,
        uint256 level,
        uint256 index,
        bytes32[] calldata path
    ) private pure {
        unchecked {
            uint256 levels = x.height - level;
            index |= x.index << levels;
            levels += x.isWeight ? Shapes.ceilLog2(t.word.weights()) : t.word.traceHeight();
            if (path.length != levels) revert IJudge.WrongPathLength(path.length, levels);
            bytes32 required = x.isWeight ? t.weightsRoot : t.traceRoot;
            bytes32 folded = Merkle.foldPath(node, index, path);
            if (folded != required) revert IJudge.WrongRoot(folded, required);
        }
    }
}
