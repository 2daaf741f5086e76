// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../interfaces/IModelRegistry.sol";
import {ModelId} from "../../types/Types.sol";
import {IERCZKMLRegistry, IERCZKMLRegistryErrors} from "./interfaces/IERCZKMLRegistry.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";

/// @title ERC-7992: listings of Assay's models
/// @notice Anybody lists a model under a number of his own and may deprecate that listing. What the number means never
/// changes: another commitment is another listing (the versioning policy that the text asks for), so `updateModel`
/// only says so. modelHash is the model's id in Assay, which commits to program, weights and key; there is no
/// circuit besides it, so circuitHash is zero.
contract Erc7992Registry is IERCZKMLRegistry, ERC165 {
    /// @notice Thrown when a model is not what Assay's registry knows under its id. @param vkHash the registry's
    error CommitmentWrong(bytes32 modelHash, bytes32 vkHash);
    /// @notice Thrown when somebody wants to change what a number means: list the model anew.
    error CommitmentFixed(uint256 modelId);

    struct Listing {
        ModelCommitment commitment;
        address owner;
        bool deprecated;
    }

    IModelRegistry public immutable models;
    uint256 private _count;
    mapping(uint256 modelId => Listing) private _listings;

    constructor(IModelRegistry models_) {
        models = models_;
    }

    /// @inheritdoc IERCZKMLRegistry
    /// @return modelId from 1
    function registerModel(ModelCommitment calldata commitment) external returns (uint256 modelId) {
        (, bytes32 keyHash,) = models.proofModelOf(ModelId.wrap(commitment.modelHash));
        if (commitment.vkHash != keyHash || commitment.circuitHash != 0) {
            revert CommitmentWrong(commitment.modelHash, keyHash);
        }
        modelId = ++_count;
        _listings[modelId] = Listing(commitment, msg.sender, false);
        emit ModelRegistered(modelId, msg.sender, commitment);
    }

    /// @inheritdoc IERCZKMLRegistry
    function updateModel(uint256 modelId, ModelCommitment calldata) external view {
        _requireOwner(modelId);
        revert CommitmentFixed(modelId);
    }

    /// @inheritdoc IERCZKMLRegistry
    function deprecateModel(uint256 modelId) external {
        Listing storage listing = _requireOwner(modelId);
        if (listing.deprecated) revert IERCZKMLRegistryErrors.ModelDeprecated(modelId);
        listing.deprecated = true;
        emit ModelDeprecated(modelId);
    }

    /// @inheritdoc IERCZKMLRegistry
    function getModel(uint256 modelId) external view returns (ModelCommitment memory, bool, address) {
        Listing storage listing = _listing(modelId);
        return (listing.commitment, listing.deprecated, listing.owner);
    }

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IERCZKMLRegistry).interfaceId || super.supportsInterface(interfaceId);
    }

    function _requireOwner(uint256 modelId) private view returns (Listing storage listing) {
        listing = _listing(modelId);
        if (listing.owner != msg.sender) revert NotModelOwner(modelId, msg.sender);
    }

    function _listing(uint256 modelId) private view returns (Listing storage listing) {
        listing = _listings[modelId];
        if (listing.owner == address(0)) revert ModelNotFound(modelId);
    }
}
