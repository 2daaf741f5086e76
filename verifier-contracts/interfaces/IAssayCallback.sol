// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice What a contract that asks for delivery implements. The caller is Assay's courier.
interface IAssayCallback {
    function onAssayResult(
        bytes32 requestId,
        bytes calldata output,
        uint8 lane,
        uint64 requestedAt,
        uint64 finalAt
    ) external;
}
