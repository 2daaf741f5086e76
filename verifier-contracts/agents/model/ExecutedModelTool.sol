// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../../interfaces/IInterpreter.sol";
import {IModelRegistry} from "../../interfaces/IModelRegistry.sol";
import {LANE_EXECUTION, ModelId} from "../../types/Types.sol";
import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "../interfaces/ToolResultConverter.sol";
import {Conversion} from "../libraries/Conversion.sol";
import {ModelTool, ModelToolText} from "./ModelTool.sol";

/// @notice A model that the chain itself runs, in its caller's transaction: answers at once, and costs gas alone.
/// @dev Moves nothing and stores nothing, so anybody may use it at any time.
contract ExecutedModelTool is ModelTool {
    IInterpreter public immutable interpreter;

    /// @param interpreter_ runs the model; its weights must be published there @param modelId_ with lane EXECUTION
    /// @param converter puts the model's return data in words
    constructor(
        ModelToolText memory text,
        IInterpreter interpreter_,
        IModelRegistry registry,
        ModelId modelId_,
        ToolResultConverter converter
    ) ModelTool(text, registry, modelId_, LANE_EXECUTION, converter) {
        _requireCode(address(interpreter_));
        interpreter = interpreter_;
    }

    /// @notice Runs the model. Answers at once; the result handler is not used.
    function run(IERCAgentTool.Input memory input, address) public virtual returns (int256, string memory) {
        return (-1, Conversion.toText(resultConverter, _outputFor(input)));
    }

    /// @dev The model's return data for an input, for guards that compare numbers and not words.
    function _outputFor(IERCAgentTool.Input memory input) internal view returns (bytes memory) {
        return interpreter.infer(modelId, _calldataOf(input));
    }
}
