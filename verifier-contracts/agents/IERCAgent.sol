// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

import {AgentMetadata} from "./AgentMetadata.sol";
import {AgentIterationResult, IERCAgentExecutor} from "./interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";
import {AgentInput} from "./libraries/AgentInput.sol";
import {AgentSteps} from "./libraries/AgentSteps.sol";
import {BoundedCall} from "./libraries/BoundedCall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title An agent that runs in one transaction
/// @notice Asks its executor what to do next, uses the tool that it chose, and so on until there is an answer.
/// A custom agent is a constructor. The executor may be a contract or a precompile.
/// @dev Atomic: a tool that fails, or a run without an answer, undoes everything, unless an agent chooses to hear of
/// failures (`_observesFailures`). Re-entrancy: a run that is under way lets no other run of the same agent begin,
/// from whichever tool; other agents are free to run, so agents nest.
/// Runs answer at once, so `run` returns -1; the id in the event counts the runs of this agent from 1.
abstract contract IERCAgent is AgentMetadata, ReentrancyGuardTransient {
    /// @notice An agent has finished a run.
    /// @param runId number of the run, from 1
    /// @param requester who called `run`
    /// @param executionSteps what was done, in order: tool, arguments, outcome, reasoning (AgentSteps)
    /// @param answer what the agent answered
    event AgentRunResult(int256 indexed runId, address requester, string[] executionSteps, string answer);

    /// @notice Thrown when a tool failed. @param reason its error data
    error ToolFailed(IERCAgentTool tool, bytes reason);
    /// @notice Thrown when a tool answers later, by another transaction.
    error OnlySynchronousTools(IERCAgentTool tool, int256 runId);
    /// @notice Thrown when a run had all its iterations and gave no answer.
    error NoFinalAnswer(uint16 iterations);
    /// @notice Thrown when a run would use more gas than this agent allows.
    error RunGasExceeded(uint256 limit);
    /// @notice Thrown when somebody else calls what this contract only calls itself.
    error OnlyItself(address sender);

    address public immutable agentExecutorContract;

    struct Progress {
        int256 runId;
        string prompt;
        IERCAgentTool[] tools;
        string[] reasoning;
        string[] results;
        string[] steps;
        uint256 gasFloor;
    }

    /// @param _agentExecutorContract an IERCAgentExecutor
    /// @param _modelId what the executor calls its model
    /// @param _inputDescription what the prompt should hold, for whoever writes one
    /// @param _basePrompt what the agent is for; its executor sees this, not the name
    /// @param _tools what it may use
    /// @param _agentMaxIterations most iterations of a run, at least 1
    constructor(
        address _agentExecutorContract,
        string memory _modelId,
        string memory _name,
        string memory _description,
        string memory _inputDescription,
        string memory _basePrompt,
        IERCAgentTool[] memory _tools,
        uint16 _agentMaxIterations
    )
        AgentMetadata(
            _modelId, _name, _description, _inputDescription, _basePrompt, _tools, _agentMaxIterations
        )
    {
        agentExecutorContract = _agentExecutorContract;
    }

    /// @notice Runs the agent. @param input one text, the prompt; the result handler is not used
    function run(IERCAgentTool.Input memory input, address)
        public
        virtual
        nonReentrant
        returns (int256, string memory)
    {
        Progress memory p;
        uint256 budget = _runGas();
        p.gasFloor = gasleft() > budget ? gasleft() - budget : 0;
        p.prompt = _promptOf(input);
        p.tools = _checkedTools();
        p.runId = ++currentRunId;
        for (uint16 i; i < agentMaxIterations; ++i) {
            AgentIterationResult memory next = _nextIteration(p);
            _requireClear(next);
            if (next.isFinalAnswer) {
                emit AgentRunResult(p.runId, msg.sender, p.steps, next.finalAnswer);
                return (-1, next.finalAnswer);
            }
            _requireTool(p.tools, next.tool);
            _beforeTool(p.runId, i, p.prompt, next.tool, next.toolInput);
            (string memory action, string memory result) = _result(next.tool, next.toolInput, p.gasFloor);
            string memory step = AgentSteps.describe(next.tool, action, result, next.agentReasoning);
            p.steps = _append(p.steps, step);
            p.reasoning = _append(p.reasoning, next.agentReasoning);
            p.results = _append(p.results, result);
        }
        revert NoFinalAnswer(agentMaxIterations);
    }

    /// @notice Uses a tool in a frame of its own, so that a failure can be undone. Only this contract may call it.
    /// @return action what was done, in the tool's own words @return result what the tool returned
    function useTool(IERCAgentTool tool, IERCAgentTool.Input memory input)
        external
        returns (string memory action, string memory result)
    {
        if (msg.sender != address(this)) revert OnlyItself(msg.sender);
        return _useTool(tool, input, 0);
    }

    /// @dev True if a failing tool ends the run no more: its effects are undone, and the model reads the error as its
    /// result. Needs `_toolGas`: else whoever brings little gas decides which tools fail.
    function _observesFailures() internal view virtual returns (bool) {
        return false;
    }

    /// @dev Gas that each tool gets, no more and no less, if failures are observed.
    function _toolGas() internal view virtual returns (uint256) {
        return type(uint256).max;
    }

    /// @dev Most gas of a run, whatever its caller brings.
    function _runGas() internal view virtual returns (uint256) {
        return type(uint256).max;
    }

    /// @dev Called before a tool is used; it may revert.
    function _beforeTool(
        int256 runId,
        uint16 iteration,
        string memory prompt,
        IERCAgentTool tool,
        IERCAgentTool.Input memory input
    ) internal virtual {}

    function _nextIteration(Progress memory p) private returns (AgentIterationResult memory) {
        return IERCAgentExecutor(agentExecutorContract).runNextIteration{gas: _gasLeft(p.gasFloor)}(
            modelId(), basePrompt(), p.tools, p.reasoning, p.results, p.prompt
        );
    }

    function _result(IERCAgentTool tool, IERCAgentTool.Input memory input, uint256 gasFloor)
        private
        returns (string memory action, string memory result)
    {
        if (!_observesFailures()) return _useTool(tool, input, gasFloor);
        uint256 left = _gasLeft(gasFloor);
        uint256 toolGas = _toolGas();
        BoundedCall.requireGas(toolGas);
        if (left < toolGas) revert RunGasExceeded(_runGas());
        bytes memory data = abi.encodeCall(this.useTool, (tool, input));
        (bool success, bytes memory returned) = BoundedCall.tryCall(address(this), toolGas, data);
        if (success) return abi.decode(returned, (string, string));
        // INVARIANT: a tool that failed is asked nothing more, so that the run goes on whatever it would say.
        action = AgentSteps.action("", new IERCAgentTool.ParamDescription[](0), input.params);
        return (action, string.concat("Error: ", BoundedCall.reason(_innermost(returned))));
    }

    /// @dev INVARIANT: a tool gets an input that it describes, in two forms that agree.
    /// @param gasFloor what must be left of the gas
    function _useTool(IERCAgentTool tool, IERCAgentTool.Input memory input, uint256 gasFloor)
        private
        returns (string memory action, string memory result)
    {
        _requireCode(address(tool));
        IERCAgentTool.InputDescription memory described = tool.inputDescription{gas: _gasLeft(gasFloor)}();
        AgentInput.requireMatches(described, input);
        action = AgentSteps.actionOf(tool, described.paramDescriptions, input.params);
        bytes memory data = abi.encodeCall(IERCAgentTool.run, (input, address(0)));
        (bool success, bytes memory returned) = BoundedCall.tryCall(address(tool), _gasLeft(gasFloor), data);
        if (!success) revert ToolFailed(tool, returned);
        int256 id;
        (id, result) = abi.decode(returned, (int256, string));
        BoundedCall.requireResult(result);
        if (id != -1) revert OnlySynchronousTools(tool, id);
    }

    /// @dev What a call may use without the run exceeding its gas.
    function _gasLeft(uint256 gasFloor) private view returns (uint256) {
        uint256 left = gasleft();
        if (left <= gasFloor) revert RunGasExceeded(_runGas());
        return left - gasFloor;
    }

    /// @dev The tool's own error data inside of ToolFailed, or the data as it is.
    function _innermost(bytes memory data) private pure returns (bytes memory) {
        // A tool's own error may begin like that, too.
        if (data.length < 100 || bytes4(data) != ToolFailed.selector) return data;
        uint256 most = data.length - 100;
        assembly ("memory-safe") {
            // Selector, tool, offset 64: then length and bytes, perhaps cut off, which this contract has written.
            data := add(data, 100)
            if gt(mload(data), most) { mstore(data, most) }
        }
        return data;
    }

    function _append(string[] memory list, string memory last) private pure returns (string[] memory longer) {
        longer = new string[](list.length + 1);
        for (uint256 i; i < list.length; ++i) {
            longer[i] = list[i];
        }
        longer[list.length] = last;
    }
}
