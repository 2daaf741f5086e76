// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IExecutionLane} from "../interfaces/IExecutionLane.sol";
import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {ITruth} from "../interfaces/ITruth.sol";
import {ModelId} from "../types/Types.sol";

/// @notice The EXECUTION lane (IExecutionLane).
contract ExecutionLane is IExecutionLane {
    /// @inheritdoc IExecutionLane
    uint256 public constant MAX_GAS = 10_500_000;

    /// @inheritdoc IExecutionLane
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
        // What a call receives at most (EIP-150).
        uint256 available = gasleft() - gasleft() / 64;
        bytes memory call_ = evidence.length == 0
            ? abi.encodeCall(IInterpreter.infer, (modelId, input))
            : abi.encodeCall(IInterpreter.inferWith, (modelId, input, evidence));
        (bool success, bytes memory answer) = address(interpreter).staticcall{gas: MAX_GAS}(call_);
        if (!success) {
            // It reverts without a reason for lack of gas alone. Less than the limit shows nothing.
            if (answer.length == 0 && available > MAX_GAS) revert ExecutionTooDear(MAX_GAS);
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        return keccak256(abi.decode(answer, (bytes))) == keccak256(output);
    }
}
