// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {CLAIM_ACTIVE, CLAIM_FALLEN, CLAIM_NONE, ClaimWord} from "../../libraries/ClaimWord.sol";
import {Claim, ClaimId, LANE_BOND, Request, RequestId} from "../../types/Types.sol";
import {Finality, FinalityTerms} from "./Finality.sol";
import {IValidationRegistry} from "./interfaces/IValidationRegistry.sol";

/// @title ERC-8004: a validator of claims
/// @notice An agent's owner asks the registry for a validation by this contract of a statement, "this claim of mine
/// says what this model returns": requestHash is keccak256 of abi.encode(chainid, Assay, Request, Claim, output), which
/// is what its requestURI leads to. Anybody hands the statement in. Answers:
///   50 `soft`  the claim stands, bonded, and can still fall
///  100 `hard`  the output is final
///    0 `hard`  the claim fell
/// responseHash is the claim's id. A soft answer comes once and only first, a hard one once and nothing after it.
/// @dev Nobody has rights here, and nothing can be answered that the chain does not show. A claim that fails the terms
/// gets no answer, final or not: cheap finality is not worth a hundred.
contract Erc8004Validator {
    enum Answer {
        NONE,
        SOFT,
        HARD
    }

    /// @notice Thrown when a statement was made for another chain or another Assay.
    error OtherAssay(uint256 chainid, address assay);
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
    /// @param statement abi.encode(uint256 chainid, address assay, Request, Claim, bytes output)
    function respond(bytes calldata statement) external {
        bytes32 requestHash = keccak256(statement);
        Answer before = answerOf[requestHash];
        if (before == Answer.HARD) revert NothingNew(requestHash, before);
        (ClaimId claimId, uint8 response, Answer answer) = _judge(statement, requestHash);
        if (answer <= before) revert NothingNew(requestHash, before);
        answerOf[requestHash] = answer;
        validationRegistry.validationResponse(
            requestHash, response, "", ClaimId.unwrap(claimId), answer == Answer.HARD ? "hard" : "soft"
        );
    }

    function _judge(bytes calldata statement, bytes32 requestHash)
        private
        view
        returns (ClaimId claimId, uint8 response, Answer)
    {
        (uint256 chainid, address madeFor, Request memory r, Claim memory c, bytes memory output) =
            abi.decode(statement, (uint256, address, Request, Claim, bytes));
        if (chainid != block.chainid || madeFor != address(assay)) revert OtherAssay(chainid, madeFor);
        bool belongs = RequestId.unwrap(c.requestId) == RequestId.unwrap(assay.requestIdOf(r));
        if (!belongs || c.outputHash != keccak256(output)) revert StatementInconsistent(requestHash);
        claimId = assay.claimIdOf(c);
        uint8 status = ClaimWord.wrap(assay.claimWord(claimId)).status();
        if (status == CLAIM_NONE) revert UnknownClaim(claimId);
        if (status == CLAIM_FALLEN) return (claimId, 0, Answer.HARD);
        FinalityTerms memory terms = FinalityTerms(lanes, minBond, minWindow);
        if (Finality.isFinal(assay, r.modelId, r.inputHash, r, c, output, terms)) {
            return (claimId, 100, Answer.HARD);
        }
        bool counts = lanes & LANE_BOND != 0 && c.bond >= minBond && r.window >= minWindow;
        if (!counts || status != CLAIM_ACTIVE || assay.isFinal(claimId)) revert TermsNotMet(claimId);
        return (claimId, 50, Answer.SOFT);
    }
}
