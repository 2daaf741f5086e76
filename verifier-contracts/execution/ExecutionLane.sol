// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {ITruth} from "../interfaces/ITruth.sol";
import {ModelId} from "../types/Types.sol";

/// @notice Adapter of the EXECUTION lane: an output is true if the chain computes it. Holds no state.
contract ExecutionLane is ITruth {
    IInterpreter public immutable interpreter;

    constructor(IInterpreter interpreter_) {
        interpreter = interpreter_;
    }

    /// @inheritdoc ITruth
    /// @param evidence nothing, if the model's weights are published; else the stream of all weight rows
    /// @dev Nothing is bound to the submitter: anybody computes the same. A revert of the interpreter goes up as it is:
    /// that an execution could not be done is no verdict about the output.
    function isTrue(
        ModelId modelId,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence,
        address
    ) external view returns (bool) {
        bytes memory computed = evidence.length == 0
            ? interpreter.infer(modelId, input)
            : interpreter.inferWith(modelId, input, evidence);
        return keccak256(computed) == keccak256(output);
    }
}
