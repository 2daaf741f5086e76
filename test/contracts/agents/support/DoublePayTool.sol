// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ToolMetadata, ToolText} from "../../../../verifier-contracts/agents/ToolMetadata.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../../../../verifier-contracts/agents/interfaces/IPrepaid.sol";
import {Params} from "./Params.sol";

/// @notice Sends ether from an address of its own.
contract Wallet {
    function pay(address to) external payable returns (bool success) {
        (success,) = to.call{value: msg.value}("");
    }
}

/// @notice An asynchronous tool with a price that, when it is asked to pay back, pays in another way too.
contract DoublePayTool is ToolMetadata, IPrepaid {
    enum Way {
        PLAIN,
        DEPOSIT,
        WITHDRAW,
        BY_ANOTHER,
        IN_RUN
    }

    uint256 public constant price = 0.01 ether;
    Way public way;
    address public accomplice;
    int256 public nextRun;
    uint256 public successes;
    mapping(int256 runId => uint256) public refundedOf;
    Wallet private immutable _purse = new Wallet();

    constructor()
        ToolMetadata(ToolText(
                "DoublePayTool", "pays back twice", Params.describe(IERCAgentTool.ParamType.UINT)
            ))
    {}

    function setWay(Way to, address accomplice_) external {
        (way, accomplice) = (to, accomplice_);
    }

    /// @notice The value sent is what it pays back for a run from now on.
    function giveBack(int256 runId) external payable {
        refundedOf[runId] += msg.value;
    }

    function run(IERCAgentTool.Input memory, address agent) external returns (int256, string memory) {
        if (way == Way.IN_RUN) {
            (bool success,) = agent.call{value: address(this).balance}("");
            if (success) ++successes;
        }
        return (nextRun++, "");
    }

    function depositFor(address) external payable {}

    function withdraw(address to, uint256 amount) external {
        bool success;
        if (way == Way.DEPOSIT) {
            (success,) = msg.sender.call{value: amount}(abi.encodeCall(IPrepaid.depositFor, (accomplice)));
        } else if (way == Way.WITHDRAW) {
            // Its own balance at the agent goes out and comes in again, as if this tool had paid it.
            (success,) = msg.sender.call(abi.encodeCall(IPrepaid.withdraw, (to, amount)));
        } else if (way == Way.BY_ANOTHER) {
            success = _purse.pay{value: amount}(to);
        } else {
            (success,) = to.call{value: amount}("");
        }
        if (success) ++successes;
    }

    function balanceOf(address) external view returns (uint256) {
        return address(this).balance;
    }

    function supportsInterface(bytes4 id) public view override returns (bool) {
        return id == type(IPrepaid).interfaceId || super.supportsInterface(id);
    }

    receive() external payable {}
}
