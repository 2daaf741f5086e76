// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "./IERCAgentTool.sol";

/// @title What a client or an executor reads of an agent; nothing of it ever changes, but for the count of runs
interface IAgentMetadata is IERCAgentTool {
    /// @notice Id, name or hash of the model, as the agent's executor names it.
    function modelId() external view returns (string memory);
    function agentName() external view returns (string memory);
    function agentDescription() external view returns (string memory);
    /// @notice What the agent is for, in the words that its model reads.
    function basePrompt() external view returns (string memory);
    function tools(uint256 index) external view returns (IERCAgentTool);
    /// @notice All tools in order.
    function allTools() external view returns (IERCAgentTool[] memory);
    /// @notice Most iterations of a run; the last one can only answer, so one fewer tool uses count.
    function agentMaxIterations() external view returns (uint16);
    /// @notice How many runs began.
    function currentRunId() external view returns (int256);
    /// @notice Semantic version; whoever replaces an agent gives the next one another.
    function version() external view returns (string memory);
}
