// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {Claim, LANE_EXECUTION, LANE_PROOF, ModelId, Request, RequestId} from "../../types/Types.sol";
import {Finality, FinalityTerms} from "./Finality.sol";
import {IERCZKMLRegistry} from "./interfaces/IERCZKMLRegistry.sol";
import {IERCZKMLVerifier} from "./interfaces/IERCZKMLVerifier.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";

/// @title ERC-7992: inferences that are final in Assay
/// @notice The commitment to an input is a request's id: the hash of chain, Assay's address and the Request, which
/// names the input's hash and has a salt. The proof is abi.encode(Request, Claim), with a Claim of zeros after truth
/// without an agreeing claim. Two proof systems, by the listing: `assay-truth-v1` is executed or proven,
/// `assay-final-v1` any lane, a claim that stood through its window too: that one is not zero knowledge.
/// @dev Stateless but for its events; whoever must not use one inference twice keeps its commitment.
contract Erc7992Verifier is IERCZKMLVerifier, ERC165 {
    bytes4 public constant TRUTH = bytes4(keccak256("assay-truth-v1"));
    bytes4 public constant FINAL = bytes4(keccak256("assay-final-v1"));

    IAssay public immutable assay;
    IERCZKMLRegistry private immutable _REGISTRY;
    uint8 public immutable lanes;
    uint96 public immutable minBond;
    uint32 public immutable minWindow;

    /// @param terms of `assay-final-v1`
    constructor(IAssay assay_, IERCZKMLRegistry registry_, FinalityTerms memory terms) {
        (assay, _REGISTRY) = (assay_, registry_);
        (lanes, minBond, minWindow) = (terms.lanes, terms.minBond, terms.minWindow);
    }

    /// @inheritdoc IERCZKMLVerifier
    function verifyInference(
        uint256 modelId,
        bytes32 inputCommitment,
        bytes calldata output,
        bytes calldata proof
    ) external {
        (IERCZKMLRegistry.ModelCommitment memory commitment, bool deprecated,) = _REGISTRY.getModel(modelId);
        if (deprecated) revert VerificationRefused_ModelDeprecated(modelId);
        FinalityTerms memory terms = _termsOf(commitment.proofSystemId);
        (Request memory r, Claim memory c) = abi.decode(proof, (Request, Claim));
        if (RequestId.unwrap(assay.requestIdOf(r)) != inputCommitment) revert InputCommitmentMismatch();
        ModelId model = ModelId.wrap(commitment.modelHash);
        if (ModelId.unwrap(r.modelId) != commitment.modelHash) revert ModelMismatch();
        if (!Finality.isFinal(assay, model, r.inputHash, r, c, output, terms)) revert InvalidProof();
        emit InferenceVerified(modelId, inputCommitment, output, msg.sender);
    }

    /// @inheritdoc IERCZKMLVerifier
    function proofSystemOf(uint256 modelId) external view returns (bytes4) {
        (IERCZKMLRegistry.ModelCommitment memory commitment,,) = _REGISTRY.getModel(modelId);
        return commitment.proofSystemId;
    }

    /// @inheritdoc IERCZKMLVerifier
    function registry() external view returns (address) {
        return address(_REGISTRY);
    }

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IERCZKMLVerifier).interfaceId || super.supportsInterface(interfaceId);
    }

    function _termsOf(bytes4 proofSystemId) private view returns (FinalityTerms memory) {
        if (proofSystemId == TRUTH) return FinalityTerms(LANE_EXECUTION | LANE_PROOF, 0, 0);
        if (proofSystemId == FINAL) return FinalityTerms(lanes, minBond, minWindow);
        revert UnsupportedProofSystem(proofSystemId);
    }
}
