// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.20;

import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @title Takes the result of a tool that answers later
/// @dev ERC-165 id 0x36d21840.
interface IERCAgentClient is IERC165 {
    /// @notice Takes the result of a run that this contract started.
    /// @dev Must check that the sender is the tool that it called, and that the run is one that it waits for: ids
    /// are each tool's own, so the key is (sender, runId).
    /// @param runId what `run` returned
    /// @param result the result in words
    function handleAgentResult(int256 runId, string memory result) external;
}
