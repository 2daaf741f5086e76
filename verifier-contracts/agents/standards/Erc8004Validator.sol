// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {CLAIM_ACTIVE, CLAIM_FALLEN, CLAIM_NONE, ClaimWord} from "../../libraries/ClaimWord.sol";
import {Claim, ClaimId, LANE_BOND, Request, RequestId} from "../../types/Types.sol";
import {Finality, FinalityTerms} from "./Finality.sol";
import {IAgentIdentity} from "./interfaces/IAgentIdentity.sol";
import {IValidationRegistry} from "./interfaces/IValidationRegistry.sol";

/// @notice "This agent's claim, or the claim on this agent's request, says what this model returns."
/// @param identityRegistry and @param agentId name the agent; together with `chainid` its global identifier
/// @param salt any number: a hash that somebody else filed first is left behind by taking another one
struct Statement {
    uint256 chainid;
    address assay;
    address identityRegistry;
    uint256 agentId;
    uint256 salt;
    Request request;
    Claim claim;
    bytes output;
}

/// @title ERC-8004: a validator of claims
/// @notice An agent's owner asks the registry for a validation of a statement by this contract: requestHash is keccak256
/// of abi.encode(Statement), which is what its requestURI leads to. Anybody hands the statement in. Answers:
///   50 `soft`  the claim stands, bonded, and can still fall
///  100 `hard`  the output is final
///    0 `hard`  the claim fell
/// responseHash is the claim's id. A soft answer comes once and only first, a hard one once and nothing after it.
/// @dev Nobody has rights here, and nothing can be answered that the chain does not show. A claim that fails the terms
/// gets no answer, final or not: cheap finality is not worth a hundred.
///
/// A registry files a hash for whoever brings it first, for any agent of his. So the statement names its agent, and a
/// hash that is filed for another one gets no answer. Nor does a statement about what the agent had no part in: else
/// every final claim of the chain would be worth a hundred to every agent that copies it.
contract Erc8004Validator {
    enum Answer {
        NONE,
        SOFT,
        HARD
    }

    /// @notice Thrown when a statement was made for another chain or another Assay.
    error OtherAssay(uint256 chainid, address assay);
    /// @notice Thrown when a statement names an agent of another identity registry than the validation registry's.
    error OtherIdentityRegistry(address identityRegistry);
    /// @notice Thrown when the registry has this hash for another agent than the statement names.
    error OtherAgent(bytes32 requestHash, uint256 filedFor, uint256 agentId);
    /// @notice Thrown when the agent's owner and wallet made neither the claim nor the request.
    error NotOfAgent(ClaimId claimId, uint256 agentId);
    /// @notice Thrown when claim, request and output of a statement do not belong together.
    error StatementInconsistent(bytes32 requestHash);
    /// @notice Thrown when no such claim was made.
    error UnknownClaim(ClaimId claimId);
    /// @notice Thrown when the chain shows nothing beyond the answer that was given.
    error NothingNew(bytes32 requestHash, Answer answer);
    /// @notice Thrown when a claim is worth less than this validator's terms ask for.
    error TermsNotMet(ClaimId claimId);

    IAssay public immutable assay;
    IValidationRegistry public immutable validationRegistry;
    uint8 public immutable lanes;
    uint96 public immutable minBond;
    uint32 public immutable minWindow;

    mapping(bytes32 requestHash => Answer) public answerOf;

    constructor(IAssay assay_, IValidationRegistry registry, FinalityTerms memory terms) {
        (assay, validationRegistry) = (assay_, registry);
        (lanes, minBond, minWindow) = (terms.lanes, terms.minBond, terms.minWindow);
    }

    /// @notice Answers what the chain shows now, once it shows more than was answered.
    function respond(Statement calldata statement) external {
        Statement memory s = statement;
        bytes32 requestHash = keccak256(abi.encode(s));
        Answer before = answerOf[requestHash];
        if (before == Answer.HARD) revert NothingNew(requestHash, before);
        ClaimId claimId = _requireConsistent(s, requestHash);
        _requireFiledFor(s, requestHash);
        // Once it is answered the agent cannot be sold to escape the next answer.
        if (before == Answer.NONE) _requirePart(s, claimId);
        (uint8 response, Answer answer) = _judge(s, claimId);
        if (answer <= before) revert NothingNew(requestHash, before);
        answerOf[requestHash] = answer;
        validationRegistry.validationResponse(
            requestHash, response, "", ClaimId.unwrap(claimId), answer == Answer.HARD ? "hard" : "soft"
        );
    }

    function _requireConsistent(Statement memory s, bytes32 requestHash) private view returns (ClaimId) {
        if (s.chainid != block.chainid || s.assay != address(assay)) revert OtherAssay(s.chainid, s.assay);
        bool belongs = RequestId.unwrap(s.claim.requestId) == RequestId.unwrap(assay.requestIdOf(s.request));
        if (!belongs || s.claim.outputHash != keccak256(s.output)) revert StatementInconsistent(requestHash);
        return assay.claimIdOf(s.claim);
    }

    function _requireFiledFor(Statement memory s, bytes32 requestHash) private view {
        if (s.identityRegistry != validationRegistry.getIdentityRegistry()) {
            revert OtherIdentityRegistry(s.identityRegistry);
        }
        (, uint256 filedFor,,,,) = validationRegistry.getValidationStatus(requestHash);
        if (filedFor != s.agentId) revert OtherAgent(requestHash, filedFor, s.agentId);
    }

    /// @dev A wallet that was never set, or that a transfer cleared, is zero, and so is no prover and no requester.
    function _requirePart(Statement memory s, ClaimId claimId) private view {
        IAgentIdentity identity = IAgentIdentity(s.identityRegistry);
        address owner = identity.ownerOf(s.agentId);
        (address prover, address requester) = (s.claim.prover, s.request.requester);
        if (owner == prover || owner == requester) return;
        address wallet = identity.getAgentWallet(s.agentId);
        if (wallet != prover && wallet != requester) revert NotOfAgent(claimId, s.agentId);
    }

    function _judge(Statement memory s, ClaimId claimId) private view returns (uint8 response, Answer) {
        (Request memory r, Claim memory c) = (s.request, s.claim);
        uint8 status = ClaimWord.wrap(assay.claimWord(claimId)).status();
        if (status == CLAIM_NONE) revert UnknownClaim(claimId);
        if (status == CLAIM_FALLEN) return (0, Answer.HARD);
        FinalityTerms memory terms = FinalityTerms(lanes, minBond, minWindow);
        if (Finality.isFinal(assay, r.modelId, r.inputHash, r, c, s.output, terms)) {
            return (100, Answer.HARD);
        }
        bool counts = lanes & LANE_BOND != 0 && c.bond >= minBond && r.window >= minWindow;
        if (!counts || status != CLAIM_ACTIVE || assay.isFinal(claimId)) revert TermsNotMet(claimId);
        return (50, Answer.SOFT);
    }
}
