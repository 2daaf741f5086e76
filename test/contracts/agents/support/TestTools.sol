// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ToolMetadata, ToolText} from "../../../../verifier-contracts/agents/ToolMetadata.sol";
import {IERCAgentClient} from "../../../../verifier-contracts/agents/interfaces/IERCAgentClient.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {Params} from "./Params.sol";

/// @notice What tests wrap as a tool: keeps what it was told, and does not know tools.
contract Ledger {
    address public lastAccount;
    uint256 public lastAmount;
    uint256 public total;
    bool public answer = true;

    error Refused(uint256 amount);

    function add(address account, uint256 amount) external {
        if (amount == 13) revert Refused(amount);
        (lastAccount, lastAmount) = (account, amount);
        total += amount;
    }

    function tryAdd(address account, uint256 amount) external returns (bool) {
        if (!answer) return false;
        (lastAccount, lastAmount) = (account, amount);
        return true;
    }

    function setAnswer(bool to) external {
        answer = to;
    }

    function sum(uint256 a, uint256 b) external pure returns (uint256) {
        return a + b;
    }
}

/// @notice A tool whose behaviour a test chooses. Takes one UINT.
contract MoodyTool is ToolMetadata {
    enum Mood {
        ANSWER,
        LATER,
        REVERT,
        BURN,
        REENTER,
        BELOW,
        BOMB,
        AT_ONCE
    }

    error InABadMood(uint256 number);

    Mood public mood;
    uint256 public uses;
    int256 public nextId;
    address public handler;
    string public answer = "done";

    constructor(string memory name_)
        ToolMetadata(ToolText(
                name_, "does what the test says", Params.describe(IERCAgentTool.ParamType.UINT)
            ))
    {}

    function setMood(Mood to) external {
        mood = to;
    }

    function setAnswer(string memory to) external {
        answer = to;
    }

    function setNextId(int256 to) external {
        nextId = to;
    }

    function run(IERCAgentTool.Input memory input, address resultHandler)
        public
        returns (int256, string memory)
    {
        ++uses;
        handler = resultHandler;
        if (mood == Mood.LATER) return (nextId++, "not to be read");
        if (mood == Mood.REVERT) revert InABadMood(abi.decode(input.params[0].value, (uint256)));
        if (mood == Mood.BURN) while (true) ++uses;
        if (mood == Mood.REENTER) IERCAgentTool(msg.sender).run(input, resultHandler);
        if (mood == Mood.BELOW) return (-2, "");
        if (mood == Mood.BOMB) {
            assembly ("memory-safe") {
                revert(0, 1000000)
            }
        }
        if (mood == Mood.AT_ONCE) {
            IERCAgentClient(resultHandler).handleAgentResult(nextId, "too early");
            return (nextId++, "");
        }
        return (-1, answer);
    }

    /// @notice Answers a run that was to be answered later.
    function finish(IERCAgentClient client, int256 runId, string calldata result) external {
        client.handleAgentResult(runId, result);
    }
}

/// @notice A result handler whose behaviour a test chooses.
contract MoodyHandler {
    enum Mood {
        TAKE,
        REVERT,
        BURN
    }

    error NoThanks();

    Mood public mood;
    uint256 public taken;
    address public lastSender;
    int256 public lastRunId;
    string public lastResult;

    function setMood(Mood to) external {
        mood = to;
    }

    function run(IERCAgentTool tool, IERCAgentTool.Input calldata input)
        external
        returns (int256, string memory)
    {
        return tool.run(input, address(this));
    }

    function handleAgentResult(int256 runId, string memory result) external {
        if (mood == Mood.REVERT) revert NoThanks();
        if (mood == Mood.BURN) while (true) ++taken;
        ++taken;
        (lastSender, lastRunId, lastResult) = (msg.sender, runId, result);
    }

    receive() external payable {}
}

/// @notice Knows ERC-165 and is no client.
contract NotAClient {
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7;
    }
}
