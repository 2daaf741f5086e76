// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

/// @title Inner layer of ERC-8274 (draft): is this proof valid for this input and output?
/// @dev ERC-165 id: type(IProofVerifier).interfaceId.
interface IProofVerifier {
    /// @param inputHash commitment to the input, by a scheme of the backend
    /// @param outputHash commitment to the output, by a scheme of the backend
    /// @param metadata what does not change from call to call
    /// @param proof evidence of this one inference
    function verify(bytes32 inputHash, bytes32 outputHash, bytes calldata metadata, bytes calldata proof)
        external
        returns (bool);

    /// @notice `paradigm/variant`
    function proofSystem() external view returns (string memory);

    /// @notice Tells this deployment from every other one.
    function proofProfile() external view returns (bytes32);
}
