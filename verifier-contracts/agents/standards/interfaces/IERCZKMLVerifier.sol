// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

/// @title Inference verifier of ERC-7992 (draft)
interface IERCZKMLVerifier {
    event InferenceVerified(
        uint256 indexed modelId, bytes32 indexed inputCommitment, bytes output, address indexed caller
    );

    error InvalidProof();
    error ModelMismatch();
    error InputCommitmentMismatch();
    error OutputMismatch();
    error UnsupportedProofSystem(bytes4 proofSystemId);
    error VerificationRefused_ModelDeprecated(uint256 modelId);

    /// @notice Reverts unless the inference is proven.
    /// @param modelId of the registry @param inputCommitment commitment to the input
    /// @param output ABI-encoded outputs
    function verifyInference(
        uint256 modelId,
        bytes32 inputCommitment,
        bytes calldata output,
        bytes calldata proof
    ) external;

    function proofSystemOf(uint256 modelId) external view returns (bytes4);
    function registry() external view returns (address registryAddress);
}
