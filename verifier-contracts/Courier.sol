// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssayCallback} from "./interfaces/IAssayCallback.sol";
import {IAssayErrors} from "./interfaces/IAssayErrors.sol";

/// @notice Makes Assay's callbacks. A callback is code of a stranger's choice: what it can do in the name of its
/// caller is nothing, for this contract holds no money, no rights and no storage.
contract Courier {
    /// @notice Thrown when anybody but Assay sends the courier.
    error NotAssay(address sender);

    /// @dev Gas kept back: reaching the callback (two cold accounts), then booking the delivery in Assay.
    uint256 private constant RESERVE = 40_000;

    address public immutable assay;

    constructor() {
        assay = msg.sender;
    }

    /// @notice Calls `onAssayResult` with exactly `callbackGas`. Copies no return data.
    /// @return success false if the callback has no code, reverted, or ran out of its gas
    function carry(
        address callback,
        uint256 callbackGas,
        bytes32 requestId,
        bytes calldata output,
        uint8 lane,
        uint64 requestedAt,
        uint64 finalAt
    ) external returns (bool success) {
        if (msg.sender != assay) revert NotAssay(msg.sender);
        if (callback.code.length == 0) return false;
        bytes memory data =
            abi.encodeCall(IAssayCallback.onAssayResult, (requestId, output, lane, requestedAt, finalAt));
        // A call hands on at most 63/64 of the gas, silently: a sender who brings less could make a good callback
        // fail.
        uint256 required = callbackGas + RESERVE;
        if (gasleft() * 63 / 64 < required) {
            revert IAssayErrors.NotEnoughGas(gasleft(), required * 64 / 63 + 1);
        }
        assembly ("memory-safe") {
            success := call(callbackGas, callback, 0, add(data, 0x20), mload(data), 0, 0)
        }
    }
}
