// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgent} from "../../../verifier-contracts/agents/IERCAgent.sol";
import {EmbeddedExecutor} from "../../../verifier-contracts/agents/embedded/EmbeddedExecutor.sol";
import {AgentIterationResult} from "../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {BoundedCall} from "../../../verifier-contracts/agents/libraries/BoundedCall.sol";
import {Introspection} from "../../../verifier-contracts/agents/libraries/Introspection.sol";
import {AgentFixture} from "./support/AgentFixture.sol";
import {ObservingAgent, PlainAgent, ThriftyAgent} from "./support/TestAgents.sol";
import {WordyTool} from "./support/WordyTool.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice Answers with the names of the tools in a question, where a model stands on a development chain.
contract NamingPrecompile {
    fallback(bytes calldata data) external returns (bytes memory) {
        EmbeddedExecutor.Question memory question = abi.decode(data, (EmbeddedExecutor.Question));
        AgentIterationResult memory next;
        next.isFinalAnswer = true;
        for (uint256 i; i < question.tools.length; i++) {
            next.finalAnswer = string.concat(next.finalAnswer, question.tools[i].name, ";");
        }
        return abi.encode(next);
    }
}

/// @notice Agents of one transaction against tools that say megabytes.
contract TextBoundsAtOnceTest is AgentFixture {
    uint256 private constant RUN_GAS = (1 << 24) - 100_000;

    WordyTool private wordy;

    function setUp() public override {
        super.setUp();
        wordy = new WordyTool("WordyTool");
    }

    /// @dev An agent that observes failures goes on, whichever of its texts a tool abuses, and how.
    function test_run_observedTexts_succeeds() public {
        ObservingAgent observing = new ObservingAgent(address(executor), _list(), 4_000_000);
        executor.onTool("go", wordy, _number(5), "try");
        executor.onTool("go", tool, _number(6), "or that");
        executor.onAnswer("go", "went on");
        executor.setForgetful();
        // The first run reads all names: the tool is a good one then.
        assertEq(_askWithin(observing), "went on");
        WordyTool.Part[3] memory parts = [WordyTool.Part.NAME, WordyTool.Part.PARAMS, WordyTool.Part.RESULT];
        uint256 uses = 1;
        for (uint256 i; i < parts.length; i++) {
            for (uint8 manner; manner < 3; manner++) {
                wordy.say(parts[i], WordyTool.Manner(manner), 1 << 19);
                vm.recordLogs();
                assertEq(_askWithin(observing), "went on");
                assertEq(tool.uses(), ++uses);
                (,, string[] memory steps,) = _lastRun(vm.getRecordedLogs(), address(observing));
                string memory start =
                    string.concat("{5} at ", Strings.toChecksumHexString(address(wordy)), " -> \"Error: ");
                assertEq(_head(steps[0], bytes(start).length), start);
            }
            wordy.say(parts[i], WordyTool.Manner.TEXT, 0);
        }
    }

    /// @dev Errors that look like the agent's own, cut off anywhere.
    function test_run_observedForgedError_succeeds() public {
        ObservingAgent observing = new ObservingAgent(address(executor), _list(), 1_000_000);
        executor.onTool("go", wordy, _number(5), "try");
        executor.onAnswer("go", "went on");
        executor.setForgetful();
        assertEq(_ask(observing, "go"), "went on");
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.REVERT, 0);
        bytes memory forged = abi.encodeWithSelector(IERCAgent.ToolFailed.selector, wordy, new bytes(32));
        for (uint256 length = forged.length; length > 0; length--) {
            assembly ("memory-safe") {
                mstore(forged, length)
            }
            wordy.setError(forged);
            assertEq(_ask(observing, "go"), "went on");
        }
    }

    /// @dev Any other agent is undone by it, as by every failure of a tool, and says why.
    function test_run_longTexts_reverts() public {
        agent = new PlainAgent(address(executor), "Plain Agent", _list(), 4);
        executor.onTool("go", wordy, _number(5), "try");
        executor.onAnswer("go", "done");
        _ask(agent, "go");
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.TEXT, 8_193);
        _expectAsk(agent, "go", abi.encodeWithSelector(BoundedCall.ResultTooLong.selector, 8_193, 8_192));
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.TEXT, 8_192);
        _ask(agent, "go");
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.TEXT, 129);
        bytes4 why = Introspection.NameTooLong.selector;
        _expectAsk(agent, "go", abi.encodeWithSelector(why, wordy, 129, 128));
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.TEXT, 128);
        wordy.say(WordyTool.Part.NAME, WordyTool.Manner.TEXT, 129);
        _expectAsk(agent, "go", abi.encodeWithSelector(why, wordy, 129, 128));
        wordy.say(WordyTool.Part.NAME, WordyTool.Manner.TEXT, 128);
        _ask(agent, "go");
    }

    /// @dev An agent's own limit of gas holds for all that a tool is asked.
    function test_run_gasLimit_reverts() public {
        ThriftyAgent thrifty = new ThriftyAgent(address(executor), _list(), 5_000_000);
        executor.onTool("go", wordy, _number(5), "try");
        executor.onAnswer("go", "done");
        assertEq(_ask(thrifty, "go"), "done");
        executor.setForgetful();
        WordyTool.Part[3] memory parts = [WordyTool.Part.NAME, WordyTool.Part.PARAMS, WordyTool.Part.RESULT];
        for (uint256 i; i < parts.length; i++) {
            wordy.say(parts[i], WordyTool.Manner.BURN, 0);
            bytes memory data = abi.encodeCall(thrifty.run, (AgentInput.prompt("go"), address(0)));
            uint256 before = gasleft();
            (bool success,) = address(thrifty).call{gas: 50_000_000}(data);
            assertFalse(success);
            assertLt(before - gasleft(), 6_000_000, "more than its limit is burned");
            wordy.say(parts[i], WordyTool.Manner.TEXT, 0);
        }
    }

    /// @dev A tool that nobody can read is not offered to the model; the others are.
    function test_runNextIteration_embedded_succeeds() public {
        EmbeddedExecutor embedded = new EmbeddedExecutor(address(new NamingPrecompile()));
        agent = new PlainAgent(address(embedded), "Plain Agent", _list(), 4);
        assertEq(_askWithin(agent), "WordyTool;FirstTool;");
        WordyTool.Part[3] memory parts =
            [WordyTool.Part.NAME, WordyTool.Part.DESCRIPTION, WordyTool.Part.PARAMS];
        for (uint256 i; i < parts.length; i++) {
            for (uint8 manner; manner < 3; manner++) {
                wordy.say(parts[i], WordyTool.Manner(manner), 1 << 19);
                assertEq(_askWithin(agent), "FirstTool;");
            }
            wordy.say(parts[i], WordyTool.Manner.TEXT, 0);
        }
        wordy.say(WordyTool.Part.DESCRIPTION, WordyTool.Manner.TEXT, 8_192);
        vm.expectRevert(
            abi.encodeWithSelector(EmbeddedExecutor.DescriptionTooLong.selector, wordy, 8_736, 8_192)
        );
        embedded.describe(wordy);
    }

    function _list() private view returns (IERCAgentTool[] memory list) {
        list = new IERCAgentTool[](2);
        (list[0], list[1]) = (wordy, tool);
    }

    function _askWithin(IERCAgent which) private returns (string memory) {
        return this.ask{gas: RUN_GAS}(which);
    }

    function ask(IERCAgent which) external returns (string memory) {
        return _ask(which, "go");
    }

    function _head(string memory text, uint256 length) private pure returns (string memory) {
        bytes memory s = bytes(text);
        assertGe(s.length, length);
        assembly ("memory-safe") {
            mstore(s, length)
        }
        return string(s);
    }
}
