// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

import {CallerListedTool} from "../../agents/CallerListedTool.sol";
import {OwnedAgent} from "../../agents/OwnedAgent.sol";
import {IERCAgentTool} from "../../agents/interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "../../agents/interfaces/ToolResultConverter.sol";
import {Pool} from "./Pool.sol";
import {ViewBalanceResultConverter} from "./ViewBalanceResultConverter.sol";

/// @notice Manages what its owner has in a pool, as he says in simple terms.
/// @dev Only the owner may run it, and only it may use the tools that move tokens. Its owner still has to make the
/// first two tools operators of his pool.
contract WalletAgent is OwnedAgent {
    /// @param executor an IERCAgentExecutor @param owner_ who may run the agent
    /// @param pool where the tokens go @param existingTool a tool that is deployed already, reused
    constructor(address executor, address owner_, Pool pool, IERCAgentTool existingTool)
        OwnedAgent(
            owner_,
            executor,
            "llama_model_3",
            "Wallet Agent",
            "Use this to deploy or withdraw tokens from a liquidity pool",
            "The action you want to take, the address of the tokens, and the amount",
            "You are an agent deployed on an EVM blockchain, responsible for managing a user's wallet. "
            "The wallet's owner will give you instructions in simple terms, and your goal is to execute the "
            "instructions from the user, given the list of tools you can use. Amounts are in the smallest unit of "
            "the token. Ether is deployed as wrapped ether.",
            new IERCAgentTool[](4),
            10
        )
    {
        tools[0] = _tool(
            "DeployTool", "Deploy funds into the pool", pool, Pool.deploy.selector, "deposit", "deployed"
        );
        tools[1] = _tool(
            "WithdrawTool",
            "Withdraw funds from the pool",
            pool,
            Pool.withdraw.selector,
            "withdraw",
            "withdrawn"
        );
        IERCAgentTool.ParamDescription[] memory params = new IERCAgentTool.ParamDescription[](1);
        params[0] = ParamDescription(ParamType.ADDRESS, "asset", "address of the token to view balance for");
        tools[2] = new CallerListedTool(
            "ViewBalanceTool",
            "See user's balance in the pool",
            address(pool),
            Pool.balance.selector,
            InputDescription(params),
            false,
            "",
            new ViewBalanceResultConverter(),
            _onlyThis()
        );
        tools[3] = existingTool;
    }

    /// @dev A tool that moves an amount of a token. @param verb what it does, @param past what it has done then
    function _tool(
        string memory toolName,
        string memory toolDescription,
        Pool pool,
        bytes4 selector,
        string memory verb,
        string memory past
    ) private returns (IERCAgentTool) {
        IERCAgentTool.ParamDescription[] memory params = new IERCAgentTool.ParamDescription[](2);
        params[0] =
            ParamDescription(ParamType.ADDRESS, "asset", string.concat("address of the token to ", verb));
        params[1] = ParamDescription(ParamType.UINT, "amount", string.concat("amount of tokens to ", verb));
        return new CallerListedTool(
            toolName,
            toolDescription,
            address(pool),
            selector,
            InputDescription(params),
            true,
            string.concat("Successfully ", past),
            ToolResultConverter(address(0)),
            _onlyThis()
        );
    }

    function _onlyThis() private view returns (address[] memory callers) {
        callers = new address[](1);
        callers[0] = address(this);
    }
}
