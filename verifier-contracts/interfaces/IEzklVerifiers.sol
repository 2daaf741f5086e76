// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

interface IEzklVerifiers {
    /// @notice Thrown when init code reverts, leaves no code or runs out of gas: send more, about 220 a byte.
    error VerifierNotCreated(uint256 length);

    /// @notice Creates a contract; the same init code gives the same address, and creating it twice is harmless.
    function create(bytes memory initCode) external returns (address verifier);

    /// @notice Where `create` puts the contract of this init code, whether or not it is there.
    function addressOf(bytes32 initCodeHash) external view returns (address);
}
