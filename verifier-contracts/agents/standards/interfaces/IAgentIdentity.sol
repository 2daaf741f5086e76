// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

/// @title Identity registry of ERC-8004, as far as a validator needs it
/// @dev An ERC-721 whose tokens are agents.
interface IAgentIdentity {
    /// @dev Reverts for an agent that does not exist.
    function ownerOf(uint256 agentId) external view returns (address owner);

    /// @return wallet which showed by its signature that it acts for the agent: the first owner at first, zero after a
    /// transfer until the new owner sets one
    function getAgentWallet(uint256 agentId) external view returns (address wallet);
}
