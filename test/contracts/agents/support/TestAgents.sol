// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ConfirmedAgent} from "../../../../verifier-contracts/agents/ConfirmedAgent.sol";
import {IERCAgent} from "../../../../verifier-contracts/agents/IERCAgent.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";

/// @notice An agent that is a constructor and nothing else.
contract PlainAgent is IERCAgent {
    constructor(address executor, string memory agentName_, IERCAgentTool[] memory tools_, uint16 most)
        IERCAgent(executor, "model", agentName_, "does things", "what to do", "You do things.", tools_, most)
    {}
}

/// @notice Reads errors of its tools and goes on.
contract ObservingAgent is PlainAgent {
    uint256 private immutable _gasOfTool;

    constructor(address executor, IERCAgentTool[] memory tools_, uint256 gasOfTool)
        PlainAgent(executor, "Observing Agent", tools_, 4)
    {
        _gasOfTool = gasOfTool;
    }

    function _observesFailures() internal pure override returns (bool) {
        return true;
    }

    function _toolGas() internal view override returns (uint256) {
        return _gasOfTool;
    }
}

/// @notice Spends no more than its limit on a run.
contract ThriftyAgent is PlainAgent {
    uint256 private immutable _limit;

    constructor(address executor, IERCAgentTool[] memory tools_, uint256 limit)
        PlainAgent(executor, "Thrifty Agent", tools_, 4)
    {
        _limit = limit;
    }

    function _runGas() internal view override returns (uint256) {
        return _limit;
    }
}

/// @notice Runs for one account alone.
contract PrivateAgent is PlainAgent {
    error NotForYou(address sender);

    address private immutable _user;

    constructor(address executor, IERCAgentTool[] memory tools_, address user)
        PlainAgent(executor, "Private Agent", tools_, 4)
    {
        _user = user;
    }

    function run(IERCAgentTool.Input memory input, address handler)
        public
        override
        returns (int256, string memory)
    {
        if (msg.sender != _user) revert NotForYou(msg.sender);
        return super.run(input, handler);
    }
}

/// @notice Asks a human before each tool.
contract CarefulAgent is PlainAgent, ConfirmedAgent {
    constructor(address executor, IERCAgentTool[] memory tools_, address human)
        PlainAgent(executor, "Careful Agent", tools_, 4)
        ConfirmedAgent(human)
    {}

    function _beforeTool(
        int256 runId,
        uint16 iteration,
        string memory prompt,
        IERCAgentTool tool,
        IERCAgentTool.Input memory input
    ) internal override(IERCAgent, ConfirmedAgent) {
        ConfirmedAgent._beforeTool(runId, iteration, prompt, tool, input);
    }
}
