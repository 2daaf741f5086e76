// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {BatchId, PromiseStatus} from "../types/PromiseTypes.sol";
import {ClaimId} from "../types/Types.sol";

/// @notice Why Promises refuses a call. Each error carries the value and the limit that it broke. Assay's errors, with
/// their meaning there, are used and pass through too.
interface IPromisesErrors {
    // Stake

    /// @notice Thrown when an amount of ether does not fit into 96 bits.
    error AmountTooLarge(uint256 amount, uint256 max);
    /// @notice Thrown when more stake is to leave than is free.
    error ExitTooLarge(uint256 amount, uint256 free);
    /// @notice Thrown when announced stake is taken out too early.
    error ExitTooEarly(uint256 nowSeconds, uint256 exitAt);
    /// @notice Thrown when stake would leave, or be set apart, while a signed claim waits for it.
    error QueueNotEmpty(address prover, bytes32 head);
    /// @notice Thrown when stake does not reach for a bond.
    error StakeTooLow(uint256 stake, uint256 required);
    /// @notice Thrown when the ether sent is less than the move's deposit.
    error DepositTooLow(uint256 value, uint256 required);
    /// @notice Thrown when ether comes from elsewhere than Assay.
    error NotAssay(address sender);

    // Keys and signatures

    /// @notice Thrown when a key of zero, which any bad signature recovers to, is to be bound.
    error SignerIsZero();
    /// @notice Thrown when a key is unbound so soon that a promise of now may not be read in time.
    error SignerNoticeTooShort(uint256 until, uint256 min);
    /// @notice Thrown when a signature is not r, s and v.
    error SignatureLengthWrong(uint256 length, uint256 required);
    /// @notice Thrown when s is in the upper half, where every signature has a twin.
    error SignatureMalleable(bytes32 s, bytes32 max);
    /// @notice Thrown when no key gives this signature; v is 27 or 28.
    error SignatureInvalid(uint8 v);
    /// @notice Thrown when a promise was issued after the last second in which its key binds the prover.
    error SignerNotBound(address key, address prover, uint256 until, uint256 issuedAt);

    // Signed claims

    /// @notice Thrown when a signed claim is opened that waits, is open or has ended.
    error AlreadyOpened(bytes32 digest, PromiseStatus status);
    /// @notice Thrown when a signed claim is opened before it was issued.
    error NotYetIssued(uint256 nowSeconds, uint256 issuedAt);
    /// @notice Thrown when a signed claim is shown too late.
    error PromiseExpired(uint256 nowSeconds, uint256 end);
    /// @notice Thrown when another signed claim is the first of its queue. @param head 0 if the queue is empty
    error NotHead(bytes32 digest, bytes32 head);
    /// @notice Thrown when the head of an empty queue is passed.
    error QueueEmpty(address prover);
    /// @notice Thrown when the head is passed while stake may still come home.
    error StakeNotHome(uint256 away, uint256 slots);
    /// @notice Thrown when a signed claim is passed or taken back although the stake reaches for it.
    error HeadAffordable(uint256 bond, uint256 stake);
    /// @notice Thrown when the head is passed before it was too dear for long enough.
    error TooSoon(uint256 nowSeconds, uint256 min);
    /// @notice Thrown when the head is passed in favour of what is no entry of its queue.
    error BehindNotQueued(bytes32 digest, address prover);
    /// @notice Thrown when the head is passed in favour of an entry that is too dear too.
    error BehindTooDear(uint256 bond, uint256 stake);
    /// @notice Thrown when somebody else than its opener takes a signed claim back.
    error NotOpener(address sender, address opener);
    /// @notice Thrown when a signed claim is taken back that does not wait.
    error NotQueued(bytes32 digest, PromiseStatus status);
    /// @notice Thrown when a claim is not a promise's, or is closed.
    error NotOpen(ClaimId claimId);

    // Batches

    /// @notice Thrown when a batch has no leaf or too many.
    error CountOutOfRange(uint256 count, uint256 min, uint256 max);
    /// @notice Thrown when a leaf has another length than its model's codecs say, or a text a longer one.
    /// @param index of the leaf in its batch
    error LeafLengthWrong(uint256 index, uint256 length, uint256 required);
    /// @notice Thrown when the same batch was posted before.
    error AlreadyPosted(BatchId batchId);
    /// @notice Thrown when no such batch was posted.
    error UnknownBatch(BatchId batchId);
    /// @notice Thrown when a batch has no leaf of this index.
    error LeafOutside(uint256 index, uint256 count);
    /// @notice Thrown when a path has not one sibling for each level of the tree.
    error PathLengthWrong(uint256 length, uint256 required);
    /// @notice Thrown when payload and path do not fold to the batch's root.
    error RootMismatch(bytes32 folded, bytes32 root);
    /// @notice Thrown when payload is another leaf's than the first that waits.
    error LeafNotFirst(bytes32 leaf, bytes32 first);
    /// @notice Thrown when a leaf is opened twice.
    error LeafAlreadyOpened(BatchId batchId, uint256 index);
    /// @notice Thrown when no leaf of the batch waits for stake.
    error NoLeafQueued(BatchId batchId);
    /// @notice Thrown when a leaf is dropped, although the batch has not fallen.
    error BatchNotFallen(BatchId batchId);
    /// @notice Thrown when a batch is read that is not final. @param open leaves whose end it waits for
    error BatchNotFinal(BatchId batchId, uint256 windowEnd, uint256 open, bool fallen);
    /// @notice Thrown when slots of a batch are released that is neither final nor fallen.
    error BatchNotEnded(BatchId batchId, uint256 windowEnd, uint256 open);
}
