// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAgentMetadata} from "./IAgentMetadata.sol";
import {IERCAgentClient} from "./IERCAgentClient.sol";
import {AgentIterationResult} from "./IERCAgentExecutor.sol";
import {IERCAgentTool} from "./IERCAgentTool.sol";
import {IPrepaid} from "./IPrepaid.sol";

/// @notice Where a run stands.
/// ITERATION waits for executors, CONFIRMATION for a human, TOOL for an asynchronous tool; DONE and FAILED are over.
enum RunState {
    NONE,
    ITERATION,
    CONFIRMATION,
    TOOL,
    DONE,
    FAILED
}

/// @notice Why a run failed: no agreement of executors in time, no answer within its iterations, a call that the
/// human denied, or did not confirm in time.
enum RunFailure {
    NONE,
    EXECUTORS,
    ITERATIONS,
    DENIED,
    UNCONFIRMED
}

/// @notice A run. @param requester who called `run` and pays @param resultHandler who takes the answer
/// @param iteration number of the present iteration, from 0
/// @param admitted how many executors of the set may post for this iteration, in turn
/// @param deadline last second for what the run waits for, 0 when it is over
/// @param executorSet number of the executor set @param threshold how many of it must agree; fixed when the run began
/// @param historyHash hash of everything that has happened in the run (docs/AGENTS.md, section Callback execution)
/// @param callHash hash of the call that waits for a human, or for its tool; 0 otherwise
/// @param tool the asynchronous tool that the run waits for @param toolRunId its id there
/// @param reserved wei of the requester that the run may still spend
/// @param delivered true once the handler took the answer
struct AgentRun {
    address requester;
    address resultHandler;
    RunState state;
    RunFailure failure;
    uint16 iteration;
    uint16 admitted;
    uint40 deadline;
    uint32 executorSet;
    uint16 threshold;
    bool delivered;
    bytes32 historyHash;
    bytes32 callHash;
    IERCAgentTool tool;
    int256 toolRunId;
    uint256 reserved;
}

/// @title An agent whose iterations are decided off chain
/// @notice Every run is stored and asks by an event for each next iteration. The executors that the agent's owner
/// named post what to do; the contract checks that it may be done, uses the tool, and goes on, or pauses until an
/// asynchronous tool calls `handleAgentResult`. What tools return can be verified; what executors post is attested
/// by those who agreed on it and nothing more. `run` sets aside `price()` of the requester's balance here:
/// threshold · iterations · iterationFee + toolBudget; what a run has not spent goes back when it is over.
/// A tool's result has at most 8,192 bytes: one that is longer is a failure of the tool, and refused where it comes later.
interface ICallbackAgent is IAgentMetadata, IERCAgentClient, IPrepaid {
    /// @notice A run began. The prompt stands nowhere else.
    event RunStarted(
        int256 indexed runId,
        address indexed requester,
        address resultHandler,
        uint32 executorSet,
        string prompt
    );
    /// @notice The run waits for iteration `iteration`.
    /// @param executors who may post it now; asked again with more of them after a timeout
    /// @param threshold how many must post the same
    /// @param deadline last second before more are asked, or the run fails
    /// @param historyHash what a post must name: it says that the executor has seen this very history
    event IterationRequested(
        int256 indexed runId,
        uint16 indexed iteration,
        address[] executors,
        uint16 threshold,
        uint40 deadline,
        bytes32 historyHash
    );
    /// @notice An executor said what to do. @param choiceHash what must agree: end, answer, tool and input
    /// @param transcriptHash hash of the executor's signed transcript of this iteration
    event IterationPosted(
        int256 indexed runId,
        uint16 indexed iteration,
        address indexed executor,
        bytes32 choiceHash,
        bytes32 transcriptHash,
        string agentReasoning
    );
    /// @notice Enough executors agreed to use a tool.
    event ToolChosen(
        int256 indexed runId,
        uint16 indexed iteration,
        IERCAgentTool indexed tool,
        IERCAgentTool.Input toolInput,
        string agentReasoning
    );
    /// @notice The chosen call waits for the confirmer. @param callHash binds agent, run, iteration, tool and input
    event ConfirmationRequested(
        int256 indexed runId, uint16 indexed iteration, bytes32 callHash, uint40 deadline
    );
    event CallConfirmed(int256 indexed runId, uint16 indexed iteration, bytes32 callHash);
    /// @notice The tool answers later, to this contract, under its own id.
    event ToolPending(
        int256 indexed runId,
        uint16 indexed iteration,
        IERCAgentTool indexed tool,
        int256 toolRunId,
        uint40 deadline
    );
    /// @notice What the tool returned, or why it failed (success false: its effects are undone).
    event ToolAnswered(int256 indexed runId, uint16 indexed iteration, bool success, string result);
    /// @notice The run is over. Its steps stand in the events above, so executionSteps is empty.
    event AgentRunResult(int256 indexed runId, address requester, string[] executionSteps, string answer);
    event RunFailed(int256 indexed runId, RunFailure failure);
    event ResultDelivered(int256 indexed runId, address indexed resultHandler, bool success);
    event ExecutorsChanged(uint32 indexed executorSet, address[] executors, uint16 threshold);
    event ToolPaid(int256 indexed runId, IERCAgentTool indexed tool, uint256 amount);
    event ToolFeeReclaimed(
        int256 indexed runId, IERCAgentTool indexed tool, int256 toolRunId, uint256 amount
    );

