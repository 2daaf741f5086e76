// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {INPUT_INT16S, OUTPUT_INT16S} from "../../types/Program.sol";
import {Claim, ModelId, Policy, Request, RequestId} from "../../types/Types.sol";
import {ICallbackAgent} from "../interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {AgentInput} from "../libraries/AgentInput.sol";
import {ChoicePrompt} from "./ChoicePrompt.sol";

/// @notice What a choice does. TOOL uses a tool with an input that is fixed, TOOL_WITH_QUESTION gives it the run's
/// question; ANSWER ends the run with a text that is fixed, ANSWER_WITH_RESULT with what the last tool returned.
enum ChoiceKind {
    TOOL,
    TOOL_WITH_QUESTION,
    ANSWER,
    ANSWER_WITH_RESULT
}

/// @notice One of the things that the model can choose.
/// @param id of the token by which the model chooses it
/// @param text the answer, or the reasoning that the run keeps of a use of a tool; no two choices have the same
/// @param input of TOOL: `abi.encode(IERCAgentTool.Input)`
/// @param recall ids that stand in front of the tool's result in later prompts
struct Choice {
    uint16 id;
    ChoiceKind kind;
    IERCAgentTool tool;
    string text;
    bytes input;
    bytes recall;
}

/// @notice What an executor asks and what it takes. Ids are two bytes each.
/// @param modelId a language model whose calldata are ids @param lanes that make its output final, of which one is enough
/// @param minBond of a claim, wei @param minWindow seconds in which a claim could be challenged
/// @param opening ids in front of the question @param closing ids at the end
/// @param byteIds id of each of the 256 bytes
/// @param questionBytes of a question that are read @param resultBytes of a tool's result that are read
/// @param refusal the run's answer where the model chooses nothing of the list
struct ChoiceTerms {
    ModelId modelId;
    uint8 lanes;
    uint96 minBond;
    uint32 minWindow;
    bytes opening;
    bytes closing;
    bytes byteIds;
    uint16 questionBytes;
    uint16 resultBytes;
    string refusal;
}

/// @notice A use of a tool that a run has had. @param choice its place in the list
struct ToolUse {
    uint256 choice;
    bool success;
    string result;
}

/// @notice All that has happened in a run: what its history hash is the hash of.
struct RunHistory {
    address requester;
    string question;
    ToolUse[] uses;
}

