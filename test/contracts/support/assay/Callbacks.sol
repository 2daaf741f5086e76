// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../../verifier-contracts/Assay.sol";
import {IAssayCallback} from "../../../../verifier-contracts/interfaces/IAssayCallback.sol";
import {Claim, Request} from "../../../../verifier-contracts/types/Types.sol";

// Contracts that results are delivered to.

/// @notice Keeps what it is told, and how much gas it had.
contract Listener is IAssayCallback {
    uint256 public calls;
    uint256 public gasGiven;
    address public caller;
    bytes32 public requestId;
    bytes public output;
    uint8 public lane;
    uint64 public requestedAt;
    uint64 public finalAt;

    function onAssayResult(bytes32 id, bytes calldata o, uint8 l, uint64 requested, uint64 settled)
        external
        virtual
    {
        gasGiven = gasleft();
        calls++;
        (caller, requestId, output, lane, requestedAt, finalAt) = (msg.sender, id, o, l, requested, settled);
    }
}

/// @notice Fails in a way that its owner chooses.
contract Saboteur is IAssayCallback {
    enum Way {
        NONE,
        REVERT,
        BURN,
        HUGE_REVERT,
        HUGE_RETURN,
        DELIVER,
        RECLAIM,
        REQUEST,
        WITHDRAW
    }

    Assay private immutable _assay;
    Way public way;
    uint256 public calls;
    bytes public tried;
    Request private _request;
    bytes private _data;

    constructor(Assay assay) payable {
        _assay = assay;
    }

    function set(Way w, bytes calldata data) external {
        way = w;
        _data = data;
    }

    function onAssayResult(bytes32, bytes calldata, uint8, uint64, uint64) external {
        calls++;
        if (way == Way.REVERT) revert("no");
        if (way == Way.BURN) {
            while (true) {}
        }
        if (way == Way.HUGE_REVERT) {
            assembly {
                revert(0, 500000)
            }
        }
        if (way == Way.HUGE_RETURN) {
            assembly {
                return(0, 500000)
            }
        }
        if (way >= Way.DELIVER) {
            bytes memory data = _data;
            uint256 value = way == Way.REQUEST ? 0.01 ether : 0;
            (bool done, bytes memory answer) = address(_assay).call{value: value}(data);
            tried = done ? bytes("done") : answer;
        }
    }

    receive() external payable {}
}