    error NotOwner(address sender, address owner);
    error NotConfirmer(address sender, address confirmer);
    error NotAdmitted(int256 runId, address sender, uint16 admitted);
    error AlreadyPosted(int256 runId, uint16 iteration, address executor);
    error WrongState(int256 runId, RunState state, RunState required);
    error WrongIteration(int256 runId, uint16 given, uint16 present);
    error WrongHistory(int256 runId, bytes32 given, bytes32 present);
    error WrongCall(int256 runId, bytes32 given, bytes32 present);
    error NotYet(uint256 timestamp, uint256 first);
    error WrongExecutors(uint256 count, uint256 threshold);
    error DuplicateExecutor(address executor);
    error AlreadyDelivered(int256 runId);
    error UnknownToolRun(address tool, int256 toolRunId);
    error ToolPriceTooHigh(uint256 price, uint256 budget);
    error WrongToolRun(IERCAgentTool tool, int256 toolRunId);
    error OnlyItself(address sender);
    /// @notice Thrown when terms name more gas for a tool or a result handler than a transaction has for it.
    error GasTooHigh(uint256 gasNamed, uint256 max);
    /// @notice Thrown when ether comes neither by depositFor nor from the tool that a reclaim under way asks for it.
    error UnexpectedEther(address sender);

    /// @notice Says what the run is to do next. When enough admitted executors have said the same, it is done in the
    /// last one's transaction.
    /// @param historyHash the run's present one
    /// @param result unused fields empty; the tool must be one of the agent's
    /// @param transcriptHash hash of the transcript that the executor keeps
    function postIteration(
        int256 runId,
        uint16 iteration,
        bytes32 historyHash,
        AgentIterationResult memory result,
        bytes32 transcriptHash
    ) external;
    /// @notice After a deadline, moves a run on: admits more executors, or tells the model that its tool did not
    /// answer, or ends the run and returns what is left of its money. Anybody may call it.
    function advance(int256 runId) external;
    /// @notice Does the call that waits for the confirmer, who hands it in again.
    function confirm(int256 runId, IERCAgentTool tool, IERCAgentTool.Input memory toolInput) external;
    /// @notice Ends a run whose call waits for the confirmer.
    function deny(int256 runId) external;
    /// @notice Hands the answer of a finished run to its handler; until it was taken once, anybody may try again.
    function deliver(int256 runId) external;
    /// @notice Brings what a tool has given back of a run's payment to the run's requester. Anybody may call it.
    function reclaim(IERCAgentTool tool, int256 toolRunId) external;
    /// @notice Names the executors of runs that begin from now on. Only the owner.
    function setExecutors(address[] calldata executors, uint16 threshold) external;

    function runOf(int256 runId) external view returns (AgentRun memory);
    /// @notice The answer of a run that is DONE.
    function answerOf(int256 runId) external view returns (string memory);
    /// @return executors of a set, in order @return threshold how many of them must agree
    function executorsOf(uint32 executorSet)
        external
        view
        returns (address[] memory executors, uint16 threshold);
    /// @notice Who may post the present iteration of a run.
    function admittedOf(int256 runId) external view returns (address[] memory);
    function owner() external view returns (address);
    /// @notice Who confirms every tool use, or zero if nobody has to.
    function confirmer() external view returns (address);
    /// @notice Wei to each executor that an accepted iteration is from.
    function iterationFee() external view returns (uint256);
    /// @notice Most wei of a run that go to its tools.
    function toolBudget() external view returns (uint256);
}
