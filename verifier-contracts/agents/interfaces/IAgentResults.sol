// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @title Final results of an agent by its calldata
/// @notice Where an AgentAdapter looks. A result that was final once stays so: it is never replaced for the same
/// question, unless the source says in its own terms that its results age.
interface IAgentResults {
    /// @param data calldata of the agent: selector, then ABI-encoded arguments
    /// @return isFinal whether there is a final result @return result ABI-encoded outputs, empty if there is none
    function resultOf(bytes calldata data) external view returns (bool isFinal, bytes memory result);

    /// @notice How anybody has the result made: by one call, which pays.
    /// @return target contract to call @return value wei to send with it @return request calldata to send
    function requestFor(bytes calldata data)
        external
        view
        returns (address target, uint256 value, bytes memory request);
}
