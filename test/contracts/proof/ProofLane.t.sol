// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {IProofLane} from "../../../verifier-contracts/interfaces/IProofLane.sol";
import {COORDINATES} from "../../../verifier-contracts/libraries/Coordinate.sol";
import {ProofLane} from "../../../verifier-contracts/proof/ProofLane.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProofFixture} from "./ProofFixture.sol";

/// @notice One proof: what is accepted, and every way to bend it.
/// @dev Proof, input and output have some thousand bits, and each run is a pairing: 10,000 runs would say no more.
contract ProofLaneTest is ProofFixture {
    function test_isTrue_rightProofs_succeeds() public view {
        for (uint256 i = 0; i < COUNT; ++i) {
            assertTrue(lane.isTrue(model, inputs[i], outputs[i], proofs[i], submitter));
        }
        assertTrue(lane.isTrue(model, inputs[0], outputs[0], otherProof, other));
    }

    /// forge-config: change.fuzz.runs = 2000
    function testFuzz_isTrue_flippedProof_succeeds(uint256 bit) public view {
        assertFalse(_isTrue(outputs[0], _flipped(proofs[0], bit % (8 * 256))));
    }

    /// forge-config: change.fuzz.runs = 2000
    function testFuzz_isTrue_flippedInput_succeeds(uint256 bit) public view {
        bytes memory input = _flipped(inputs[0], bit % (8 * inputs[0].length));
        assertFalse(lane.isTrue(model, input, outputs[0], proofs[0], submitter));
    }

    /// forge-config: change.fuzz.runs = 2000
    function testFuzz_isTrue_flippedOutput_succeeds(uint256 bit) public view {
        assertFalse(_isTrue(_flipped(outputs[0], bit % (8 * outputs[0].length)), proofs[0]));
    }

    /// @dev A key with one flipped bit has another hash, so it is another model's; its signals are the same but for
    /// the binding. The origin, which is no point, changes the binding alone.
    /// forge-config: change.fuzz.runs = 2000
    function testFuzz_isTrue_flippedKey_succeeds(uint256 bit) public {
        bytes memory flipped = _flipped(key, 8 + bit % (8 * (key.length - 1)));
        ModelId twin = _registerKey(flipped);
        assertFalse(lane.isTrue{gas: GAS}(twin, inputs[0], outputs[0], proofs[0], submitter));
    }

    /// @dev The same key with a model of other weights: only the binding differs.
    function test_isTrue_anotherModel_succeeds() public {
        weightsRoot = keccak256("other weights");
        ModelId twin = _registerKey(key);
        assertEq(lane.keyOf(twin), lane.keyOf(model), "one data contract");
        assertFalse(lane.isTrue(twin, inputs[0], outputs[0], proofs[0], submitter));
    }

    /// forge-config: change.fuzz.runs = 2000
    function testFuzz_isTrue_anotherSubmitter_succeeds(address thief) public view {
        vm.assume(thief != submitter);
        assertFalse(lane.isTrue(model, inputs[0], outputs[0], proofs[0], thief));
    }

    function test_isTrue_anotherChain_succeeds() public {
        assertTrue(_isTrue(outputs[0], proofs[0]));
        vm.chainId(1);
        assertFalse(_isTrue(outputs[0], proofs[0]));
    }

    function test_isTrue_anotherContract_succeeds() public {
        ProofLane twin = new ProofLane(registry);
        twin.storeKey(model, key);
        assertFalse(twin.isTrue(model, inputs[0], outputs[0], proofs[0], submitter));
    }

    function test_isTrue_anotherRequest_succeeds() public view {
        assertFalse(lane.isTrue(model, inputs[1], outputs[1], proofs[0], submitter));
        assertFalse(lane.isTrue(model, inputs[1], outputs[0], proofs[0], submitter));
    }

    /// @dev −A and −B make the same product. It states the same, for the same submitter: nothing is gained by it.
    function test_isTrue_negatedPoints_succeeds() public view {
        bytes memory malleated = _with(proofs[0], 1, COORDINATES - _word(proofs[0], 1));
        assertFalse(_isTrue(outputs[0], malleated));
        malleated = _with(malleated, 4, COORDINATES - _word(proofs[0], 4));
        malleated = _with(malleated, 5, COORDINATES - _word(proofs[0], 5));
        assertTrue(_isTrue(outputs[0], malleated));
    }

    /// @dev x and x + p are one coordinate to arithmetic modulo p, and only one of them is accepted.
    function test_isTrue_coordinateAboveOrder_succeeds() public view {
        for (uint256 word = 0; word < 8; ++word) {
            uint256 coordinate = _word(proofs[0], word);
            assertFalse(_isTrue(outputs[0], _with(proofs[0], word, coordinate + COORDINATES)));
        }
    }

    function test_isTrue_pointsOutside_succeeds() public view {
        for (uint256 word = 0; word < 8; ++word) {
            assertFalse(_isTrue(outputs[0], _with(proofs[0], word, 1)));
        }
        // The point at infinity is one, and proves nothing.
        bytes memory zeroed = _with(_with(proofs[0], 0, 0), 1, 0);
        assertFalse(_isTrue(outputs[0], zeroed));
        zeroed = _with(_with(proofs[0], 6, 0), 7, 0);
        assertFalse(_isTrue(outputs[0], zeroed));
        assertFalse(_isTrue(outputs[0], new bytes(256)));
    }

    function test_isTrue_proofLength_succeeds() public view {
        assertFalse(_isTrue(outputs[0], ""));
        assertFalse(_isTrue(outputs[0], bytes.concat(proofs[0], hex"00")));
        bytes memory shorter = proofs[0];
        assembly ("memory-safe") {
            mstore(shorter, 255)
        }
        assertFalse(_isTrue(outputs[0], shorter));
    }

    function test_isTrue_lengths_succeeds() public view {
        assertFalse(_isTrue("", proofs[0]));
        assertFalse(_isTrue(bytes.concat(outputs[0], new bytes(32)), proofs[0]));
        assertFalse(lane.isTrue(model, "", outputs[0], proofs[0], submitter));
        bytes memory longer = bytes.concat(inputs[0], new bytes(32));
        assertFalse(lane.isTrue(model, longer, outputs[0], proofs[0], submitter));
    }

    /// @dev A key of fewer or more signals than the program has.
    function test_storeKey_keyOfAnotherCircuit_reverts() public {
        _refusedLength(bytes.concat(key, new bytes(64)));
        _refusedLength(bytes.concat(key, hex"00"));
        bytes memory shorter = bytes.concat(key);
        assembly ("memory-safe") {
            mstore(shorter, sub(mload(shorter), 64))
        }
        _refusedLength(shorter);
        _refusedLength(hex"01");
    }

    function _refusedLength(bytes memory wrong) private {
        ModelId twin = _register(keccak256(wrong));
        bytes4 why = IProofLane.WrongKeyLength.selector;
        vm.expectRevert(abi.encodeWithSelector(why, wrong.length, key.length));
        lane.storeKey(twin, wrong);
    }

    /// @dev What a leaked ceremony means: a proof of a wrong output, by somebody who knows the key's secrets.
    function test_isTrue_forgedBySecrets_succeeds() public view {
        assertTrue(_isTrue(forgedOutput, forgedProof));
        assertFalse(_isTrue(outputs[0], forgedProof));
    }

    function test_isTrue_unknownModel_reverts() public {
        ModelId unknown = ModelId.wrap(keccak256("unknown"));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.KeyMissing.selector, unknown));
        lane.isTrue(unknown, inputs[0], outputs[0], proofs[0], submitter);
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
        lane.storeKey(unknown, key);
    }

    function test_isTrue_keyMissing_reverts() public {
        ModelId twin = _register(keccak256("no such key"));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.KeyMissing.selector, twin));
        lane.isTrue(twin, inputs[0], outputs[0], proofs[0], submitter);
    }

    /// @dev A model without a program is proven by the other kind, and a program by this one.
    function test_storeKey_kind_reverts() public {
        ModelId twin = registry.registerProofModel(selector, 16, 2, vkHash);
        vm.expectRevert(abi.encodeWithSelector(IProofLane.WrongKeyKind.selector, 1, 2));
        lane.storeKey(twin, key);
        bytes memory wrong = bytes.concat(key);
        wrong[0] = 0x02;
        twin = _register(keccak256(wrong));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.WrongKeyKind.selector, 2, 1));
        lane.storeKey(twin, wrong);
        twin = _register(keccak256(""));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.WrongKeyKind.selector, 0, 1));
        lane.storeKey(twin, "");
    }

    /// @dev Nobody can put another key in the place of a model's.
    function test_storeKey_anotherKey_reverts() public {
        bytes memory wrong = _flipped(key, 100);
        bytes32 hash = keccak256(wrong);
        vm.expectRevert(abi.encodeWithSelector(IProofLane.WrongKey.selector, model, hash, vkHash));
        lane.storeKey(model, wrong);
    }

    function test_storeKey_twice_succeeds() public {
        address pointer = lane.keyOf(model);
        vm.prank(other);
        assertEq(lane.storeKey(model, key), pointer);
        assertEq(lane.keyOf(model), pointer);
    }

    /// @dev STOP, model word, 128 bytes of steps (the CODEC step and the last one), their records' heads, the key.
    function test_storeKey_default_succeeds() public {
        bytes memory flipped = _flipped(key, 100);
        ModelId twin = _register(keccak256(flipped));
        vm.expectEmit(true, true, false, false, address(lane));
        emit IProofLane.KeyStored(twin, keccak256(flipped), address(0));
        address pointer = lane.storeKey(twin, flipped);
        bytes memory code = pointer.code;
        assertEq(code.length, 1 + 34 + 128 + key.length);
        uint256 word = registry.modelWord(twin);
        assertEq(keccak256(_slice(code, 0, 35)), keccak256(abi.encodePacked(hex"00", word, uint16(128))));
        uint256 records = 32 + 32 * uint256(uint16(word >> 48));
        assertEq(keccak256(_slice(code, 35, 64)), keccak256(_slice(program, records, 64)), "codec");
        assertEq(
            keccak256(_slice(code, 99, 64)), keccak256(_slice(program, program.length - 128, 64)), "last"
        );
        assertEq(keccak256(_slice(code, 163, key.length)), keccak256(flipped));
    }

    function _slice(bytes memory data, uint256 from, uint256 length)
        private
        pure
        returns (bytes memory part)
    {
        part = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            part[i] = data[from + i];
        }
    }

    /// @dev Too little gas for the data contract leaves nothing behind.
    function test_storeKey_littleGas_reverts() public {
        bytes memory flipped = _flipped(key, 100);
        ModelId twin = _register(keccak256(flipped));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.KeyNotCreated.selector, flipped.length));
        lane.storeKey{gas: 250_000}(twin, flipped);
        assertEq(lane.keyOf(twin), address(0));
        lane.storeKey(twin, flipped);
    }

    function test_storeKey_twice_emitsOnce_succeeds() public {
        vm.recordLogs();
        lane.storeKey(model, key);
        assertEq(vm.getRecordedLogs().length, 0, "stored before");
    }

    /// @dev A key whose last point is not on the curve, but whose other points make up for it: only the multiplication says no.
    function test_isTrue_keyPointOutside_succeeds() public {
        (, uint256[] memory signals) = lane.signalsOf(model, inputs[0], outputs[0], submitter);
        uint256 points = key.length - 64 * (SIGNALS + 1);
        (bytes memory first, bytes memory last) = (new bytes(64), new bytes(64));
        for (uint256 i = 0; i < 64; ++i) {
            first[i] = key[points + i];
            last[i] = key[points + 64 * SIGNALS + i];
        }
        (, bytes memory product) = address(7).staticcall(abi.encodePacked(last, signals[SIGNALS - 1]));
        (bool ok, bytes memory sum) = address(6).staticcall(abi.encodePacked(first, product));
        assertTrue(ok && sum.length == 64);
        bytes memory changed = bytes.concat(key);
        for (uint256 i = 0; i < 64; ++i) {
            changed[points + i] = sum[i];
            // (1, 1) is no point.
            changed[points + 64 * SIGNALS + i] = i % 32 == 31 ? bytes1(0x01) : bytes1(0x00);
        }
        ModelId twin = _registerKey(changed);
        // The multiplication costs all but a sixty-fourth: enough for the pairings that would follow.
        assertFalse(lane.isTrue{gas: 40_000_000}(twin, inputs[0], outputs[0], proofs[0], submitter));
    }

    function test_signalsOf_notCanonical_succeeds() public view {
        bytes memory output = bytes.concat(outputs[0], new bytes(32));
        (bool canonical, uint256[] memory signals) = lane.signalsOf(model, inputs[0], output, submitter);
        assertFalse(canonical);
        assertEq(signals.length, 0, "signals of nothing");
    }

    function test_signalsOf_default_succeeds() public view {
        (bool canonical, uint256[] memory signals) = lane.signalsOf(model, inputs[0], outputs[0], submitter);
        assertTrue(canonical);
        assertEq(signals.length, SIGNALS);
        bytes32 binding = keccak256(abi.encode(block.chainid, address(lane), model, submitter));
        assertEq(uint152(signals[SIGNALS - 1]), uint256(binding) >> 104);
        // Raw return data: offset, length, two s32, little-endian.
        bytes memory stored = _slice(outputs[0], 64, 8);
        for (uint256 i = 0; i < 8; ++i) {
            assertEq(uint8(signals[SIGNALS - 1] >> (152 + 8 * (7 - i))), uint8(stored[i ^ 3]));
        }
        assertEq(signals[SIGNALS - 1] >> 216, 0);
    }
}
