// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {IJudge} from "../interfaces/IJudge.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {ITraceReader} from "../interfaces/ITraceReader.sol";
import {ITruth} from "../interfaces/ITruth.sol";
import {CLAIM_ACTIVE, ClaimWord} from "../libraries/ClaimWord.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {REQUEST_PUBLIC, RequestWord} from "../libraries/RequestWord.sol";
import {Terms} from "../libraries/Terms.sol";
import {DemandWord, TicketWord} from "../libraries/TicketWord.sol";
import {Claim, ClaimId, ModelId, Request, RequestId} from "../types/Types.sol";

/// @notice Storage, constants and plain views. Nobody owns this contract, and no constant can change.
abstract contract AssayState is IAssay {
    using Terms for Request;
    using Terms for Claim;

    IModelRegistry public immutable registry;
    IJudge public immutable judge;
    ITraceReader public immutable traceReader;
    ITruth public immutable executionAdapter;
    ITruth public immutable proofAdapter;
    address public immutable courier;
    uint40 public immutable answerSeconds;
    uint64 public immutable gasPriceFloor;
    uint64 public immutable gasBase;
    uint64 public immutable gasPerDemand;

    mapping(RequestId => RequestWord) internal _requests;
    mapping(ClaimId => ClaimWord) internal _claims;
    mapping(ClaimId => bytes32) internal _traceRoots;
    mapping(ClaimId => mapping(address owner => TicketWord)) internal _tickets;
    mapping(ClaimId => mapping(uint64 position => DemandWord)) internal _demands;
    /// @dev Only where truth settled a request without a claim that agreed.
    mapping(RequestId => bytes32) internal _results;
    mapping(ModelId => bool) internal _proofHalted;
    /// @dev Copies of the registry's; a model that has a request has one.
    mapping(ModelId => ModelWord) internal _modelWords;

    /// @inheritdoc IAssay
    function requestIdOf(Request calldata r) external view returns (RequestId) {
        return r.idOf();
    }

    /// @inheritdoc IAssay
    function claimIdOf(Claim calldata c) external view returns (ClaimId) {
        return c.idOf();
    }

    /// @inheritdoc IAssay
    function requestWord(RequestId id) external view returns (uint256) {
        return RequestWord.unwrap(_requests[id]) & REQUEST_PUBLIC;
    }

    /// @inheritdoc IAssay
    function claimWord(ClaimId id) external view returns (uint256) {
        return ClaimWord.unwrap(_claims[id]);
    }

    /// @inheritdoc IAssay
    function traceRootOf(ClaimId id) external view returns (bytes32) {
        return _traceRoots[id];
    }

    /// @inheritdoc IAssay
    function ticketOf(ClaimId id, address owner)
        external
        view
        returns (bool held, uint8 demands, bool collected)
    {
        TicketWord ticket = _tickets[id][owner];
        return (ticket.isHeld(), ticket.demands(), ticket.isCollected());
    }

    /// @inheritdoc IAssay
    function demandOf(ClaimId id, uint64 position) external view returns (uint40 deadline, bool answered) {
        DemandWord word = _demands[id][position];
        return (word.deadline(), word.isAnswered());
    }

    /// @inheritdoc IAssay
    function isFinal(ClaimId id) external view returns (bool) {
        return _claims[id].isFinal(answerSeconds, block.timestamp);
    }

    /// @inheritdoc IAssay
    function resultOf(RequestId id) external view returns (bytes32) {
        return _results[id];
    }

    /// @inheritdoc IAssay
    function isProofHalted(ModelId modelId) external view returns (bool) {
        return _proofHalted[modelId];
    }

    /// @dev A claim that moves can still change.
    function _openClaim(Claim calldata c) internal view returns (ClaimId id, ClaimWord word) {
        (id, word) = _activeClaim(c);
        // INVARIANT: from finalAt on nothing changes the outcome, booked or not.
        if (word.isFinal(answerSeconds, block.timestamp)) {
            revert ClaimIsFinal(id, word.finalAt(answerSeconds));
        }
    }

    /// @dev A registered model never changes, so its word is copied once: later requests save a call.
    function _modelWord(ModelId modelId) internal returns (ModelWord word) {
        word = _modelWords[modelId];
        if (!word.isNone()) return word;
        word = ModelWord.wrap(registry.modelWord(modelId));
        if (word.isNone()) revert UnknownModel(modelId);
        _modelWords[modelId] = word;
    }

    function _activeClaim(Claim calldata c) internal view returns (ClaimId id, ClaimWord word) {
        id = c.idOf();
        word = _claims[id];
        if (word.status() != CLAIM_ACTIVE) revert ClaimNotActive(id, word.status());
    }

    function _requireLane(uint8 lane, uint8 lanes) internal pure {
        if (lanes & lane == 0) revert LaneNotAllowed(lane, lanes);
    }

    /// @dev INVARIANT: a request's claim may only act on, or be paid from, that request.
    function _requireOutput(bytes calldata output, bytes32 required) internal pure {
        if (keccak256(output) != required) revert OutputMismatch(keccak256(output), required);
    }

    function _requireClaimOf(RequestId required, Claim calldata c) internal pure {
        if (RequestId.unwrap(c.requestId) != RequestId.unwrap(required)) {
            revert WrongClaim(c.requestId, required);
        }
    }
}
