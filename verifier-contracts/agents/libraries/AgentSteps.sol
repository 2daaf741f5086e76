// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {AgentInput} from "./AgentInput.sol";
import {Introspection} from "./Introspection.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice Writes down what an agent did: tool, arguments, outcome, and why, as the model put it.
/// @dev Everything that a model or a tool said stands in quotes with its quotes and line ends escaped, so that no
/// text can look like a step of its own.
library AgentSteps {
    /// @notice `Name{a: 1, b: "x"} at 0x… -> "result", because "reasoning"`
    function describe(
        IERCAgentTool tool,
        string memory action_,
        string memory outcome,
        string memory reasoning
    ) internal pure returns (string memory) {
        string memory place = Strings.toChecksumHexString(address(tool));
        return string.concat(
            action_, string.concat(" at ", place, " -> ", quote(outcome), ", because ", quote(reasoning))
        );
    }

    /// @notice `Name{a: 1, b: "x"}`, with the tool's name as it is now.
    function actionOf(
        IERCAgentTool tool,
        IERCAgentTool.ParamDescription[] memory description,
        IERCAgentTool.ParamValue[] memory params
    ) internal view returns (string memory) {
        for (uint256 i; i < description.length; ++i) {
            Introspection.requireLength(tool, description[i].name);
        }
        return action(Introspection.requireName(tool), description, params);
    }

    /// @notice `Name{a: 1, b: "x"}`
    /// @param params values that need not match the description: they are then shown without names
    function action(
        string memory name,
        IERCAgentTool.ParamDescription[] memory description,
        IERCAgentTool.ParamValue[] memory params
    ) internal pure returns (string memory text) {
        text = string.concat(Strings.escapeJSON(name), "{");
        bool named = description.length == params.length;
        for (uint256 i; i < params.length; ++i) {
            if (i != 0) text = string.concat(text, ", ");
            if (named) text = string.concat(text, Strings.escapeJSON(description[i].name), ": ");
            text = string.concat(text, show(params[i]));
        }
        return string.concat(text, "}");
    }

    /// @notice A value as it is written in Solidity; hexadecimal bytes if it is malformed.
    function show(IERCAgentTool.ParamValue memory param) internal pure returns (string memory text) {
        bytes memory value = param.value;
        if (!AgentInput.isCanonical(param.paramType, value)) return Strings.toHexString(value);
        if (param.paramType == IERCAgentTool.ParamType.STRING) return quote(abi.decode(value, (string)));
        if (!AgentInput.isDynamic(param.paramType)) {
            return _word(param.paramType, AgentInput.wordAt(value, 0));
        }
        if (param.paramType == IERCAgentTool.ParamType.STRING_ARRAY) {
            string[] memory texts = abi.decode(value, (string[]));
            for (uint256 i; i < texts.length; ++i) {
                text = string.concat(text, i == 0 ? "" : ", ", quote(texts[i]));
            }
        } else {
            IERCAgentTool.ParamType element = AgentInput.elementType(param.paramType);
            for (uint256 i = 64; i < value.length; i += 32) {
                text = string.concat(text, i == 64 ? "" : ", ", _word(element, AgentInput.wordAt(value, i)));
            }
        }
        return string.concat("[", text, "]");
    }

    function quote(string memory text) internal pure returns (string memory) {
        return string.concat("\"", Strings.escapeJSON(text), "\"");
    }

    function _word(IERCAgentTool.ParamType paramType, uint256 word) private pure returns (string memory) {
        if (paramType == IERCAgentTool.ParamType.ADDRESS) {
            return Strings.toChecksumHexString(address(uint160(word)));
        }
        if (paramType == IERCAgentTool.ParamType.BOOL) return word == 0 ? "false" : "true";
        if (paramType == IERCAgentTool.ParamType.INT) return Strings.toStringSigned(int256(word));
        return Strings.toString(word);
    }
}
