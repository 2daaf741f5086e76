// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IProofLane} from "../../../verifier-contracts/interfaces/IProofLane.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {
    Claim,
    LANE_BOND,
    LANE_PROOF,
    ModelId,
    Request,
    RequestId,
    Truth
} from "../../../verifier-contracts/types/Types.sol";
import {PackedSettlements, Settlement} from "../support/PackedSettlements.sol";
import {Vm} from "../support/Vm.sol";
import {SettleFixture} from "./SettleFixture.sol";

/// @notice Batches of real proofs: all of them, or none.
contract SettleBatchTest is SettleFixture {
    function _settleBatch(Settlement[] memory batch) private {
        _settlePacked(PackedSettlements.pack(batch));
    }

    function _settlePacked(bytes[] memory packed) private {
        vm.prank(submitter);
        assay.settleBatch{gas: 30_000_000}(model, submitter, packed);
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
        ModelId twin = _register(vkHash);
        batch[1].request.salt = 2;
        Request memory asOthers = batch[1].request;
        RequestId never = assay.requestIdOf(asOthers);
        asOthers.modelId = twin;
        _file(asOthers, 1);
        // As a request of the batch's model it was never filed.
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, never, 0));
        _settleBatch(batch);
    }

    function test_settleBatch_empty_reverts() public {
        vm.expectRevert(IProofLane.EmptyBatch.selector);
        _settleBatch(new Settlement[](0));
    }

    function test_settleBatch_anotherSender_reverts() public {
        Settlement[] memory batch = _batch(2);
        bytes[] memory packed = PackedSettlements.pack(batch);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotSubmitter.selector, other, submitter));
        vm.prank(other);
        assay.settleBatch(model, submitter, packed);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.BatchRejected.selector, 2));
        vm.prank(other);
        assay.settleBatch(model, other, packed);
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
        bytes memory why = abi.encodeWithSelector(IAssayErrors.ProofIsHalted.selector, model);
        vm.expectRevert(why);
        _settleBatch(batch);
        // Before anything of the batch is read.
        vm.expectRevert(why);
        _settlePacked(new bytes[](1));
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

    function _parts(uint256 i) private returns (Settlement memory s, bytes memory order, bytes memory claim) {
        s = _batch(i + 1)[i];
        order = abi.encodePacked(requester, Orders.pack(s.request, s.input));
    }

    function _settleOne(bytes memory order, bytes memory claim, Settlement memory s) private {
        bytes[] memory packed = new bytes[](1);
        packed[0] = PackedSettlements.pack(order, claim, s.output, s.evidence);
        _settlePacked(packed);
    }

    function test_settleBatch_anotherRequester_reverts() public {
        (Settlement memory s, bytes memory order, bytes memory claim) = _parts(0);
        s.request.requester = alice;
        RequestId never = assay.requestIdOf(s.request);
        order = abi.encodePacked(alice, Orders.pack(s.request, s.input));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, never, 0));
        _settleOne(order, claim, s);
    }

    /// @dev An order is empty where there is no room for a requester.
    function test_settleBatch_shortOrder_reverts() public {
        (Settlement memory s,, bytes memory claim) = _parts(0);
        uint8[4] memory lengths = [0, 19, 20, 50];
        for (uint256 i = 0; i < lengths.length; ++i) {
            uint256 length = lengths[i];
            bytes memory order = new bytes(length);
            uint256 left = length < 20 ? 0 : length - 20;
            vm.expectRevert(abi.encodeWithSelector(IAssayErrors.OrderMalformed.selector, left, 31, 0));
            _settleOne(order, claim, s);
        }
    }

    /// @dev A part of zeros says what its absence says: the same request, its input further behind.
    function test_settleBatch_zeroParts_succeeds() public {
        (Settlement memory s,, bytes memory claim) = _parts(0);
        bytes memory plain = Orders.pack(s.request, s.input);
        for (uint8 parts = 0; parts < 8; ++parts) {
            uint256 snapshot = vm.snapshotState();
            uint256 size = 12 * (parts & 1) + 25 * (parts >> 1 & 1) + 36 * (parts >> 2);
            bytes memory head = new bytes(31);
            for (uint256 i = 1; i < 31; ++i) {
                head[i] = plain[i];
            }
            head[0] = bytes1(parts);
            _settleOne(bytes.concat(bytes20(requester), head, new bytes(size), s.input), claim, s);
            _isSettled(s.request, s.output);
            vm.revertToState(snapshot);
        }
    }

    /// @dev While the request is OPEN nobody reads the claim, whatever it is.
    function test_settleBatch_anyClaimOnOpen_succeeds() public {
        (Settlement memory s, bytes memory order,) = _parts(0);
        _settleOne(order, hex"0102", s);
        _isSettled(s.request, s.output);
    }

    function test_settleBatch_claimMissing_reverts() public {
        (Settlement memory s, bytes memory order, bytes memory claim) = _parts(0);
        Claim memory c = _claim(s.request, s.output);
        claim = abi.encode(c);
        bytes memory why = abi.encodeWithSelector(
            IAssayErrors.WrongClaim.selector, bytes32(0), assay.requestIdOf(s.request)
        );
        vm.expectRevert(why);
        _settleOne(order, "", s);
        vm.expectRevert(why);
        _settleOne(order, bytes.concat(claim, hex"00"), s);
        _settleOne(order, claim, s);
        assertTrue(assay.isFinal(assay.claimIdOf(c)));
    }

    function test_settleBatch_partBeyondEnd_reverts() public {
        (Settlement memory s, bytes memory order, bytes memory claim) = _parts(0);
        bytes[] memory packed = new bytes[](1);
        bytes memory whole = PackedSettlements.pack(order, claim, s.output, s.evidence);
        uint256 parts = whole.length - s.evidence.length;
        for (uint256 length = 0; length < parts; ++length) {
            packed[0] = new bytes(length);
            for (uint256 i = 0; i < length; ++i) {
                packed[0][i] = whole[i];
            }
            vm.expectRevert(abi.encodeWithSelector(IAssayErrors.SettlementMalformed.selector, length));
            _settlePacked(packed);
        }
    }

    /// @dev Books and proofs read the same calldata, each by itself. Whoever changes a byte of an offset, a length or an
    /// order settles what was proved, or nothing.
    function test_settleBatch_changedCalldata_succeeds() public {
        bytes[] memory packed = PackedSettlements.pack(_batch(2));
        bytes memory data = abi.encodeCall(assay.settleBatch, (model, submitter, packed));
        uint256 itemBytes = 32 + (packed[0].length + 31) / 32 * 32;
        // Three arguments, the number of items and their offsets; of each item its length, that of its order, the order
        // up to the first words of its input; what stands between input and output.
        uint256 items = 4 + 6 * 32;
        uint256 accepted = _change(data, 4, items);
        for (uint256 i = 0; i < 2; ++i) {
            uint256 start = items + i * itemBytes;
            accepted += _change(data, start, start + 32 + 3 + 51 + 68);
            uint256 output = start + 32 + 3 + 51 + inputs[i].length;
            accepted += _change(data, output, output + 12 + 64);
        }
        assertEq(accepted, 0, "a byte that does not count");
        assertTrue(_isAccepted(data), "unchanged");
        assertTrue(_isAccepted(bytes.concat(data, hex"01")), "bytes behind the arguments");
    }

    /// @return accepted changed bytes with which the batch settled all the same
    function _change(bytes memory data, uint256 from, uint256 to) private returns (uint256 accepted) {
        uint8[3] memory masks = [1, 32, 128];
        for (uint256 at = from; at < to; ++at) {
            for (uint256 i = 0; i < masks.length; ++i) {
                data[at] ^= bytes1(masks[i]);
                if (_isAccepted(data)) ++accepted;
                data[at] ^= bytes1(masks[i]);
            }
        }
    }

    /// @dev INVARIANT: what is accepted has settled the two requests with their right outputs, and nothing else.
    function _isAccepted(bytes memory data) private returns (bool accepted) {
        uint256 snapshot = vm.snapshotState();
        vm.prank(submitter);
        (accepted,) = address(assay).call{gas: 3_000_000}(data);
        if (accepted) {
            for (uint256 i = 0; i < 2; ++i) {
                _isSettled(_requestOf(i), outputs[i]);
            }
            assertEq(assay.credits(submitter), 2 * FEE);
        }
        vm.revertToState(snapshot);
    }

    /// forge-config: change.fuzz.runs = 1000
    function testFuzz_settleBatch_flippedBit_reverts(uint256 which, uint256 bit) public {
        Settlement[] memory batch = _batch(3);
        which = which % 3;
        batch[which].evidence = _flipped(proofs[which], bit % 2048);
        _rejected(batch);
    }
}
