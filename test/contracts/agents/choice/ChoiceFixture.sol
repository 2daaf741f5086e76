// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentClient} from "../../../../verifier-contracts/agents/AgentClient.sol";
import {CallbackAgent, CallbackTerms} from "../../../../verifier-contracts/agents/callback/CallbackAgent.sol";
import {
    Choice,
    ChoiceKind,
    ChoiceTerms,
    FinalChoiceExecutor,
    RunHistory,
    ToolUse
} from "../../../../verifier-contracts/agents/choice/FinalChoiceExecutor.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {Orders} from "../../../../verifier-contracts/libraries/Orders.sol";
import {Claim, LANE_BOND, ModelId, Request} from "../../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../../support/assay/AssayFixture.sol";
import {Params} from "../support/Params.sol";
import {MoodyTool} from "../support/TestTools.sol";

/// @notice An agent that nobody owns and whose only executor takes final outputs of a language model with prompts of 40
/// ids. A byte b is the id 300 + b; above 900 are the words that are fixed.
abstract contract ChoiceFixture is AssayFixture {
    ModelId internal constant LANGUAGE_MODEL = ModelId.wrap(keccak256("language model"));
    uint256 internal constant PROMPT_IDS = 40;
    uint96 internal constant MIN_BOND = 0.5 ether;
    uint96 internal constant ITERATION_FEE = 0.001 ether;
    uint16 internal constant QUESTION_BYTES = 12;
    uint16 internal constant RESULT_BYTES = 5;
    uint16 internal constant OPENING = 900;
    uint16 internal constant CLOSING = 901;
    uint16 internal constant RECALL = 902;
    uint16 internal constant USE = 910;
    uint16 internal constant YES = 911;
    uint16 internal constant REPEAT = 912;
    string internal constant QUESTION = "Is it up?";
    string internal constant REFUSAL = "The model chose nothing.";

    MoodyTool internal tool;
    FinalChoiceExecutor internal executor;
    CallbackAgent internal agent;
    AgentClient internal client;
    /// @dev who asks for outputs
    address internal requesterOf;

    function setUp() public virtual override {
        super.setUp();
        registry.setModel(LANGUAGE_MODEL, _languageModel(PROMPT_IDS));
        tool = new MoodyTool("FirstTool");
        executor = new FinalChoiceExecutor(assay, _terms(), _choices());
        address[] memory alone = new address[](1);
        alone[0] = address(executor);
        agent = _newAgent(alone, 1);
        requesterOf = requester;
        client = new AgentClient(address(this));
    }

    /// @notice Bond lane, calldata and return data of 16-bit numbers, an answer of up to 16 ids.
    function _languageModel(uint256 promptIds) internal pure returns (uint256) {
        uint256 head = 1 | uint256(LANE_BOND) << 8 | uint256(DEPTH) << 16 | uint256(uint32(SELECTOR)) << 64;
        return head | uint256(96) << 128 | uint256(3) << 160 | uint256(2) << 168 | promptIds << 176;
    }

    function _terms() internal pure returns (ChoiceTerms memory t) {
        (t.modelId, t.lanes, t.minBond, t.minWindow) = (LANGUAGE_MODEL, LANE_BOND, MIN_BOND, WINDOW);
        (t.opening, t.closing) = (abi.encodePacked(OPENING), abi.encodePacked(CLOSING));
        for (uint16 i; i < 256; ++i) {
            t.byteIds = bytes.concat(t.byteIds, abi.encodePacked(300 + i));
        }
        (t.questionBytes, t.resultBytes, t.refusal) = (QUESTION_BYTES, RESULT_BYTES, REFUSAL);
    }

    function _choices() internal view returns (Choice[] memory c) {
        c = new Choice[](3);
        bytes memory input = abi.encode(Params.input(Params.number(7)));
        c[0] = Choice(USE, ChoiceKind.TOOL, tool, "I look.", input, abi.encodePacked(RECALL));
        c[1] = Choice(YES, ChoiceKind.ANSWER, IERCAgentTool(address(0)), "Yes.", "", "");
        c[2] = Choice(
            REPEAT, ChoiceKind.ANSWER_WITH_RESULT, IERCAgentTool(address(0)), "There is no result.", "", ""
        );
    }

    function _newAgent(address[] memory executors, uint16 threshold) internal returns (CallbackAgent) {
        CallbackTerms memory t;
        (t.executors, t.threshold, t.iterationSeconds) = (executors, threshold, 1 days);
        (t.toolSeconds, t.confirmSeconds, t.toolGas) = (3_600, 3_600, 1_000_000);
        (t.callbackGas, t.iterationFee, t.toolBudget) = (300_000, ITERATION_FEE, 0.01 ether);
        IERCAgentTool[] memory tools = new IERCAgentTool[](1);
        tools[0] = tool;
        return new CallbackAgent("model", "Agent", "chooses", "what to do", "Choose.", tools, 4, t);
    }

    function _start(string memory question) internal returns (int256 runId) {
        uint256 price = agent.price();
        vm.deal(address(this), price);
        (runId,) = client.ask{value: price}(agent, AgentInput.prompt(question));
    }

    /// @notice A run's history in which the tool was used so many times.
    function _history(string memory question, uint256 uses) internal view returns (RunHistory memory h) {
        (h.requester, h.question, h.uses) = (address(client), question, new ToolUse[](uses));
        for (uint256 i; i < uses; ++i) {
            h.uses[i] = ToolUse(0, true, tool.answer());
        }
    }

    /// @notice Return data with this first id, and nothing behind it.
    function _output(uint16 id) internal pure returns (bytes memory) {
        uint256[] memory words = new uint256[](1);
        words[0] = uint256(id ^ 0x8000) << 240;
        for (uint256 i = 1; i < 16; ++i) {
            words[0] |= uint256(0x7fff) << (240 - 16 * i);
        }
        return abi.encode(words);
    }

    function _requestOf(bytes memory input) internal view returns (Request memory r) {
        (r.requester, r.modelId, r.inputHash) = (requesterOf, LANGUAGE_MODEL, keccak256(input));
        (r.lanes, r.fee, r.minBond, r.window) = (LANE_BOND, FEE, MIN_BOND, WINDOW);
        (r.expiry, r.salt) = (uint40(block.timestamp + 1 days), uint64(block.timestamp));
    }

    function _claimed(Request memory r, bytes memory input, bytes memory output)
        internal
        returns (Claim memory)
    {
        vm.prank(r.requester);
        assay.request{value: r.fee}(r.modelId, Orders.pack(r, input));
        return _claim(r, prover, output);
    }

    /// @notice A claim of this output for a history's prompt, final.
    function _final(RunHistory memory h, bytes memory output)
        internal
        returns (Request memory r, Claim memory c)
    {
        bytes memory input = executor.inputOf(h);
        r = _requestOf(input);
        c = _claimed(r, input, output);
        skip(WINDOW);
    }

    /// @notice Makes a choice final and posts it.
    function _post(int256 runId, RunHistory memory h, uint16 id) internal {
        (Request memory r, Claim memory c) = _final(h, _output(id));
        vm.prank(stranger);
        executor.post(agent, runId, h, r, c, _output(id));
    }

    receive() external payable {}
}
