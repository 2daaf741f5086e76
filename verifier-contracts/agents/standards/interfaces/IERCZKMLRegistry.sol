// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

/// @title Model registry of ERC-7992 (draft)
/// @dev The text declares an event and an error that are both called ModelDeprecated, which Solidity refuses in one
/// interface. The error's selector is kept, in `IERCZKMLRegistryErrors`.
interface IERCZKMLRegistry {
    /// @param modelHash weights and architecture @param circuitHash circuit @param vkHash verification key
    /// @param proofSystemId first four bytes of keccak256 of the proof system's name @param uri may be empty
    struct ModelCommitment {
        bytes32 modelHash;
        bytes32 circuitHash;
        bytes32 vkHash;
        bytes4 proofSystemId;
        string uri;
    }

    event ModelRegistered(uint256 indexed modelId, address indexed owner, ModelCommitment commitment);
    event ModelUpdated(uint256 indexed modelId, ModelCommitment oldCommitment, ModelCommitment newCommitment);
    event ModelDeprecated(uint256 indexed modelId);

    error ModelNotFound(uint256 modelId);
    error NotModelOwner(uint256 modelId, address caller);

    function registerModel(ModelCommitment calldata commitment) external returns (uint256 modelId);
    function updateModel(uint256 modelId, ModelCommitment calldata newCommitment) external;
    function deprecateModel(uint256 modelId) external;
    function getModel(uint256 modelId)
        external
        view
        returns (ModelCommitment memory commitment, bool deprecated, address owner);
}

interface IERCZKMLRegistryErrors {
    error ModelDeprecated(uint256 modelId);
}
