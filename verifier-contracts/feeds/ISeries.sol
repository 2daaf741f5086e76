// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Data from the chain that a model's inputs are made of.
interface ISeries {
    /// @notice Thrown when there are fewer data than an input takes.
    error TooFewDays(uint256 known, uint256 required);

    /// @param selector of the model's function
    /// @return input the model's calldata over the newest data @return observedAt second of the newest of them
    function newest(bytes4 selector) external view returns (bytes memory input, uint40 observedAt);
}
