// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.20;

import {IERCAgentTool} from "./IERCAgentTool.sol";

/// @notice What an agent is to do next: answer, or use a tool. The fields of the other case are empty.
/// @param isFinalAnswer whether the run is over
/// @param finalAnswer the answer, if it is over
/// @param tool the tool to use, one of those that the executor was given
/// @param toolInput the values for it
/// @param agentReasoning why this tool and these values
struct AgentIterationResult {
    bool isFinalAnswer;
    string finalAnswer;
    IERCAgentTool tool;
    IERCAgentTool.Input toolInput;
    string agentReasoning;
}

/// @title Decides one step of an agent's run
/// @notice Keeps nothing between calls: the agent hands in everything that has happened in the run so far.
/// @dev ERC-165 id 0x7e636a24. May be a precompile, so it does not inherit IERC165; contracts answer it themselves.
interface IERCAgentExecutor {
    /// @param modelId which model decides, as the executor names them
    /// @param basePrompt what the agent is for
    /// @param tools what may be used
    /// @param agentReasoning `agentReasoning` of every earlier step of this run, in order
    /// @param toolResults result of the tool used in each of these steps, same length and order
    /// @param prompt what is asked in this run
    function runNextIteration(
        string memory modelId,
        string memory basePrompt,
        IERCAgentTool[] memory tools,
        string[] memory agentReasoning,
        string[] memory toolResults,
        string memory prompt
    ) external returns (AgentIterationResult memory);
}
