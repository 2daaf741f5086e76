// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {Claim, ModelId, Request} from "../../types/Types.sol";
import {Finality, FinalityTerms} from "./Finality.sol";
import {IProofVerifier} from "./interfaces/IProofVerifier.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";

/// @title ERC-8274: a claim as the proof of an inference
/// @notice Hashes are keccak256 of the model's calldata and of its return data. The proof is what a claim id hashes,
/// abi.encode(Request, Claim, output): an id alone does not say what was claimed. After truth without an agreeing claim
/// the Claim is all zeros. Metadata is abi.encode(ModelId, FinalityTerms).
/// @dev Holds nothing but where Assay is. True only after finality; false may become true. Bytes that do not decode
/// revert: nothing was asked.
contract Erc8274Verifier is IProofVerifier, ERC165 {
    IAssay public immutable assay;

    constructor(IAssay assay_) {
        assay = assay_;
    }

    /// @inheritdoc IProofVerifier
    function verify(bytes32 inputHash, bytes32 outputHash, bytes calldata metadata, bytes calldata proof)
        external
        view
        returns (bool)
    {
        (ModelId modelId, FinalityTerms memory terms) = abi.decode(metadata, (ModelId, FinalityTerms));
        (Request memory r, Claim memory c, bytes memory output) = abi.decode(proof, (Request, Claim, bytes));
        if (keccak256(output) != outputHash) return false;
        return Finality.isFinal(assay, modelId, inputHash, r, c, output, terms);
    }

    /// @inheritdoc IProofVerifier
    /// @dev The economic paradigm: the weakest of the lanes. Terms that leave BOND out are stronger.
    function proofSystem() public pure returns (string memory) {
        return "op/assay";
    }

    /// @inheritdoc IProofVerifier
    function proofProfile() external view returns (bytes32) {
        bytes32 salt = keccak256(abi.encode(block.chainid, assay));
        return keccak256(abi.encodePacked(proofSystem(), salt));
    }

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IProofVerifier).interfaceId || super.supportsInterface(interfaceId);
    }
}
