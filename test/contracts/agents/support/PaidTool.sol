// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Prepaid} from "../../../../verifier-contracts/agents/Prepaid.sol";
import {ToolMetadata, ToolText} from "../../../../verifier-contracts/agents/ToolMetadata.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../../../../verifier-contracts/agents/interfaces/IPrepaid.sol";
import {Params} from "./Params.sol";

/// @notice An asynchronous tool with a price, which gives back what a test says.
contract PaidTool is ToolMetadata, Prepaid {
    uint256 public constant price = 0.01 ether;
    int256 public nextRun;
    mapping(int256 runId => uint256) public refundedOf;
    mapping(int256 runId => address) private _payers;

    constructor()
        ToolMetadata(ToolText("PaidTool", "costs something", Params.describe(IERCAgentTool.ParamType.UINT)))
    {}

    function run(IERCAgentTool.Input memory, address) external returns (int256, string memory) {
        _charge(msg.sender, price);
        _payers[nextRun] = msg.sender;
        return (nextRun++, "");
    }

    function giveBack(int256 runId, uint256 amount) external {
        uint256 rest = price - refundedOf[runId];
        if (amount > rest) amount = rest;
        refundedOf[runId] += amount;
        _credit(_payers[runId], amount);
    }

    function supportsInterface(bytes4 id) public view override returns (bool) {
        return id == type(IPrepaid).interfaceId || super.supportsInterface(id);
    }
}
