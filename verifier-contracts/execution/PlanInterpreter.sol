// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {Directory} from "../libraries/Directory.sol";
import {Flat} from "../libraries/Flat.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {Outputs} from "../opcodes/codecs/Outputs.sol";
import {Tensor} from "../types/Program.sol";
import {ModelId} from "../types/Types.sol";
import {Plan} from "./plan/Plan.sol";
import {PlanRun} from "./plan/PlanRun.sol";

/// @notice Runs prepared models by their plans, and asks the Interpreter to run the others by their records. Both
/// compute the same. Holds no state.
contract PlanInterpreter is IInterpreter {
    IInterpreter public immutable interpreter;
    address public immutable planner;

    /// @param interpreter_ runs the models that have no plan @param planner_ whose plans are run
    constructor(IInterpreter interpreter_, address planner_) {
        interpreter = interpreter_;
        planner = planner_;
    }

    /// @inheritdoc IInterpreter
    function infer(ModelId modelId, bytes calldata input) external view returns (bytes memory) {
        address plan = Directory.addressOf(planner, modelId);
        uint256 size = plan.code.length;
        if (size == 0) _ask();
        assembly ("memory-safe") {
            extcodecopy(plan, 0x80, 1, sub(size, 1)) // Plan.AT
        }
        _run(input);
    }

    /// @inheritdoc IInterpreter
    function inferWith(ModelId, bytes calldata, bytes calldata) external view returns (bytes memory) {
        _ask();
    }

    /// @dev Passes the call on, and ends with what comes back.
    function _ask() private view {
        address to = address(interpreter);
        assembly ("memory-safe") {
            let place := mload(0x40)
            calldatacopy(place, 0, calldatasize())
            let success := staticcall(gas(), to, place, calldatasize(), 0, 0)
            returndatacopy(place, 0, returndatasize())
            if iszero(success) { revert(place, returndatasize()) }
            return(place, returndatasize())
        }
    }

    /// @dev Runs the plan in memory, and ends with the output as return data.
    function _run(bytes calldata input) private view {
        unchecked {
            uint256 modelWord = Flat.load(Plan.AT);
            if (!Inputs.isCanonical(modelWord, input)) revert InputNotCanonical();
            uint256 head = Flat.load(Plan.AT + 32);
            assembly ("memory-safe") {
                calldatacopy(and(head, 0xFFFFFF), add(input.offset, 4), sub(input.length, 4))
            }
            uint256 end = PlanRun.run(Plan.AT + Plan.HEAD_BYTES + 32 * (head >> 48));
            Flat.release((head >> 24) & 0xFFFFFF);
            Tensor memory t;
            (t.code, t.rows, t.last) = (Plan.variantOf(end), 1, (end >> 144) & 0xFFFFFF);
            bytes memory data = Outputs.encode(ModelWord.outputCodec(modelWord), t, Plan.aOf(end));
            assembly ("memory-safe") {
                // Its length stands before it; the word before that is nobody's any more.
                mstore(sub(data, 0x20), 0x20)
                return(sub(data, 0x20), add(0x40, mload(data)))
            }
        }
    }
}
