// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IProofLane} from "../../../verifier-contracts/interfaces/IProofLane.sol";
import {
    Claim,
    LANE_BOND,
    LANE_PROOF,
    ModelId,
    RequestId,
    Settlement,
    Truth
} from "../../../verifier-contracts/types/Types.sol";
import {Vm} from "../support/Vm.sol";
import {SettleFixture} from "./SettleFixture.sol";

/// @notice Batches of real proofs: all of them, or none.
contract SettleBatchTest is SettleFixture {
    function _settleBatch(Settlement[] memory batch) private {
        vm.prank(submitter);
        assay.settleBatch{gas: 30_000_000}(submitter, batch);
    }

    function _rejected(Settlement[] memory batch) private {
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.BatchRejected.selector, batch.length));
        _settleBatch(batch);
        for (uint256 i = 0; i < batch.length; ++i) {
            assertEq(uint8(assay.requestWord(assay.requestIdOf(batch[i].request))), 1, "not OPEN");
        }
        assertEq(assay.credits(submitter), 0);
    }

    function test_settleBatch_everySize_succeeds() public {
        for (uint256 count = 1; count <= COUNT; ++count) {
            uint256 snapshot = vm.snapshotState();
            Settlement[] memory batch = _batch(count);
            _settleBatch(batch);
            for (uint256 i = 0; i < count; ++i) {
                _isSettled(batch[i].request, outputs[i]);
            }
            assertEq(assay.credits(submitter), count * FEE);
            vm.revertToState(snapshot);
        }
    }

    /// @dev The same events and the same books as one by one; its submitter is credited once, last.
    function test_settleBatch_asSettle_succeeds() public {
        Settlement[] memory batch = _batch(3);
        batch[1].claim = _claim(batch[1].request, outputs[1]);
        batch[2].claim = _claim(batch[2].request, outputs[0]);
        uint256 snapshot = vm.snapshotState();
        vm.recordLogs();
        for (uint256 i = 0; i < 3; ++i) {
            Settlement memory s = batch[i];
            vm.prank(submitter);
            assay.settle(s.request, s.claim, LANE_PROOF, s.input, s.output, s.evidence);
        }
        (bytes32 logs, uint256 times, uint256 credited) = _readLogs();
        assertEq(times, 2);
        (uint256 own, uint256 provers) = (assay.credits(submitter), assay.credits(prover));
        vm.revertToState(snapshot);
        vm.recordLogs();
        _settleBatch(batch);
        (bytes32 batchLogs, uint256 batchTimes, uint256 batchCredited) = _readLogs();
        assertEq(batchLogs, logs);
        assertEq(batchTimes, 1);
        assertEq(batchCredited, credited);
        assertEq(assay.credits(submitter), own);
        assertEq(assay.credits(prover), provers);
        assertGt(own, 2 * FEE);
    }

    /// @return others hash of all events but the submitter's credits
    /// @return times he was credited
    /// @return amount that he was credited in all
    function _readLogs() private returns (bytes32 others, uint256 times, uint256 amount) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        bytes32 own = bytes32(uint256(uint160(submitter)));
        for (uint256 i = 0; i < logs.length; ++i) {
            Vm.Log memory entry = logs[i];
            if (entry.topics[0] == IAssay.Credited.selector && entry.topics[1] == own) {
                ++times;
                amount += abi.decode(entry.data, (uint256));
            } else {
                others = keccak256(abi.encode(others, entry));
            }
        }
    }

    function test_settleBatch_oneTampered_reverts() public {
        Settlement[] memory batch = _batch(4);
        for (uint256 i = 0; i < 4; ++i) {
            batch[i].evidence = proofs[7 - i];
            _rejected(batch);
            batch[i].evidence = _flipped(proofs[i], 8 * 100 + i);
            _rejected(batch);
            batch[i].evidence = "";
            _rejected(batch);
            batch[i].evidence = proofs[i];
            batch[i].output = outputs[7 - i];
            _rejected(batch);
            batch[i].output = outputs[i];
        }
        _settleBatch(batch);
    }

    /// @dev Errors of two proofs that would cancel in a sum without random coefficients: +D in one C, −D in the other
    /// by exchange of the C of two proofs.
    function test_settleBatch_exchangedPoints_reverts() public {
        Settlement[] memory batch = _batch(2);
        (bytes memory one, bytes memory two) = (proofs[0], proofs[1]);
        batch[0].evidence = _with(_with(one, 6, _word(two, 6)), 7, _word(two, 7));
        batch[1].evidence = _with(_with(two, 6, _word(one, 6)), 7, _word(one, 7));
        _rejected(batch);
    }

    /// @dev Both signals' sums stay the same when two outputs are exchanged with their proofs' places.
    function test_settleBatch_exchangedOutputs_reverts() public {
        Settlement[] memory batch = _batch(2);
        (batch[0].output, batch[1].output) = (outputs[1], outputs[0]);
        _rejected(batch);
    }

    function test_settleBatch_duplicate_reverts() public {
        Settlement[] memory batch = _batch(2);
        batch[1] = batch[0];
        RequestId id = assay.requestIdOf(batch[0].request);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, id, 3));
        _settleBatch(batch);
    }

    function test_settleBatch_settledBefore_reverts() public {
        Settlement[] memory batch = _batch(2);
        _settle(batch[0].request, _noClaim());
        RequestId id = assay.requestIdOf(batch[0].request);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, id, 3));
        _settleBatch(batch);
    }

    function test_settleBatch_mixedModels_reverts() public {
        Settlement[] memory batch = _batch(2);
        weightsRoot = keccak256("other weights");
        (ModelId twin, ModelId first) = (_register(vkHash), model);
        batch[1].request.modelId = twin;
        _file(batch[1].request, 1);
        vm.expectRevert(abi.encodeWithSelector(IProofLane.MixedModels.selector, twin, first));
        _settleBatch(batch);
    }

    function test_settleBatch_empty_reverts() public {
        vm.expectRevert(IProofLane.EmptyBatch.selector);
        _settleBatch(new Settlement[](0));
    }

    function test_settleBatch_anotherSender_reverts() public {
        Settlement[] memory batch = _batch(2);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotSubmitter.selector, other, submitter));
        vm.prank(other);
        assay.settleBatch(submitter, batch);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.BatchRejected.selector, 2));
        vm.prank(other);
        assay.settleBatch(other, batch);
    }

    function test_settleBatch_laneNotAllowed_reverts() public {
        Settlement[] memory batch = _batch(2);
        batch[1].request.lanes = LANE_BOND;
        _file(batch[1].request, 1);
        bytes4 why = IAssayErrors.LaneNotAllowed.selector;
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, LANE_BOND));
        _settleBatch(batch);
    }

    function test_settleBatch_halted_reverts() public {
        Settlement[] memory batch = _batch(2);
        Truth memory forged = Truth(LANE_PROOF, submitter, forgedOutput, forgedProof);
        assay.haltProof(model, inputs[0], Truth(LANE_PROOF, submitter, outputs[0], proofs[0]), forged);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ProofIsHalted.selector, model));
        _settleBatch(batch);
    }

    function test_settleBatch_wrongClaim_reverts() public {
        Settlement[] memory batch = _batch(2);
        Claim memory c = _claim(batch[0].request, outputs[0]);
        batch[0].claim = c;
        batch[0].claim.requestId = assay.requestIdOf(batch[1].request);
        RequestId required = assay.requestIdOf(batch[0].request);
        bytes4 why = IAssayErrors.WrongClaim.selector;
        vm.expectRevert(abi.encodeWithSelector(why, batch[0].claim.requestId, required));
        _settleBatch(batch);
    }

    function testFuzz_settleBatch_flippedBit_reverts(uint256 which, uint256 bit) public {
        Settlement[] memory batch = _batch(3);
        which = which % 3;
        batch[which].evidence = _flipped(proofs[which], bit % 2048);
        _rejected(batch);
    }
}
