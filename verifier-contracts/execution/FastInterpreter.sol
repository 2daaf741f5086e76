// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFastInterpreter} from "../interfaces/IFastInterpreter.sol";
import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {Directory} from "../libraries/Directory.sol";
import {Memory} from "../libraries/Memory.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {Outputs} from "../opcodes/codecs/Outputs.sol";
import {Tensor} from "../types/Program.sol";
import {ModelId} from "../types/Types.sol";
import {END_COUNT, Instruction} from "./plan/Instruction.sol";
import {Plan, PlanHead} from "./plan/Plan.sol";
import {PlanRun} from "./plan/PlanRun.sol";

/// @notice Runs prepared models by their plans, and asks the Interpreter to run the others, with their compiled layers.
/// All compute the same; whoever finds a difference halts the model here. Its only state is which models are halted, and
/// outputs that were recorded to that end.
contract FastInterpreter is IFastInterpreter {
    IInterpreter public immutable interpreter;
    address public immutable planner;

    mapping(ModelId => bool) private _isHalted;
    /// @dev keccak256 of what a fast form returned.
    mapping(ModelId => mapping(bytes32 inputHash => bytes32)) private _recorded;

    /// @param interpreter_ runs the models that have no plan, and is what all is compared with
    /// @param planner_ whose plans are run
    constructor(IInterpreter interpreter_, address planner_) {
        interpreter = interpreter_;
        planner = planner_;
    }

    /// @inheritdoc IFastInterpreter
    function inferFast(ModelId modelId, bytes calldata input) external view returns (bytes memory) {
        if (isFastHalted(modelId)) revert FastModelHalted(modelId);
        address plan = Directory.addressOf(planner, modelId);
        uint256 size = plan.code.length;
        if (size == 0) return interpreter.inferCompiled(modelId, input);
        assembly ("memory-safe") {
            extcodecopy(plan, 0x80, 1, sub(size, 1)) // Plan.AT
        }
        _run(input);
    }

    /// @inheritdoc IFastInterpreter
    function recordFast(ModelId modelId, bytes calldata input) external returns (bytes32 fast) {
        fast = keccak256(this.inferFast(modelId, input));
        _recorded[modelId][keccak256(input)] = fast;
    }

    /// @inheritdoc IFastInterpreter
    function haltFast(ModelId modelId, bytes calldata input) external {
        _halt(modelId, input, keccak256(interpreter.infer(modelId, input)));
    }

    /// @inheritdoc IFastInterpreter
    function haltPlan(ModelId modelId, bytes calldata input) external {
        _halt(modelId, input, keccak256(interpreter.inferCompiled(modelId, input)));
    }

    /// @param plain hash of what the fast form should return
    function _halt(ModelId modelId, bytes calldata input, bytes32 plain) private {
        if (isFastHalted(modelId)) revert FastModelHalted(modelId);
        bytes32 fast = _recorded[modelId][keccak256(input)];
        // What was recorded may be older than the plan: it proves a difference, and never that there is none.
        if (fast == 0 || fast == plain) fast = keccak256(this.inferFast(modelId, input));
        if (fast == plain) revert NoFastDifference(fast);
        _isHalted[modelId] = true;
        emit FastHalted(modelId, fast, plain);
    }

    /// @inheritdoc IFastInterpreter
    function isFastHalted(ModelId modelId) public view returns (bool) {
        return _isHalted[modelId] || interpreter.isCompiledHalted(modelId);
    }

    /// @dev Runs the plan in memory, and ends with the output as return data.
    function _run(bytes calldata input) private view {
        unchecked {
            ModelWord modelWord = ModelWord.wrap(Memory.load(Plan.AT));
            if (!Inputs.isCanonical(modelWord, input)) revert IInterpreter.InputNotCanonical();
            PlanHead head = PlanHead.wrap(Memory.load(Plan.AT + 32));
            uint256 arguments = head.arguments();
            assembly ("memory-safe") {
                calldatacopy(arguments, add(input.offset, 4), sub(input.length, 4))
            }
            Memory.release(head.free());
            Instruction end = PlanRun.run(Plan.AT + Plan.HEAD_BYTES + 32 * head.chunks());
            Tensor memory t;
            (t.code, t.rows, t.last) = (end.variant(), 1, end.u24(END_COUNT));
            bytes memory data = Outputs.encode(modelWord.outputCodec(), t, end.a());
            assembly ("memory-safe") {
                // Its length stands before it; the word before that is nobody's any more.
                mstore(sub(data, 0x20), 0x20)
                return(sub(data, 0x20), add(0x40, mload(data)))
            }
        }
    }
}
