// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    AgentIterationResult,
    IERCAgentExecutor
} from "../../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";

/// @notice Decides what a test wrote down, and keeps what it was asked. The script is read by the length of the
/// reasoning that it is given, so that it keeps nothing of a run itself.
contract ScriptedExecutor is IERCAgentExecutor {
    struct Asked {
        string modelId;
        string basePrompt;
        uint256 tools;
        string[] agentReasoning;
        string[] toolResults;
        string prompt;
    }

    mapping(bytes32 promptHash => AgentIterationResult[]) private _scripts;
    Asked[] private _asked;
    bool private _forgets;

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == type(IERCAgentExecutor).interfaceId || id == 0x01ffc9a7;
    }

    function onAnswer(string memory prompt, string memory answer) public {
        AgentIterationResult storage next = _scripts[keccak256(bytes(prompt))].push();
        next.isFinalAnswer = true;
        next.finalAnswer = answer;
    }

    function onTool(
        string memory prompt,
        IERCAgentTool tool,
        IERCAgentTool.Input memory input,
        string memory why
    ) public {
        AgentIterationResult storage next = _scripts[keccak256(bytes(prompt))].push();
        next.tool = tool;
        for (uint256 i; i < input.params.length; i++) {
            next.toolInput.params.push(input.params[i]);
        }
        next.toolInput.abiEncodedParams = input.abiEncodedParams;
        next.agentReasoning = why;
    }

    /// @notice Says anything at all next, well-formed or not.
    function onPrompt(string memory prompt, bool last, string memory answer, string memory why) external {
        AgentIterationResult storage next = _scripts[keccak256(bytes(prompt))].push();
        (next.isFinalAnswer, next.finalAnswer, next.agentReasoning) = (last, answer, why);
    }

    /// @notice From now on keeps nothing of what it is asked: for measurements.
    function setForgetful() external {
        _forgets = true;
    }

    function forget(string memory prompt) external {
        delete _scripts[keccak256(bytes(prompt))];
    }

    function asked(uint256 i) external view returns (Asked memory) {
        return _asked[i];
    }

    function askedCount() external view returns (uint256) {
        return _asked.length;
    }

    /// @dev A prompt without a script, or one that goes on beyond it, repeats its last entry for ever.
    function runNextIteration(
        string memory modelId,
        string memory basePrompt,
        IERCAgentTool[] memory tools,
        string[] memory agentReasoning,
        string[] memory toolResults,
        string memory prompt
    ) external returns (AgentIterationResult memory) {
        if (!_forgets) {
            _asked.push(Asked(modelId, basePrompt, tools.length, agentReasoning, toolResults, prompt));
        }
        AgentIterationResult[] storage script = _scripts[keccak256(bytes(prompt))];
        uint256 i = agentReasoning.length;
        return script[i < script.length ? i : script.length - 1];
    }
}
