// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId, ModelId, RequestId} from "../types/Types.sol";

/// @notice Why Assay refuses a call. Each error carries the value and the limit that it broke.
/// The registry's, the trace reader's and the judge's errors pass through.
interface IAssayErrors {
    // Deployment

    /// @notice Thrown when a part of the system has no code.
    error NotAContract(address part);
    /// @notice Thrown when a constructor's number leaves its range.
    error ParameterOutOfRange(uint256 value, uint256 min, uint256 max);

    // Requests

    /// @notice Thrown when an order ends before its parts do, or names parts that are unknown (bits above 2).
    error OrderMalformed(uint256 length, uint256 required, uint256 parts);
    /// @notice Thrown when the parts of a packed settlement are longer than all of it.
    error SettlementMalformed(uint256 length);
    /// @notice Thrown when no such model is registered.
    error UnknownModel(ModelId modelId);
    /// @notice Thrown when a request names no lane, or one that the model lacks.
    error LanesInvalid(uint8 lanes, uint8 modelLanes);
    /// @notice Thrown when calldata is not the one encoding that the model's input codec takes.
    error InputNotCanonical();
    /// @notice Thrown when input is not what the request, or the policy, commits to.
    error InputHashMismatch(bytes32 inputHash, bytes32 required);
    /// @notice Thrown when the ether sent is not what the move costs.
    error ValueWrong(uint256 value, uint256 required);
    /// @notice Thrown when a request's window leaves the range of 4 answer times to 30 days.
    error WindowOutOfRange(uint256 window, uint256 min, uint256 max);
    /// @notice Thrown when a request expires at once, or too late.
    error ExpiryOutOfRange(uint256 expiry, uint256 min, uint256 max);
    /// @notice Thrown when a request keeps other provers out for too long.
    error ExclusiveTooLong(uint256 exclusiveUntil, uint256 max);
    /// @notice Thrown when a request pays for deliveries, or one is tried, and it names no callback.
    error CallbackMissing(uint256 deliveryFee);
    /// @notice Thrown when the same request was filed before: change its salt.
    error AlreadyRequested(RequestId requestId);
    /// @notice Thrown when a request has no open place for a claim, or nothing to refund. @param state 0 if unknown
    error RequestNotOpen(RequestId requestId, uint8 state);
    /// @notice Thrown when a request has no final output yet. @param state 0 if unknown
    error RequestNotDone(RequestId requestId, uint8 state);
    /// @notice Thrown when truth comes for a request that is unknown, refunded or final.
    error RequestSettled(RequestId requestId, uint8 state);
    /// @notice Thrown when a claim given with a request is another request's, or none.
    error WrongClaim(RequestId claimed, RequestId required);

    // Claims

    /// @notice Thrown when a claim comes after the request's last second.
    error RequestExpired(uint256 nowSeconds, uint256 expiry);
    /// @notice Thrown when a refund is asked for while claims may still come.
    error NotExpired(uint256 nowSeconds, uint256 expiry);
    /// @notice Thrown when another prover has the first right to claim.
    error NotExclusiveProver(address sender, address exclusiveProver, uint256 exclusiveUntil);
    /// @notice Thrown when an output has not the exact length of the model's return data.
    error OutputLengthWrong(uint256 length, uint256 required);
    /// @notice Thrown when a claim's gas price is not between the going price and its double.
    error GasPriceOutOfRange(uint256 gasPrice, uint256 min, uint256 max);
    /// @notice Thrown when a bond does not fit 96 bits; the request can only wait for its refund.
    error BondTooLarge(uint256 bond, uint256 max);

    // The game

