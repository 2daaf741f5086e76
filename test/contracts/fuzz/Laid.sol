// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {ProgramValidator} from "../../../verifier-contracts/libraries/ProgramValidator.sol";
import {LAYOUT_PLAIN, NONE, WEIGHT} from "../../../verifier-contracts/types/Program.sol";
import {Dice, Dices} from "./Dice.sol";
import {Case, Cases, Operand} from "./RecordCase.sol";

/// @notice A case as a valid program and as bytes in memory.
/// @param program its bytes, accepted by the registry's own rules once a small output stands behind them: the operand
/// steps read the raw input, the record under test is the last step @param word the model word
/// @param steps that stand before the record @param weights weight tensors
/// @param index of each operand as the record names it
/// @param prefix bytes of a weight tensor that stands before the others, so that one of them runs over a chunk's end; 0
/// if there is none @param stream bytes of the weights behind that one, and where each operand is in them
/// @param arena operands and the stream as they are in memory, with other bytes around them
/// @param places of the operand steps in the arena, and of the stream
struct Laid {
    bytes program;
    uint256 word;
    uint256 steps;
    uint256 weights;
    uint256[3] index;
    uint256 prefix;
    bytes stream;
    uint256[3] offsets;
    bytes arena;
    uint256[3] places;
    uint256 streamPlace;
}

library Layout {
    using Dices for Dice;

    uint256 internal constant CHUNK_BYTES = 24_544;

    function lay(Case memory c) internal pure returns (Laid memory l) {
        unchecked {
            bool isTwice = _isTwice(c);
            bytes memory descriptors;
            bytes memory records;
            uint256 input = 0;
            for (uint256 i = 0; i < 3; ++i) {
                Operand memory x = c.operands[i];
                l.index[i] = NONE;
                if (x.data.length == 0 || x.rowLayout == Cases.STEP || (isTwice && i == 1)) continue;
                l.offsets[i] = l.stream.length;
                l.stream = bytes.concat(l.stream, x.data);
                l.index[i] = WEIGHT + l.weights++;
                descriptors = bytes.concat(descriptors, _descriptor(x.rowLayout, x.code, x.rank, x.shape));
            }
            if (l.weights != 0 && c.dice.once(3)) {
                // The chunk ends somewhere in the weights, or just where they begin.
                l.prefix =
                    CHUNK_BYTES - c.dice.below(l.stream.length < CHUNK_BYTES ? l.stream.length : CHUNK_BYTES);
                descriptors = bytes.concat(_descriptor(LAYOUT_PLAIN, 0, 1, l.prefix << 224), descriptors);
                l.weights++;
            }
            for (uint256 i = 0; i < 3; ++i) {
                Operand memory x = c.operands[i];
                if (l.index[i] != NONE && l.prefix != 0) l.index[i]++;
                if (x.data.length == 0 || x.rowLayout != Cases.STEP || (isTwice && i == 1)) continue;
                l.index[i] = l.steps++;
                uint256 head =
                    uint256(0x0104) << 240 | x.code << 232 | x.rank << 224 | uint256(0xFFFFFFFFFFFF) << 176;
                records = bytes.concat(records, abi.encode(head | input << 144, x.shape, 0, 0));
                input += x.data.length;
            }
            if (isTwice) (l.index[1], l.offsets[1]) = (l.index[0], l.offsets[0]);
            l.program = _program(c, l, input, descriptors, records);
            l.word = _validated(_ended(l.program));
            _arena(c, l, isTwice);
        }
    }

    function _validated(bytes memory program) private pure returns (uint256) {
        (ModelWord word,,) = ProgramValidator.validate(program);
        return ModelWord.unwrap(word);
    }

    /// @dev The same program with a small last step: an output is smaller than a step's tensor may be.
    function _ended(bytes memory program) private pure returns (bytes memory ended) {
        uint256 head = uint256(0x01040001) << 224 | uint256(0xFFFFFFFFFFFF) << 176;
        ended = bytes.concat(program, abi.encode(head, uint256(1) << 224, 0, 0));
        assembly ("memory-safe") {
            mstore(add(ended, 0x20), add(mload(add(ended, 0x20)), shl(192, 1)))
        }
    }

    /// @dev Now and then a record names the same tensor twice, where both operands are of one shape and type.
    function _isTwice(Case memory c) private pure returns (bool) {
        (Operand memory a, Operand memory b) = (c.operands[0], c.operands[1]);
        if (b.rowLayout != a.rowLayout || b.code != a.code || b.shape != a.shape || b.rank != a.rank) {
            return false;
        }
        if (c.dice.once(2)) return false;
        b.data = a.data;
        return true;
    }

    /// @dev The head of the record under test.
    function _head(Case memory c, Laid memory l) private pure returns (uint256) {
        uint256 head = c.opcode << 248 | c.variant << 240 | c.code << 232 | c.rank << 224;
        return head | l.index[0] << 208 | l.index[1] << 192 | l.index[2] << 176 | c.attribute << 144;
    }

    function _program(
        Case memory c,
        Laid memory l,
        uint256 input,
        bytes memory descriptors,
        bytes memory records
    ) private pure returns (bytes memory) {
        bytes memory record = abi.encode(_head(c, l), c.shape, c.coordinates01, c.coordinates23);
        uint256 header = uint256(0x41535931) << 224 | l.weights << 208 | (l.steps + 1) << 192 | 0x0403 << 176;
        header |= (input == 0 ? 1 : input) << 144;
        return bytes.concat(bytes32(header), descriptors, records, record);
    }

    function _descriptor(uint256 rowLayout, uint256 code, uint256 rank, uint256 shape)
        private
        pure
        returns (bytes memory)
    {
        return abi.encode(rowLayout << 248 | code << 240 | rank << 232 | shape >> 32);
    }

    /// @dev Operands stand at any byte, as parts of other tensors do, with their neighbours close behind.
    function _arena(Case memory c, Laid memory l, bool isTwice) private pure {
        unchecked {
            for (uint256 i = 0; i < 3; ++i) {
                Operand memory x = c.operands[i];
                if (x.data.length == 0 || x.rowLayout != Cases.STEP || (isTwice && i == 1)) continue;
                l.arena = bytes.concat(l.arena, _gap(c, l.arena.length));
                l.places[i] = l.arena.length;
                l.arena = bytes.concat(l.arena, x.data);
            }
            if (isTwice) l.places[1] = l.places[0];
            l.arena = bytes.concat(l.arena, _gap(c, l.arena.length));
            l.streamPlace = l.arena.length;
            l.arena = bytes.concat(l.arena, l.stream, _noise(64 + c.dice.below(32)));
            // Whole words, as the free memory pointer has it.
            l.arena = bytes.concat(l.arena, _noise((32 - l.arena.length % 32) % 32));
        }
    }

    /// @dev To a whole word, as new tensors stand; or any bytes.
    function _gap(Case memory c, uint256 length) private pure returns (bytes memory) {
        unchecked {
            uint256 size = c.dice.once(2) ? 32 + (32 - length % 32) % 32 : c.dice.below(40);
            return _noise(size);
        }
    }

    function _noise(uint256 size) private pure returns (bytes memory noise) {
        noise = new bytes(size);
        assembly ("memory-safe") {
            for { let i := 0 } lt(i, size) { i := add(i, 1) } {
                mstore8(add(add(noise, 0x20), i), add(0xA1, mul(i, 7)))
            }
        }
    }
}