/// @title An executor of callback agents whose every choice is a final output of a language model
/// @notice Anybody who has a final output for a run's prompt posts the choice that it is; the agent's fee goes to who
/// asked for the output. The prompt follows from the run's history, byte by byte. When it is posted is the poster's
/// choice, and a tool runs in that transaction: a tool must not read what a transaction can move.
/// @dev Nobody owns it, and it keeps nothing. An agent takes such choices alone if it has this executor alone, a threshold
/// of 1 and no owner; its iterationSeconds must be enough for a claim and its window.
contract FinalChoiceExecutor {
    using ChoicePrompt for string;

    /// @notice Thrown when a model takes or gives something else than ids.
    error NoLanguageModel(ModelId modelId);
    /// @notice Thrown when the lanes of the terms are none, or not the model's.
    error LanesInvalid(uint8 lanes, uint8 modelLanes);
    /// @notice Thrown when a list of ids has another length than is needed: an even one, and not 0 in front of a result.
    error MalformedIds(bytes ids, uint256 requiredBytes);
    /// @notice Thrown when two choices have the same id or the same text, when one has a tool that its kind has no use for
    /// or lacks one, or when there are none, or too many.
    error ChoicesUnclear(uint256 index);
    /// @notice Thrown when a use of a tool is said to have been another kind of choice.
    error NotAUse(uint256 choice);
    /// @notice Thrown for an agent that asks several executors to agree: it keeps no reasoning, which says what was chosen.
    error NotAlone(ICallbackAgent agent, uint16 threshold);

    /// @notice A choice was posted. @param choice its place in the list; their number if it is the refusal
    event ChoicePosted(
        ICallbackAgent indexed agent,
        int256 indexed runId,
        uint16 iteration,
        RequestId requestId,
        uint256 choice
    );

    uint256 private constant MAX_CHOICES = 16;

    IAssay public immutable assay;
    bytes4 public immutable selector;
    uint256 public immutable promptIds;
    ChoiceTerms private _terms;
    Choice[] private _choices;

    constructor(IAssay assay_, ChoiceTerms memory terms_, Choice[] memory choices_) {
        ModelWord word = ModelWord.wrap(assay_.registry().modelWord(terms_.modelId));
        if (word.isNone() || word.inputCodec() != INPUT_INT16S || word.outputCodec() != OUTPUT_INT16S) {
            revert NoLanguageModel(terms_.modelId);
        }
        if (terms_.lanes == 0 || word.missing(terms_.lanes) != 0) {
            revert LanesInvalid(terms_.lanes, word.lanes());
        }
        if (terms_.byteIds.length != 512) revert MalformedIds(terms_.byteIds, 512);
        _requireIds(terms_.opening);
        _requireIds(terms_.closing);
        (assay, selector, promptIds) = (assay_, word.selector(), word.inputSize());
        uint256 fixedIds = (terms_.opening.length + terms_.closing.length) / 2;
        if (fixedIds > promptIds) revert ChoicePrompt.PromptTooLong(fixedIds, promptIds);
        _terms = terms_;
        if (choices_.length == 0 || choices_.length > MAX_CHOICES) revert ChoicesUnclear(choices_.length);
        for (uint256 i; i < choices_.length; ++i) {
            _requireIds(choices_[i].recall);
            bool isUse = _isUse(choices_[i].kind);
            if (isUse != (address(choices_[i].tool) != address(0))) revert ChoicesUnclear(i);
            // Without ids in front of it a result would read like the end of the question.
            if (isUse && choices_[i].recall.length == 0) revert MalformedIds("", 2);
            for (uint256 j; j < i; ++j) {
                // INVARIANT: the history names a use by its text, so each text is one choice's.
                bool isSame = choices_[j].id == choices_[i].id
                    || keccak256(bytes(choices_[j].text)) == keccak256(bytes(choices_[i].text));
                if (isSame) revert ChoicesUnclear(i);
            }
            if (choices_[i].kind == ChoiceKind.TOOL) abi.decode(choices_[i].input, (IERCAgentTool.Input));
            _choices.push(choices_[i]);
        }
    }

    /// @notice Posts what the model chose, and takes the agent's fee to whoever asked for the output.
    /// @param history of the run; the agent compares its hash
    /// @param r a request of the prompt, whoever made it @param c the claim that became final, all zeros if truth came
    /// without one @param output the final output
    function post(
        ICallbackAgent agent,
        int256 runId,
        RunHistory calldata history,
        Request calldata r,
        Claim calldata c,
        bytes calldata output
    ) external {
        ChoiceTerms memory t = _terms;
        bytes32 inputHash = keccak256(_inputOf(t, history));
        assay.requireFinal(r, c, output, Policy(t.modelId, inputHash, t.lanes, t.minBond, t.minWindow));
        _post(agent, runId, history, output, assay.requestIdOf(r));
        uint256 earned = agent.balanceOf(address(this));
        // Not to the sender: a copied post would take the fee from who paid for the output.
        if (earned != 0) agent.withdraw(r.requester, earned);
    }

    /// @notice The model's calldata for the next iteration of a run.
    function inputOf(RunHistory calldata history) external view returns (bytes memory) {
        return _inputOf(_terms, history);
    }

    /// @notice The hash that a callback agent has of a history.
    function historyHashOf(ICallbackAgent agent, int256 runId, RunHistory memory history)
        public
        view
        returns (bytes32 hash)
    {
        hash = keccak256(abi.encode(block.chainid, agent, runId, history.requester, history.question));
        for (uint256 i; i < history.uses.length; ++i) {
            ToolUse memory use = history.uses[i];
            Choice memory choice = _choices[use.choice];
            if (!_isUse(choice.kind)) revert NotAUse(use.choice);
            IERCAgentTool.Input memory input = _toolInput(choice, history.question);
            bytes32 callHash =
                keccak256(abi.encode(block.chainid, agent, runId, uint16(i), choice.tool, input));
            hash = keccak256(abi.encode(hash, callHash, choice.text));
            hash = keccak256(abi.encode(hash, use.success, use.result));
        }
    }

    /// @notice What an output makes a run with this history do.
    /// @return place of the choice in the list; their number if the output is none of them
    function resultOf(bytes memory output, RunHistory memory history)
        public
        view
        returns (uint256 place, AgentIterationResult memory result)
    {
        (bool found, uint16 id) = ChoicePrompt.firstId(output);
        while (place < _choices.length && !(found && _choices[place].id == id)) ++place;
        if (place == _choices.length) {
            (result.isFinalAnswer, result.finalAnswer) = (true, _terms.refusal);
            return (place, result);
        }
        Choice memory choice = _choices[place];
        if (_isUse(choice.kind)) {
            (result.tool, result.agentReasoning) = (choice.tool, choice.text);
            result.toolInput = _toolInput(choice, history.question);
            return (place, result);
        }
        uint256 uses = history.uses.length;
        bool isResult = choice.kind == ChoiceKind.ANSWER_WITH_RESULT && uses != 0;
        (result.isFinalAnswer, result.finalAnswer) =
        (true, isResult ? history.uses[uses - 1].result : choice.text);
    }

    function terms() external view returns (ChoiceTerms memory) {
        return _terms;
    }

    function choices() external view returns (Choice[] memory) {
        return _choices;
    }

    function _post(
        ICallbackAgent agent,
        int256 runId,
        RunHistory calldata history,
        bytes calldata output,
        RequestId requestId
    ) private {
        (uint256 choice, AgentIterationResult memory result) = resultOf(output, history);
        uint16 iteration = uint16(history.uses.length);
        emit ChoicePosted(agent, runId, iteration, requestId, choice);
        uint16 threshold = agent.runOf(runId).threshold;
        if (threshold != 1) revert NotAlone(agent, threshold);
        bytes32 historyHash = historyHashOf(agent, runId, history);
        // What stands for a transcript is the request: it names the prompt, and the chain its final output.
        agent.postIteration(runId, iteration, historyHash, result, RequestId.unwrap(requestId));
    }

    function _inputOf(ChoiceTerms memory t, RunHistory calldata history) private view returns (bytes memory) {
        bytes memory ids = bytes.concat(t.opening, history.question.textIds(t.byteIds, t.questionBytes));
        for (uint256 i; i < history.uses.length; ++i) {
            bytes memory result = history.uses[i].result.textIds(t.byteIds, t.resultBytes);
            ids = bytes.concat(ids, _choices[history.uses[i].choice].recall, result);
        }
        return ChoicePrompt.toCalldata(selector, bytes.concat(ids, t.closing), promptIds);
    }

    function _toolInput(Choice memory choice, string memory question)
        private
        pure
        returns (IERCAgentTool.Input memory)
    {
        if (choice.kind == ChoiceKind.TOOL_WITH_QUESTION) return AgentInput.prompt(question);
        return abi.decode(choice.input, (IERCAgentTool.Input));
    }

    function _isUse(ChoiceKind kind) private pure returns (bool) {
        return kind == ChoiceKind.TOOL || kind == ChoiceKind.TOOL_WITH_QUESTION;
    }

    function _requireIds(bytes memory ids) private pure {
        if (ids.length % 2 != 0) revert MalformedIds(ids, ids.length + 1);
    }
}