    /// @notice Thrown when a claim is not under way. @param status 0 unknown, 2 final, 3 fallen
    error ClaimNotActive(ClaimId claimId, uint8 status);
    /// @notice Thrown when a claim can be finalized, so nothing else can happen to it.
    error ClaimIsFinal(ClaimId claimId, uint256 finalAt);
    /// @notice Thrown when a claim is not final yet. @param finalAt earliest second if nothing more happens
    /// @param pending answers that the prover owes
    error ClaimNotFinal(ClaimId claimId, uint8 status, uint256 finalAt, uint256 pending);
    /// @notice Thrown when a challenge comes after the window.
    error WindowEnded(uint256 nowSeconds, uint256 windowEnd);
    /// @notice Thrown when an account buys a second ticket of a claim.
    error AlreadyHolding(ClaimId claimId, address owner);
    /// @notice Thrown when an account without a ticket demands or collects.
    error TicketMissing(ClaimId claimId, address owner);
    /// @notice Thrown when a trace comes from neither the prover nor the operator named in the claim.
    error NotProver(address sender, address prover, address operator);
    /// @notice Thrown when a trace comes, or is timed out, before anybody asked for it.
    error NotChallenged(ClaimId claimId);
    /// @notice Thrown when a trace comes twice, or is timed out though it came.
    error TraceAlreadyCommitted(ClaimId claimId, bytes32 traceRoot);
    /// @notice Thrown when a move needs the trace and it is not there.
    error TraceMissing(ClaimId claimId);
    /// @notice Thrown when a trace's root is zero, which no trace's is.
    error EmptyTrace();
    /// @notice Thrown when an answer comes after its deadline.
    error DeadlinePassed(uint256 nowSeconds, uint256 deadline);
    /// @notice Thrown when a demand, or a reveal, is about another trace than the committed one.
    error TraceMismatch(bytes32 traceRoot, bytes32 required);
    /// @notice Thrown when a ticket has used all its demands.
    error QuotaUsed(uint256 limit);
    /// @notice Thrown when a position is outside the trace's shape.
    error PositionOutside(uint64 position);
    /// @notice Thrown when a position was demanded before, by anybody.
    error AlreadyDemanded(uint64 position, uint256 deadline);
    /// @notice Thrown when a demand comes too late for an answer and its judgement. @param last last second for it
    error DemandTooLate(uint256 nowSeconds, uint256 last);
    /// @notice Thrown when a position is revealed, or timed out, that nobody demanded.
    error NotDemanded(uint64 position);
    /// @notice Thrown when a position is revealed twice, or timed out though it was revealed.
    error AlreadyAnswered(uint64 position);
    /// @notice Thrown when a deadline has not passed.
    error DeadlineNotPassed(uint256 nowSeconds, uint256 deadline);
    /// @notice Thrown when a conviction finds what the claim says.
    error NoFault(uint256 expected);

    // Truth

    /// @notice Thrown when a lane is neither EXECUTION nor PROOF.
    error NotATruthLane(uint8 lane);
    /// @notice Thrown when a lane is not among those that are accepted.
    error LaneNotAllowed(uint8 lane, uint8 lanes);
    /// @notice Thrown when this deployment has no adapter for a lane.
    error LaneUnavailable(uint8 lane);
    /// @notice Thrown when proofs of a model have contradicted another truth.
    error ProofIsHalted(ModelId modelId);
    /// @notice Thrown when a lane's adapter does not confirm an output.
    error EvidenceRejected(uint8 lane, bytes32 outputHash);
    /// @notice Thrown when a batch of proofs is not settled by the account that they are bound to.
    error NotSubmitter(address sender, address submitter);
    /// @notice Thrown when at least one proof of a batch is wrong: verify them one by one off chain to find which.
    error BatchRejected(uint256 count);
    /// @notice Thrown when two truths that shall contradict each other agree.
    error NoContradiction(bytes32 outputHash);

    // Results and money

    /// @notice Thrown when a delivery has succeeded before, or its fee was reclaimed.
    error AlreadyDelivered(RequestId requestId);
    /// @notice Thrown when a delivery has too little gas to give the callback what the request promises it.
    error NotEnoughGas(uint256 gasLeft, uint256 required);
    /// @notice Thrown when a delivery fee is reclaimed and none was paid.
    error NothingToReclaim(RequestId requestId);
    /// @notice Thrown when a delivery fee is reclaimed before deliverers had their time.
    error NotYet(uint256 nowSeconds, uint256 first);
    /// @notice Thrown when an output is not the one that the claim, or the final result, commits to.
    error OutputMismatch(bytes32 outputHash, bytes32 required);
    /// @notice Thrown when a share is collected from a claim that did not fall.
    error ClaimNotFallen(ClaimId claimId, uint8 status);
    /// @notice Thrown when a ticket's bond and share were collected before.
    error AlreadyCollected(ClaimId claimId, address owner);
    /// @notice Thrown when an account has no credit, or nothing is left to burn.
    error NoCredit(address account);
    /// @notice Thrown when a receiver refuses its ether, or is the zero address.
    error TransferFailed(address to, uint256 amount);

    // Policy

    /// @notice Thrown when an output is of another model than the policy names.
    error WrongModel(ModelId modelId, ModelId required);
    /// @notice Thrown when an output was bonded with less than the policy demands.
    error BondTooSmall(uint256 bond, uint256 required);
    /// @notice Thrown when an output could be challenged for a shorter time than the policy demands.
    error WindowTooShort(uint256 window, uint256 required);
}
