// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {CompiledLayer} from "../../../verifier-contracts/execution/compiled/CompiledLayer.sol";
import {instruction} from "../../../verifier-contracts/execution/plan/Instruction.sol";
import {Plan, PlanHead, planHead} from "../../../verifier-contracts/execution/plan/Plan.sol";
import {PlanRun} from "../../../verifier-contracts/execution/plan/PlanRun.sol";
import {Draft, PlanWriter} from "../../../verifier-contracts/execution/plan/PlanWriter.sol";
import {Flat, describeFlat, describeWeight} from "../../../verifier-contracts/libraries/Flat.sol";
import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {MovePlan} from "../../../verifier-contracts/opcodes/rows/MovePlan.sol";
import {LAYOUT_LOOKUP, NONE, WEIGHT} from "../../../verifier-contracts/types/Program.sol";
import {Laid} from "./Laid.sol";
import {Case, Operand} from "./RecordCase.sol";

/// @notice What a planner must know of a laid case: fields as in Laid and in Operand.
struct PlanTask {
    uint256 word;
    uint256 steps;
    uint256 weights;
    uint256 chunks;
    uint256 prefix;
    uint256 streamPlace;
    uint256 arenaBytes;
    uint256[3] index;
    uint256[3] code;
    uint256[3] rank;
    uint256[3] rowLayout;
    uint256[3] places;
    uint256[3] offsets;
}

/// @notice Writes the plan of one step, whose operands are where an arena has them.
contract StepPlanner {
    /// @return words the plan without a head @return flat the tensor that it makes @return top memory that is free then
    function write(PlanTask calldata t, bytes memory program)
        external
        pure
        returns (bytes memory words, Flat flat, uint256 top)
    {
        uint256 arena = Planned.arenaOf(t.chunks);
        words = new bytes(32 * Planned.WORDS);
        Draft memory d;
        d.word = ModelWord.wrap(t.word);
        (d.records, d.place) = (_at(program) + 32 + 32 * t.weights, _at(words));
        d.end = d.place + words.length;
        d.moves = Memory.reserve(MovePlan.BYTES);
        d.step = t.steps;
        d.compiled = CompiledLayer.NONE;
        d.top = arena + t.arenaBytes;
        _operands(t, d, arena);
        flat = PlanWriter.writeStep(d, d.records + 128 * t.steps);
        PlanWriter.append(d, instruction(Plan.END, 0, 0, 0, 0));
        return (words, flat, d.top);
    }

    /// @return place memory of the first byte
    function _at(bytes memory data) private pure returns (uint256 place) {
        assembly ("memory-safe") {
            place := add(data, 0x20)
        }
    }

    function _operands(PlanTask calldata t, Draft memory d, uint256 arena) private pure {
        d.steps = new Flat[](t.steps + 1);
        d.weights = new Flat[](t.weights);
        for (uint256 i = 0; i < 3; ++i) {
            uint256 index = t.index[i];
            if (index == NONE) continue;
            if (index < WEIGHT) {
                Flat flat = describeFlat(d.records + 128 * index + 32, t.code[i], t.rank[i]);
                d.steps[index] = flat.at(arena + t.places[i]);
                continue;
            }
            // A table's rows are read where they are published; all else is in memory before.
            uint256 place = t.offsets[i];
            place += t.rowLayout[i] == LAYOUT_LOOKUP ? t.prefix : arena + t.streamPlace;
            uint256 descriptor = d.records - 32 * t.weights + 32 * (index - WEIGHT);
            (d.weights[index - WEIGHT],) = describeWeight(descriptor, place);
        }
    }
}

/// @notice Runs the plan that is its calldata where plans run, and answers with the memory behind it.
contract PlanRunner {
    fallback() external {
        assembly ("memory-safe") {
            calldatacopy(0x80, 0, calldatasize()) // Plan.AT
        }
        PlanHead head = PlanHead.wrap(Memory.load(Plan.AT + 32));
        Memory.release(head.free());
        PlanRun.run(Plan.AT + Plan.HEAD_BYTES + 32 * head.chunks());
        assembly ("memory-safe") {
            return(0x80, calldatasize())
        }
    }
}

library Planned {
    /// @dev Instructions of one step: 16 copies and what fills around them, at most.
    uint256 internal constant WORDS = 24;

    /// @notice Thrown when a plan does not run to its end. @param reason what it reverted with
    error PlanFailed(bytes reason);
    /// @notice Thrown when a plan changed what is not its own.
    error PlanNeighboursChanged();

    function arenaOf(uint256 chunks) internal pure returns (uint256) {
        return Plan.AT + Plan.HEAD_BYTES + 32 * (chunks + WORDS);
    }

    function taskOf(Case memory c, Laid memory l, uint256 chunks) internal pure returns (PlanTask memory t) {
        (t.word, t.steps, t.weights, t.chunks) = (l.word, l.steps, l.weights, chunks);
        (t.prefix, t.streamPlace, t.arenaBytes) = (l.prefix, l.streamPlace, l.arena.length);
        (t.index, t.places, t.offsets) = (l.index, l.places, l.offsets);
        for (uint256 i = 0; i < 3; ++i) {
            Operand memory x = c.operands[i];
            (t.code[i], t.rank[i], t.rowLayout[i]) = (x.code, x.rank, x.rowLayout);
        }
    }

    /// @notice Runs the plan in the memory that it expects: operands as they are in the arena, nothing clean.
    /// @return place memory of its tensor
    function run(
        PlanRunner runner,
        Laid memory l,
        address[] memory chunks,
        bytes memory words,
        Flat flat,
        uint256 top
    ) internal returns (uint256 place) {
        uint256 arena = arenaOf(chunks.length);
        uint256 kept = arena + l.arena.length - Plan.AT;
        bytes memory image = _image(l, chunks, words, top);
        (bool ok, bytes memory memory_) = address(runner).call(image);
        if (!ok) revert PlanFailed(memory_);
        bytes32 before;
        bytes32 behind;
        assembly ("memory-safe") {
            before := keccak256(add(image, 0x20), kept)
            behind := keccak256(add(memory_, 0x20), kept)
            place := sub(add(memory_, 0x20), 0x80) // Plan.AT
        }
        if (before != behind) revert PlanNeighboursChanged();
        return place + flat.pointer();
    }

    function _image(Laid memory l, address[] memory chunks, bytes memory words, uint256 top)
        private
        pure
        returns (bytes memory image)
    {
        image = new bytes((top - Plan.AT) + 1024);
        bytes memory from = l.arena;
        uint256 word = l.word;
        PlanHead head = planHead(0, top, chunks.length);
        assembly ("memory-safe") {
            let place := add(image, 0x20)
            let end := add(place, mload(image))
            mstore(place, word)
            mstore(add(place, 0x20), head)
            place := add(place, 0x40)
            // Addresses are one word each, as in the array.
            mcopy(place, add(chunks, 0x20), shl(5, mload(chunks)))
            place := add(place, shl(5, mload(chunks)))
            mcopy(place, add(words, 0x20), mload(words))
            place := add(place, mload(words))
            mcopy(place, add(from, 0x20), mload(from))
            // Memory that is free is not clean.
            for { place := add(place, mload(from)) } lt(place, end) { place := add(place, 0x20) } {
                mstore(place, 0x5AC35AC3DEADBEEF7F80FF01FEEDFACE5AC35AC3DEADBEEF7F80FF01FEEDFACE)
            }
        }
    }
}
