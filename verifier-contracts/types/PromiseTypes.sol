// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "./Types.sol";

type BatchId is bytes32;

/// @notice What a prover signs off chain (EIP-712): the answer to an input, backed by its stake.
/// @param requester who asked; no rule reads it
/// @param issuedAt and @param expiry seconds since 1970; it ends at expiry, and at most a day after it was issued
/// @param minBond least bond of its claim, wei, as far as the stake goes
/// @param salt tells apart what one prover says twice
struct SignedClaim {
    address prover;
    ModelId modelId;
    bytes32 inputHash;
    bytes32 outputHash;
    address requester;
    uint40 issuedAt;
    uint40 expiry;
    uint96 minBond;
    uint64 salt;
}

/// @notice Many claims whose data were posted at once; its hash is the BatchId.
/// @param window seconds in which leaves can be opened
/// @param count leaves, 1 to 1,024
struct Batch {
    address prover;
    ModelId modelId;
    uint32 window;
    uint16 count;
    bytes32 root;
}

enum PromiseStatus {
    NONE,
    QUEUED,
    OPEN,
    CLOSED
}

/// @notice A prover's stake and its queue of signed claims. Amounts are in wei.
/// @param free backs promises @param leaving backs them too, and can be taken out from `exitAt` on
/// @param away bonds of claims in Assay @param slots bonds set apart for leaves of running batches
/// @param hotSince since when the head of the queue has been too dear with all stake at home, 0 if it was not
/// @param head and @param tail digests of the first and the last signed claim of the queue, 0 if it is empty
struct Account {
    uint96 free;
    uint96 leaving;
    uint40 exitAt;
    uint96 away;
    uint96 slots;
    uint40 hotSince;
    bytes32 head;
    bytes32 tail;
}

/// @notice What the chain knows of a signed claim.
/// @param shown true once it was opened in time
/// @param depth the model's d @param queuedAt second in which it joined the queue
/// @param opener who opened it, zero if nobody did @param deposit that he put down, wei, 0 once it was paid out
struct SignedState {
    PromiseStatus status;
    bool shown;
    uint8 depth;
    uint40 queuedAt;
    address opener;
    uint96 deposit;
    address prover;
}

/// @notice A batch's state.
/// @param windowEnd first second in which no leaf can be opened, 0 if there is no such batch
/// @param open leaves that are opened or queued @param idle slots that back no claim @param fallen true once a leaf fell
/// @param bond B of each slot, wei @param depth the model's d @param queueHead and @param queueTail positions in the
/// queue of leaves
struct BatchState {
    uint40 windowEnd;
    uint16 open;
    uint8 idle;
    bool fallen;
    uint96 bond;
    uint8 depth;
    uint16 queueHead;
    uint16 queueTail;
}

/// @notice A leaf that somebody opened. QUEUED while `hash` stands here, OPEN while the deposit does.
/// @param opener zero if nobody opened it @param deposit wei, 0 once it was paid out
struct LeafState {
    address opener;
    uint96 deposit;
    bytes32 hash;
}

/// @notice A claim in Assay that a promise became.
/// @param fromLeaving part of its bond that came from leaving stake, wei
/// @param origin digest of the signed claim, or id of the batch
/// @param leaf index of the leaf @param isLeaf true for one of a batch @param slot true if a slot gave its B
struct Filing {
    address prover;
    uint96 fromLeaving;
    bytes32 origin;
    uint16 leaf;
    bool isLeaf;
    bool slot;
}
