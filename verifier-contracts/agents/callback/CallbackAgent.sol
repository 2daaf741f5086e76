// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {AgentMetadata} from "../AgentMetadata.sol";
import {Prepaid} from "../Prepaid.sol";
import {AgentRun, ICallbackAgent, RunFailure, RunState} from "../interfaces/ICallbackAgent.sol";
import {IERCAgentClient} from "../interfaces/IERCAgentClient.sol";
import {AgentIterationResult} from "../interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../interfaces/IPrepaid.sol";
import {AgentInput} from "../libraries/AgentInput.sol";
import {BoundedCall} from "../libraries/BoundedCall.sol";
import {Introspection} from "../libraries/Introspection.sol";
import {ResultHandler} from "../libraries/ResultHandler.sol";
import {ExecutorSets} from "./ExecutorSets.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice Terms of a callback agent, fixed at deployment.
/// @param owner who names executors, and may do nothing else @param confirmer who confirms every tool use, or zero
/// @param executors of the first set @param threshold how many must agree
/// @param iterationSeconds time before more executors are asked @param toolSeconds time for an asynchronous tool
/// @param confirmSeconds time for the confirmer @param toolGas gas that each tool gets
/// @param callbackGas gas that each result handler gets @param iterationFee wei to each executor that agreed
/// @param toolBudget most wei of a run that go to its tools
struct CallbackTerms {
    address owner;
    address confirmer;
    address[] executors;
    uint16 threshold;
    uint32 iterationSeconds;
    uint32 toolSeconds;
    uint32 confirmSeconds;
    uint32 toolGas;
    uint32 callbackGas;
    uint96 iterationFee;
    uint96 toolBudget;
}

