// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {IProofLane} from "../interfaces/IProofLane.sol";
import {ITruth} from "../interfaces/ITruth.sol";
import {ClaimWord} from "../libraries/ClaimWord.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Order, Orders} from "../libraries/Orders.sol";
import {REQUEST_BUSY, REQUEST_DONE, REQUEST_OPEN, RequestWord} from "../libraries/RequestWord.sol";
import {Settlements} from "../libraries/Settlements.sol";
import {Terms} from "../libraries/Terms.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {
    Claim,
    ClaimId,
    Fall,
    LANE_BOND,
    LANE_EXECUTION,
    LANE_PROOF,
    ModelId,
    Policy,
    Request,
    RequestId,
    Truth
} from "../types/Types.sol";
import {AssayMoney} from "./AssayMoney.sol";

/// @notice How an output becomes final, by time or by truth, and the gate that agents read it through.
abstract contract AssayResults is AssayMoney {
    using Terms for Request;
    using Terms for Claim;
    uint256 private constant CLAIM_BYTES = 9 * 32;

    /// @inheritdoc IAssay
    function finalize(Request calldata r, Claim calldata c) external {
        RequestId requestId = r.idOf();
        _requireClaimOf(requestId, c);
        (ClaimId id, ClaimWord word) = _activeClaim(c);
        if (!word.isFinal(answerSeconds, block.timestamp)) _revertNotFinal(id, word);
        _finish(requestId, _requests[requestId], id, LANE_BOND, c.outputHash);
        _win(c, id, word, r.fee);
    }

    /// @inheritdoc IAssay
    function settle(
        Request calldata r,
        Claim calldata c,
        uint8 lane,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence
    ) external {
        _credit(msg.sender, _settleRequest(r, c, lane, keccak256(input), output));
        // Last, so that a lost race costs no verification: what is booked is undone unless it is true.
        _requireTrue(r.modelId, lane, input, output, evidence, msg.sender);
    }

    /// @inheritdoc IAssay
    function settleBatch(ModelId modelId, address submitter, bytes[] calldata batch) external {
        if (submitter != msg.sender) revert NotSubmitter(msg.sender, submitter);
        _requireNotHalted(modelId);
        uint256 reward = 0;
        // SAFETY: no more items than bytes of calldata, and rewards of ether that exists.
        unchecked {
            for (uint256 i = 0; i < batch.length; ++i) {
                reward += _settleFiled(modelId, batch[i]);
            }
        }
        _credit(submitter, reward);
        // As in `settle`. The adapter sees the same arguments.
        if (!_areTrue()) revert BatchRejected(batch.length);
    }

    /// @inheritdoc IAssay
    function haltProof(ModelId modelId, bytes calldata input, Truth calldata proof, Truth calldata other)
        external
    {
        ModelWord model = _modelWord(modelId);
        _requireNotHalted(modelId);
        _requireLane(proof.lane, LANE_PROOF);
        // A lane's answer counts only on input that a request can hold.
        if (!Inputs.isCanonical(model, input)) revert InputNotCanonical();
        bytes32 outputHash = keccak256(proof.output);
        if (outputHash == keccak256(other.output)) revert NoContradiction(outputHash);
        _requireTruth(modelId, model.lanes(), input, proof);
        _requireTruth(modelId, model.lanes(), input, other);
        _proofHalted[modelId] = true;
        emit ProofHalted(modelId);
    }

    /// @inheritdoc IAssay
    function requireFinal(Request calldata r, Claim calldata c, bytes calldata output, Policy calldata p)
        external
        view
    {
        if (ModelId.unwrap(r.modelId) != ModelId.unwrap(p.modelId)) revert WrongModel(r.modelId, p.modelId);
        if (r.inputHash != p.inputHash) revert InputHashMismatch(r.inputHash, p.inputHash);
        RequestId requestId = r.idOf();
        RequestWord word = _requests[requestId];
        uint8 lane = word.lane();
        if (word.state() == REQUEST_BUSY) {
            // Final is what nothing can change any more, whether or not somebody has booked it.
            _requireFinalClaim(requestId, c);
            _requireOutput(output, c.outputHash);
            lane = LANE_BOND;
        } else {
            _requireResult(requestId, word, c, output);
        }
        _requireLane(lane, p.lanes);
        if (lane == LANE_BOND) {
            if (c.bond < p.minBond) revert BondTooSmall(c.bond, p.minBond);
            if (r.window < p.minWindow) revert WindowTooShort(r.window, p.minWindow);
        }
    }

    /// @dev Passes if `output` is the final one of a request that is DONE.
    function _requireResult(RequestId requestId, RequestWord word, Claim calldata c, bytes calldata output)
        internal
        view
    {
        if (word.state() != REQUEST_DONE) revert RequestNotDone(requestId, word.state());
        bytes32 result = _results[requestId];
        if (result == 0) {
            _requireFinalClaim(requestId, c);
            result = c.outputHash;
        }
        _requireOutput(output, result);
    }

    function _requireFinalClaim(RequestId requestId, Claim calldata c) private view {
        _requireClaimOf(requestId, c);
        ClaimId id = c.idOf();
        ClaimWord word = _claims[id];
        if (!word.isFinal(answerSeconds, block.timestamp)) _revertNotFinal(id, word);
    }

    function _revertNotFinal(ClaimId id, ClaimWord word) private view {
        revert ClaimNotFinal(id, word.status(), word.finalAt(answerSeconds), word.pending());
    }

    /// @return reward of the sender
    function _settleRequest(
        Request calldata r,
        Claim calldata c,
        uint8 lane,
        bytes32 inputHash,
        bytes calldata output
    ) private returns (uint256 reward) {
        RequestId requestId = r.idOf();
        RequestWord word = _requireUnsettled(requestId, r.lanes, lane, output.length);
        if (lane == LANE_PROOF) _requireNotHalted(r.modelId);
        if (inputHash != r.inputHash) revert InputHashMismatch(inputHash, r.inputHash);
        return _settle(requestId, word, c, lane, r.fee, output);
    }

    /// @dev One settlement of a batch. @return reward of the sender
    function _settleFiled(ModelId modelId, bytes calldata settlement) private returns (uint256 reward) {
        (bytes calldata order, bytes calldata claim, bytes calldata output,) = Settlements.read(settlement);
        Order o = Orders.readFiled(modelId, order);
        // INVARIANT: a request that was not filed as it stands here, input included, has another id, and no word.
        RequestId requestId = o.id();
        Claim calldata c;
        // What is missing reads as zeros: it is behind the end of calldata.
        assembly ("memory-safe") {
            c := calldatasize()
            if eq(claim.length, CLAIM_BYTES) { c := claim.offset }
        }
        RequestWord word = _requireUnsettled(requestId, uint8(o.lanes()), LANE_PROOF, output.length);
        reward = _settle(requestId, word, c, LANE_PROOF, o.fee(), output);
        o.release();
    }

    /// @dev Books an output as true; whoever calls this makes sure that it is.
    /// While the request is OPEN no claim is read: one that fell a moment ago does not stop truth.
    /// @param word of a request that is not settled @return reward of the sender
    function _settle(
        RequestId requestId,
        RequestWord word,
        Claim calldata c,
        uint8 lane,
        uint256 fee,
        bytes calldata output
    ) private returns (uint256 reward) {
        bytes32 outputHash = _logSettled(requestId, lane, output);
        reward = fee;
        if (word.state() == REQUEST_BUSY) {
            _requireClaimOf(requestId, c);
            (ClaimId id, ClaimWord claimed) = _openClaim(c);
            if (c.outputHash == outputHash) {
                _finish(requestId, word, id, lane, outputHash);
                _win(c, id, claimed, reward);
                return 0;
            }
            emit Fell(id, requestId, Fall.TRUTH, 0, 0, uint256(outputHash), uint256(c.outputHash));
            reward += _lose(c, id, claimed, Fall.TRUTH);
        }
        _results[requestId] = outputHash;
        _finish(requestId, word, ClaimId.wrap(0), lane, outputHash);
    }

    /// @dev emit Settled(requestId, msg.sender, lane, output), and the hash of what was copied for it.
    function _logSettled(RequestId requestId, uint8 lane, bytes calldata output)
        private
        returns (bytes32 outputHash)
    {
        bytes32 topic = Settled.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            let content := add(data, 0x60)
            mstore(data, lane)
            mstore(add(data, 0x20), 0x40)
            mstore(add(data, 0x40), output.length)
            calldatacopy(content, output.offset, output.length)
            mstore(add(content, output.length), 0)
            outputHash := keccak256(content, output.length)
            log3(data, and(add(output.length, 0x7f), not(31)), topic, requestId, caller())
        }
    }

    /// @dev INVARIANT: a request's lanes are among its model's, and its output length is; `request` took both.
    /// @return word of the request, which is OPEN or BUSY
    function _requireUnsettled(RequestId requestId, uint8 lanes, uint8 lane, uint256 length)
        private
        view
        returns (RequestWord word)
    {
        word = _requests[requestId];
        uint8 state = word.state();
        if (state != REQUEST_BUSY && state != REQUEST_OPEN) revert RequestSettled(requestId, state);
        _requireLane(lane, lanes);
        if (length != word.outputLength()) revert OutputLengthWrong(length, word.outputLength());
    }

    function _requireNotHalted(ModelId modelId) private view {
        if (_proofHalted[modelId]) revert ProofIsHalted(modelId);
    }

    /// @param word of the request
    function _finish(RequestId requestId, RequestWord word, ClaimId id, uint8 lane, bytes32 outputHash)
        private
    {
        _requests[requestId] = word.done(lane, block.timestamp);
        emit Finalized(requestId, id, lane, outputHash);
    }

    function _requireTruth(ModelId modelId, uint8 lanes, bytes calldata input, Truth calldata t)
        private
        view
    {
        _requireLane(t.lane, lanes);
        _requireTrue(modelId, t.lane, input, t.output, t.evidence, t.submitter);
    }

    function _requireTrue(
        ModelId modelId,
        uint8 lane,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence,
        address submitter
    ) private view {
        if (lane != LANE_EXECUTION && lane != LANE_PROOF) revert NotATruthLane(lane);
        ITruth adapter = lane == LANE_EXECUTION ? executionAdapter : proofAdapter;
        if (address(adapter) == address(0)) revert LaneUnavailable(lane);
        if (!adapter.isTrue(modelId, input, output, evidence, submitter)) {
            revert EvidenceRejected(lane, keccak256(output));
        }
    }

    /// @dev Asks the PROOF adapter about this call's own arguments: areTrue takes the same ones.
    function _areTrue() private view returns (bool answer) {
        address adapter = address(proofAdapter);
        uint256 selector = uint32(IProofLane.areTrue.selector);
        assembly ("memory-safe") {
            // The selector's four bytes end a word; the arguments follow.
            let free := mload(0x40)
            mstore(free, selector)
            calldatacopy(add(free, 0x20), 4, sub(calldatasize(), 4))
            let success := staticcall(gas(), adapter, add(free, 0x1c), calldatasize(), 0, 0x20)
            if iszero(success) {
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
            // An adapter that is not there answers nothing.
            answer := and(gt(returndatasize(), 0x1f), eq(mload(0), 1))
        }
    }
}
