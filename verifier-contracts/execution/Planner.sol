// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {IPlanner} from "../interfaces/IPlanner.sol";
import {Directory} from "../libraries/Directory.sol";
import {FIRST_ADDRESS, FIRST_U16, Memory} from "../libraries/Memory.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {MovePlan} from "../opcodes/rows/MovePlan.sol";
import {LANE_EXECUTION, ModelId} from "../types/Types.sol";
import {NamedCode} from "./NamedCode.sol";
import {CompiledLayer} from "./compiled/CompiledLayer.sol";
import {Plan, PlanHead, planHead} from "./plan/Plan.sol";
import {Draft, PlanWriter} from "./plan/PlanWriter.sol";

/// @notice Writes plans of published models, with the compiled steps of those that are bound. Nobody owns it, and it takes nothing from its caller but the model's id.
contract Planner is IPlanner, NamedCode {
    address public immutable weightStore;
    address public immutable layerBuilder;

    constructor(address weightStore_, address layerBuilder_) {
        weightStore = weightStore_;
        layerBuilder = layerBuilder_;
    }

    /// @inheritdoc IPlanner
    function prepare(ModelId modelId) external returns (address plan) {
        plan = planOf(modelId);
        if (plan.code.length != 0) return plan;
        _create(modelId, _write(modelId));
        emit ModelPrepared(modelId, plan);
    }

    /// @inheritdoc IPlanner
    function planOf(ModelId modelId) public view returns (address) {
        return Directory.addressOf(address(this), modelId);
    }

    /// @return code STOP and the plan
    function _write(ModelId modelId) private view returns (bytes memory code) {
        unchecked {
            Draft memory d;
            (uint256 chunks, uint256 count) = _open(d, modelId);
            uint256 compiled = CompiledLayer.open(layerBuilder, modelId);
            d.compiled = compiled;
            // The first draft says how long the plan is, hence where tensors begin.
            uint256 first = Plan.AT + Plan.HEAD_BYTES + 32 * count;
            code = _draft(d, count, first);
            d.compiled = compiled;
            code = _draft(d, count, Plan.AT + code.length - 1);
            ModelWord modelWord = d.word;
            PlanHead head = planHead(d.arguments, d.top, count);
            assembly ("memory-safe") {
                let place := add(code, 0x21)
                mstore(place, modelWord)
                mstore(add(place, 0x20), head)
                place := add(place, 0x40)
                for { let end := add(chunks, mul(20, count)) } lt(chunks, end) { chunks := add(chunks, 20) } {
                    mstore(place, shr(FIRST_ADDRESS, mload(chunks)))
                    place := add(place, 0x20)
                }
            }
        }
    }

    /// @param top where tensors begin
    /// @return code with room for the head and the chunks
    function _draft(Draft memory d, uint256 count, uint256 top) private pure returns (bytes memory code) {
        unchecked {
            if (count > Plan.MAX_CHUNKS) revert IPlanner.NotPlannable(d.word.steps());
            code = new bytes(1 + Plan.MAX_BYTES);
            uint256 begin;
            assembly ("memory-safe") {
                begin := add(code, 0x21)
            }
            d.place = begin + Plan.HEAD_BYTES + 32 * count;
            d.end = begin + Plan.MAX_BYTES;
            d.top = top;
            PlanWriter.write(d, d.word.maxCalldata());
            uint256 length = 1 + d.place - begin;
            assembly ("memory-safe") {
                mstore(code, length)
            }
        }
    }

    /// @return chunks memory of the addresses of the weights' chunks, 20 bytes each
    /// @return count of them
    function _open(Draft memory d, ModelId modelId) private view returns (uint256 chunks, uint256 count) {
        unchecked {
            address directory = Directory.addressOf(weightStore, modelId);
            uint256 size = directory.code.length;
            if (size == 0) revert NotPublished(modelId);
            uint256 place = Memory.reserve(size);
            assembly ("memory-safe") {
                extcodecopy(directory, place, 1, sub(size, 1))
            }
            d.word = ModelWord.wrap(Memory.load(place));
            uint8 lanes = d.word.lanes();
            if (lanes & LANE_EXECUTION == 0) revert IInterpreter.NotExecutable(modelId, lanes);
            uint256 programChunks = Memory.load(place + 32) >> FIRST_U16;
            uint256 first = place + Directory.HEAD_BYTES - 1;
            chunks = first + Directory.ADDRESS_BYTES * programChunks;
            count = (size - Directory.HEAD_BYTES) / Directory.ADDRESS_BYTES - programChunks;
            _readProgram(d, first);
        }
    }

    /// @param chunks memory of the addresses of the program's chunks, 20 bytes each
    function _readProgram(Draft memory d, uint256 chunks) private view {
        unchecked {
            uint256 weights = d.word.weights();
            uint256 offset = ProgramReader.HEADER_BYTES;
            uint256 length = ProgramReader.recordOffset(weights, d.word.steps()) - offset;
            uint256 program = Memory.reserve(length);
            ProgramReader.copyPacked(chunks, offset, length, program);
            d.records = program + ProgramReader.DESCRIPTOR_BYTES * weights;
            d.moves = Memory.reserve(MovePlan.BYTES);
        }
    }
}
