// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.20;

/// @title Turns what a contract returned into words that an agent reads
/// @dev Not a view in the text; tools call it by STATICCALL, so an implementation can change nothing.
interface ToolResultConverter {
    /// @param result return data of the call
    function convertToString(bytes memory result) external returns (string memory);
}
