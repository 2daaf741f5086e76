// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgent} from "./IERCAgent.sol";
import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";

/// @title An agent that only its owner runs
/// @notice For agents whose tools act for one person.
contract OwnedAgent is IERCAgent {
    /// @notice Thrown when somebody else than the owner runs the agent.
    error NotOwner(address sender, address owner);

    address public immutable owner;

    /// @param owner_ who may run it; the rest as in IERCAgent
    constructor(
        address owner_,
        address agentExecutorContract_,
        string memory modelId_,
        string memory name_,
        string memory description_,
        string memory inputDescription_,
        string memory basePrompt_,
        IERCAgentTool[] memory tools_,
        uint16 agentMaxIterations_
    )
        IERCAgent(
            agentExecutorContract_,
            modelId_,
            name_,
            description_,
            inputDescription_,
            basePrompt_,
            tools_,
            agentMaxIterations_
        )
    {
        owner = owner_;
    }

    /// @inheritdoc IERCAgent
    function run(IERCAgentTool.Input memory input, address resultHandler)
        public
        override
        returns (int256, string memory)
    {
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
        return super.run(input, resultHandler);
    }
}
