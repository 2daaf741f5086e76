// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Adapter of a lane that knows the right output at once: EXECUTION or PROOF.
interface ITruth {
    /// @notice True if `output` is the model's return data for `input`.
    /// @param evidence a proof, weights, or nothing, as the lane needs
    /// @param submitter who presents it; a proof is bound to this address
    function isTrue(
        ModelId modelId,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence,
        address submitter
    ) external view returns (bool);
}
