// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

type ModelId is bytes32;

type RequestId is bytes32;

type ClaimId is bytes32;

/// @notice What an agent asks for; its hash is the RequestId (docs/PROTOCOL.md, section 2).
/// @param fee wei to whoever makes the output final
/// @param deliveryFee wei to whoever delivers the callback
/// @param minBond least bond of a claim, wei
/// @param window seconds in which a claim can be challenged
/// @param expiry last second in which a claim may be made
/// @param salt tells apart what one requester asks twice
struct Request {
    address requester;
    ModelId modelId;
    bytes32 inputHash;
    uint8 lanes;
    uint96 fee;
    uint96 deliveryFee;
    uint96 minBond;
    uint32 window;
    uint40 expiry;
    address exclusiveProver;
    uint40 exclusiveUntil;
    address callback;
    uint32 callbackGas;
    uint64 salt;
}

/// @notice A prover's bonded statement; its hash is the ClaimId.
struct Claim {
    RequestId requestId;
    ModelId modelId;
    uint32 attempt;
    address prover;
    address operator;
    bytes32 outputHash;
    uint96 bond;
    uint96 ticketBond;
    uint64 gasPrice;
}

/// @notice Words of an aligned subtree and the siblings from it to the root, bottom up.
struct Opening {
    bytes32[] words;
    bytes32[] path;
}

/// @notice What a truth lane accepts: an output and why. A contradiction of two halts the PROOF lane.
/// @param submitter the account that the evidence is bound to
struct Truth {
    uint8 lane;
    address submitter;
    bytes output;
    bytes evidence;
}

/// @notice What a consumer demands of an output before it uses it.
struct Policy {
    ModelId modelId;
    bytes32 inputHash;
    uint8 lanes;
    uint96 minBond;
    uint32 minWindow;
}

uint8 constant LANE_EXECUTION = 1;
uint8 constant LANE_PROOF = 2;
uint8 constant LANE_BOND = 4;

/// @notice Why a claim fell.
enum Fall {
    NONE,
    TRACE_TIMEOUT,
    DEMAND_TIMEOUT,
    ELEMENT,
    CODEC,
    OUTPUT,
    TRUTH
}