/// @notice An agent that off-chain executors run, one iteration after the other (ICallbackAgent).
/// @dev Runs are independent of each other. A tool that fails is undone and the model reads why, so no post can wedge
/// a run. While any of these functions is under way, no other may be entered.
contract CallbackAgent is AgentMetadata, ExecutorSets, Prepaid {
    /// @dev A tool run that this agent paid for or waits for. @param known true for ever
    /// @param waiting true until its result is in, or too late
    struct ToolRun {
        bool known;
        bool waiting;
        int256 runId;
        uint256 reclaimed;
    }

    address public immutable confirmer;
    uint32 public immutable iterationSeconds;
    uint32 public immutable toolSeconds;
    uint32 public immutable confirmSeconds;
    uint32 public immutable toolGas;
    uint32 public immutable callbackGas;
    uint256 public immutable iterationFee;
    uint256 public immutable toolBudget;

    mapping(int256 runId => AgentRun) private _runs;
    mapping(int256 runId => string) private _answers;
    mapping(int256 runId => uint256) public refundedOf;
    mapping(IERCAgentTool => mapping(int256 toolRunId => ToolRun)) private _toolRuns;
    /// @dev The tool that `reclaim` asks for ether just now.
    address private transient _payingBack;

    /// @dev Most gas that a tool, and a result handler, may be given: what of a transaction's 2^24 (EIP-7825) is left pays
    /// for a post of 16 KB, and for an answer of 4 KB. With more, no transaction could use a tool or deliver.
    uint256 private constant MAX_TOOL_GAS = 14_000_000;
    uint256 private constant MAX_CALLBACK_GAS = 8_000_000;

    constructor(
        string memory modelId_,
        string memory name_,
        string memory description_,
        string memory inputDescription_,
        string memory basePrompt_,
        IERCAgentTool[] memory tools_,
        uint16 maxIterations_,
        CallbackTerms memory terms
    )
        AgentMetadata(modelId_, name_, description_, inputDescription_, basePrompt_, tools_, maxIterations_)
        ExecutorSets(terms.owner, terms.executors, terms.threshold)
    {
        if (terms.toolGas > MAX_TOOL_GAS) revert GasTooHigh(terms.toolGas, MAX_TOOL_GAS);
        if (terms.callbackGas > MAX_CALLBACK_GAS) revert GasTooHigh(terms.callbackGas, MAX_CALLBACK_GAS);
        confirmer = terms.confirmer;
        iterationSeconds = terms.iterationSeconds;
        toolSeconds = terms.toolSeconds;
        confirmSeconds = terms.confirmSeconds;
        toolGas = terms.toolGas;
        callbackGas = terms.callbackGas;
        iterationFee = terms.iterationFee;
        toolBudget = terms.toolBudget;
    }

    /// @dev Ether comes in by depositFor, or from a tool while this contract takes it back from that very tool: whatever
    /// else came would be credited to nobody.
    receive() external payable {
        if (msg.sender != _payingBack) revert UnexpectedEther(msg.sender);
    }

    /// @inheritdoc IERCAgentTool
    function run(IERCAgentTool.Input memory input, address resultHandler)
        public
        virtual
        nonReentrant
        returns (int256 runId, string memory)
    {
        string memory prompt = _promptOf(input);
        ResultHandler.requireClient(resultHandler);
        _checkedTools();
        runId = currentRunId++;
        uint256 reserved = price();
        _charge(msg.sender, reserved);
        AgentRun storage r = _runs[runId];
        r.requester = msg.sender;
        r.resultHandler = resultHandler;
        r.executorSet = _latestSet();
        r.threshold = _sets[r.executorSet].threshold;
        r.reserved = reserved;
        r.historyHash = keccak256(abi.encode(block.chainid, this, runId, msg.sender, prompt));
        emit RunStarted(runId, msg.sender, resultHandler, r.executorSet, prompt);
        _ask(runId, r);
        return (runId, "");
    }

    /// @inheritdoc ICallbackAgent
    function postIteration(
        int256 runId,
        uint16 iteration,
        bytes32 historyHash,
        AgentIterationResult memory result,
        bytes32 transcriptHash
    ) external nonReentrant {
        AgentRun storage r = _inState(runId, RunState.ITERATION);
        if (iteration != r.iteration) revert WrongIteration(runId, iteration, r.iteration);
        if (historyHash != r.historyHash) revert WrongHistory(runId, historyHash, r.historyHash);
        _requireClear(result);
        if (!result.isFinalAnswer) _requireTool(allTools(), result.tool);
        bytes32 choice = _choiceHash(result);
        address[] memory agreed = _post(runId, r, choice);
        emit IterationPosted(runId, iteration, msg.sender, choice, transcriptHash, result.agentReasoning);
        if (agreed.length == 0) return;
        r.reserved -= agreed.length * iterationFee;
        for (uint256 i; i < agreed.length; ++i) {
            _credit(agreed[i], iterationFee);
        }
        if (result.isFinalAnswer) {
            _answers[runId] = result.finalAnswer;
            _end(runId, r, RunState.DONE);
            emit AgentRunResult(runId, r.requester, new string[](0), result.finalAnswer);
            _deliver(runId, r);
        } else {
            // Reasoning that only one of several executors wrote is not handed on to the others.
            string memory reasoning = agreed.length == 1 ? result.agentReasoning : "";
            _choose(runId, r, result.tool, result.toolInput, reasoning);
        }
    }

    /// @inheritdoc IERCAgentClient
    function handleAgentResult(int256 toolRunId, string memory result) external nonReentrant {
        IERCAgentTool tool = IERCAgentTool(msg.sender);
        ToolRun storage t = _toolRuns[tool][toolRunId];
        if (!t.waiting) revert UnknownToolRun(msg.sender, toolRunId);
        BoundedCall.requireResult(result);
        t.waiting = false;
        _answer(t.runId, _runs[t.runId], true, result);
    }

    /// @inheritdoc ICallbackAgent
    function advance(int256 runId) external nonReentrant {
        AgentRun storage r = _runs[runId];
        RunState state = r.state;
        // Only a run that waits for something has a deadline.
        if (r.deadline == 0) revert WrongState(runId, state, RunState.ITERATION);
        if (block.timestamp <= r.deadline) revert NotYet(block.timestamp, uint256(r.deadline) + 1);
        if (state == RunState.TOOL) {
            _toolRuns[r.tool][r.toolRunId].waiting = false;
            _answer(runId, r, false, "Error: the tool gave no result in time");
        } else if (state == RunState.CONFIRMATION) {
            _fail(runId, r, RunFailure.UNCONFIRMED);
        } else if (r.admitted == _sets[r.executorSet].executors.length) {
            _fail(runId, r, RunFailure.EXECUTORS);
        } else {
            _admit(runId, r);
        }
    }

    /// @inheritdoc ICallbackAgent
    function confirm(int256 runId, IERCAgentTool tool, IERCAgentTool.Input memory toolInput)
        external
        nonReentrant
    {
        AgentRun storage r = _forConfirmer(runId);
        uint16 iteration = r.iteration;
        bytes32 callHash = _callHash(runId, iteration, tool, toolInput);
        if (callHash != r.callHash) revert WrongCall(runId, callHash, r.callHash);
        emit CallConfirmed(runId, iteration, callHash);
        _use(runId, r, tool, toolInput);
    }

    /// @inheritdoc ICallbackAgent
    function deny(int256 runId) external nonReentrant {
        _fail(runId, _forConfirmer(runId), RunFailure.DENIED);
    }

    /// @inheritdoc ICallbackAgent
    function deliver(int256 runId) external nonReentrant {
        AgentRun storage r = _inState(runId, RunState.DONE);
        if (r.delivered) revert AlreadyDelivered(runId);
        _deliver(runId, r);
    }

    /// @inheritdoc ICallbackAgent
    function reclaim(IERCAgentTool tool, int256 toolRunId) external nonReentrant {
        ToolRun storage t = _toolRuns[tool][toolRunId];
        if (!t.known) revert UnknownToolRun(address(tool), toolRunId);
        uint256 refunded = IPrepaid(address(tool)).refundedOf(toolRunId);
        uint256 amount = refunded - t.reclaimed;
        t.reclaimed = refunded;
        uint256 before = address(this).balance;
        _payingBack = address(tool);
        IPrepaid(address(tool)).withdraw(address(this), amount);
        _payingBack = address(0);
        // What came in counts, not what the tool said. INVARIANT: until here nothing else moved this balance.
        amount = address(this).balance - before;
        _credit(_runs[t.runId].requester, amount);
        emit ToolFeeReclaimed(t.runId, tool, toolRunId, amount);
    }

    /// @notice Pays for and uses a tool in a frame of its own, so that a failure undoes both. Only for this contract.
    function useTool(IERCAgentTool tool, IERCAgentTool.Input memory input, uint256 budget)
        external
        returns (int256 id, string memory result, uint256 paid)
    {
        if (msg.sender != address(this)) revert OnlyItself(msg.sender);
        AgentInput.requireMatches(tool.inputDescription(), input);
        if (Introspection.ask(address(tool), type(IPrepaid).interfaceId) == Introspection.YES) {
            paid = IPrepaid(address(tool)).price();
            if (paid > budget) revert ToolPriceTooHigh(paid, budget);
            IPrepaid(address(tool)).depositFor{value: paid}(address(this));
        }
        (id, result) = tool.run(input, address(this));
        // INVARIANT: what leaves this frame is short, so that any post can pay for writing it down.
        BoundedCall.requireResult(result);
        // A tool that names one id twice would take over the run that waits for the first.
        if (id < -1 || (id >= 0 && _toolRuns[tool][id].known)) revert WrongToolRun(tool, id);
    }

    /// @inheritdoc ICallbackAgent
    function runOf(int256 runId) external view returns (AgentRun memory) {
        return _runs[runId];
    }

    /// @inheritdoc ICallbackAgent
    function answerOf(int256 runId) external view returns (string memory) {
        _inState(runId, RunState.DONE);
        return _read(_answers[runId]);
    }

    /// @inheritdoc IPrepaid
    function price() public view returns (uint256) {
        return uint256(_sets[_latestSet()].threshold) * agentMaxIterations * iterationFee + toolBudget;
    }

    /// @inheritdoc AgentMetadata
    function supportsInterface(bytes4 id)
        public
        view
        virtual
        override(AgentMetadata, IERC165)
        returns (bool)
    {
        return id == type(IERCAgentClient).interfaceId || id == type(IPrepaid).interfaceId
            || super.supportsInterface(id);
    }

    function _ask(int256 runId, AgentRun storage r) private {
        r.state = RunState.ITERATION;
        r.admitted = 0;
        _admit(runId, r);
    }

    function _admit(int256 runId, AgentRun storage r) private {
        uint256 all = _sets[r.executorSet].executors.length;
        uint16 threshold = r.threshold;
        uint256 admitted = uint256(r.admitted) + threshold;
        if (admitted > all) admitted = all;
        r.admitted = uint16(admitted);
        r.deadline = uint40(block.timestamp + iterationSeconds);
        emit IterationRequested(runId, r.iteration, admittedOf(runId), threshold, r.deadline, r.historyHash);
    }

    function _choose(
        int256 runId,
        AgentRun storage r,
        IERCAgentTool tool,
        IERCAgentTool.Input memory input,
        string memory reasoning
    ) private {
        bytes32 callHash = _callHash(runId, r.iteration, tool, input);
        r.historyHash = keccak256(abi.encode(r.historyHash, callHash, reasoning));
        emit ToolChosen(runId, r.iteration, tool, input, reasoning);
        if (confirmer == address(0)) return _use(runId, r, tool, input);
        r.state = RunState.CONFIRMATION;
        r.callHash = callHash;
        r.deadline = uint40(block.timestamp + confirmSeconds);
        emit ConfirmationRequested(runId, r.iteration, callHash, r.deadline);
    }

    /// @dev INVARIANT: executors of the iterations that are left are paid before tools are.
    function _use(int256 runId, AgentRun storage r, IERCAgentTool tool, IERCAgentTool.Input memory input)
        private
    {
        uint256 left = agentMaxIterations - 1 - r.iteration;
        uint256 budget = r.reserved - left * r.threshold * iterationFee;
        BoundedCall.requireGas(toolGas);
        (bool success, bytes memory returned) =
            BoundedCall.tryCall(address(this), toolGas, abi.encodeCall(this.useTool, (tool, input, budget)));
        if (!success) {
            return _answer(runId, r, false, string.concat("Error: ", BoundedCall.reason(returned)));
        }
        (int256 id, string memory result, uint256 paid) = abi.decode(returned, (int256, string, uint256));
        if (paid != 0) {
            r.reserved -= paid;
            emit ToolPaid(runId, tool, paid);
        }
        if (id == -1) return _answer(runId, r, true, result);
        ToolRun storage t = _toolRuns[tool][id];
        (t.known, t.waiting, t.runId) = (true, true, runId);
        r.state = RunState.TOOL;
        (r.tool, r.toolRunId) = (tool, id);
        r.deadline = uint40(block.timestamp + toolSeconds);
        emit ToolPending(runId, r.iteration, tool, id, r.deadline);
    }

    function _answer(int256 runId, AgentRun storage r, bool success, string memory result) private {
        r.historyHash = keccak256(abi.encode(r.historyHash, success, result));
        (r.callHash, r.tool, r.toolRunId) = (0, IERCAgentTool(address(0)), 0);
        emit ToolAnswered(runId, r.iteration, success, result);
        if (++r.iteration == agentMaxIterations) _fail(runId, r, RunFailure.ITERATIONS);
        else _ask(runId, r);
    }

    function _fail(int256 runId, AgentRun storage r, RunFailure failure) private {
        r.failure = failure;
        _end(runId, r, RunState.FAILED);
        emit RunFailed(runId, failure);
    }

    function _end(int256 runId, AgentRun storage r, RunState state) private {
        (r.state, r.deadline, r.callHash) = (state, 0, 0);
        refundedOf[runId] = r.reserved;
        _credit(r.requester, r.reserved);
        r.reserved = 0;
    }

    function _deliver(int256 runId, AgentRun storage r) private {
        r.delivered = true;
        bool success = ResultHandler.notify(r.resultHandler, callbackGas, runId, _read(_answers[runId]));
        if (!success) r.delivered = false;
        emit ResultDelivered(runId, r.resultHandler, success);
    }

    function _forConfirmer(int256 runId) private view returns (AgentRun storage) {
        if (msg.sender != confirmer) revert NotConfirmer(msg.sender, confirmer);
        return _inState(runId, RunState.CONFIRMATION);
    }

    function _inState(int256 runId, RunState required) private view returns (AgentRun storage r) {
        r = _runs[runId];
        if (r.state != required) revert WrongState(runId, r.state, required);
    }

    function _runOf(int256 runId) internal view override returns (AgentRun storage) {
        return _runs[runId];
    }

    function _callHash(int256 runId, uint16 iteration, IERCAgentTool tool, IERCAgentTool.Input memory input)
        private
        view
        returns (bytes32)
    {
        return keccak256(abi.encode(block.chainid, this, runId, iteration, tool, input));
    }
}
