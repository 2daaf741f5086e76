// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ToolMetadata, ToolText} from "../../../../verifier-contracts/agents/ToolMetadata.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../../../../verifier-contracts/agents/interfaces/IPrepaid.sol";
import {Params} from "./Params.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice Sends ether from an address of its own.
contract Purse {
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
    Purse private immutable _purse = new Purse();

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

/// @notice A tool that says as much as a test tells it, of itself and as a result, and changes that at any time.
contract WordyTool is IERCAgentTool, ERC165 {
    enum Part {
        NAME,
        DESCRIPTION,
        PARAMS,
        RESULT
    }

    enum Manner {
        TEXT,
        REVERT,
        BURN
    }

    string private _ownName;
    mapping(Part => uint256) public sizeOf;
    mapping(Part => Manner) public mannerOf;

    constructor(string memory ownName) {
        _ownName = ownName;
    }

    /// @param size bytes of text, or of what it reverts with
    function say(Part part, Manner manner, uint256 size) external {
        (mannerOf[part], sizeOf[part]) = (manner, size);
    }

    function name() external view returns (string memory) {
        return _text(Part.NAME, _ownName);
    }

    function description() external view returns (string memory) {
        return _text(Part.DESCRIPTION, "says a lot");
    }

    function inputDescription() external view returns (InputDescription memory d) {
        d.paramDescriptions = new ParamDescription[](1);
        d.paramDescriptions[0] = ParamDescription(ParamType.UINT, _text(Part.PARAMS, "number"), "a number");
    }

    function run(Input memory, address) external view returns (int256, string memory) {
        return (-1, _text(Part.RESULT, "said"));
    }

    function supportsInterface(bytes4 id) public view override(ERC165, IERC165) returns (bool) {
        return id == type(IERCAgentTool).interfaceId || super.supportsInterface(id);
    }

    function _text(Part part, string memory short) private view returns (string memory) {
        uint256 size = sizeOf[part];
        if (mannerOf[part] == Manner.BURN) while (true) {}
        if (mannerOf[part] == Manner.REVERT) {
            assembly ("memory-safe") {
                revert(0, size)
            }
        }
        return size == 0 ? short : string(new bytes(size));
    }
}
