// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {IProofLane} from "../../../verifier-contracts/interfaces/IProofLane.sol";
import {ProofLane} from "../../../verifier-contracts/proof/ProofLane.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProofFixture} from "./ProofFixture.sol";

/// @notice One proof: what is accepted, and every way to bend it.
contract ProofLaneTest is ProofFixture {
    function test_isTrue_rightProofs_succeeds() public view {
        for (uint256 i = 0; i < COUNT; ++i) {
            assertTrue(lane.isTrue(model, inputs[i], outputs[i], proofs[i], submitter));
        }
        assertTrue(lane.isTrue(model, inputs[0], outputs[0], otherProof, other));
    }

    function testFuzz_isTrue_flippedProof_succeeds(uint256 bit) public view {
        assertFalse(_isTrue(outputs[0], _flipped(proofs[0], bit % (8 * 256))));
    }

    function testFuzz_isTrue_flippedInput_succeeds(uint256 bit) public view {
        bytes memory input = _flipped(inputs[0], bit % (8 * inputs[0].length));
        assertFalse(lane.isTrue(model, input, outputs[0], proofs[0], submitter));
    }

    function testFuzz_isTrue_flippedOutput_succeeds(uint256 bit) public view {
        assertFalse(_isTrue(_flipped(outputs[0], bit % (8 * outputs[0].length)), proofs[0]));
    }

    /// @dev A key with one flipped bit has another hash, so it is another model's; its signals are the same but for
    /// the binding. The origin, which is no point, changes the binding alone.
    function testFuzz_isTrue_flippedKey_succeeds(uint256 bit) public {
        bytes memory flipped = _flipped(key, 8 + bit % (8 * (key.length - 1)));
        ModelId twin = _register(lane.storeKey(flipped));
        assertFalse(lane.isTrue{gas: GAS}(twin, inputs[0], outputs[0], proofs[0], submitter));
    }

    /// @dev The same key with a model of other weights: only the binding differs.
    function test_isTrue_anotherModel_succeeds() public {
        weightsRoot = keccak256("other weights");
        assertFalse(lane.isTrue(_register(vkHash), inputs[0], outputs[0], proofs[0], submitter));
    }

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
        twin.storeKey(key);
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
    function test_isTrue_keyOfAnotherCircuit_succeeds() public {
        bytes memory longer = bytes.concat(key, new bytes(64));
        ModelId twin = _register(lane.storeKey(longer));
        assertFalse(lane.isTrue{gas: GAS}(twin, inputs[0], outputs[0], proofs[0], submitter));
        bytes memory shorter = bytes.concat(key);
        assembly ("memory-safe") {
            mstore(shorter, sub(mload(shorter), 64))
        }
        twin = _register(lane.storeKey(shorter));
        assertFalse(lane.isTrue{gas: GAS}(twin, inputs[0], outputs[0], proofs[0], submitter));
    }

    /// @dev What a leaked ceremony means: a proof of a wrong output, by somebody who knows the key's secrets.
    function test_isTrue_forgedBySecrets_succeeds() public view {
        assertTrue(_isTrue(forgedOutput, forgedProof));
        assertFalse(_isTrue(outputs[0], forgedProof));
    }

    function test_isTrue_unknownModel_reverts() public {
        ModelId unknown = ModelId.wrap(keccak256("unknown"));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
        lane.isTrue(unknown, inputs[0], outputs[0], proofs[0], submitter);
    }

    function test_isTrue_keyMissing_reverts() public {
        ModelId twin = _register(keccak256("no such key"));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.KeyMissing.selector, keccak256("no such key")));
        lane.isTrue(twin, inputs[0], outputs[0], proofs[0], submitter);
    }

    /// @dev A model without a program is proven by the other kind.
    function test_isTrue_withoutProgram_succeeds() public {
        ModelId twin = registry.registerProofModel(selector, 16, 2, vkHash);
        assertFalse(lane.isTrue(twin, inputs[0], outputs[0], proofs[0], submitter));
    }

    /// @dev And a program by this one.
    function test_isTrue_keyOfAnotherKind_reverts() public {
        bytes memory ezkl = bytes.concat(key);
        ezkl[0] = 0x02;
        ModelId twin = _register(lane.storeKey(ezkl));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.UnknownKeyKind.selector, 2));
        lane.isTrue(twin, inputs[0], outputs[0], proofs[0], submitter);
    }

    function test_storeKey_twice_succeeds() public {
        address pointer = lane.keyOf(vkHash);
        assertEq(keccak256(pointer.code), keccak256(bytes.concat(hex"00", key)));
        vm.prank(other);
        assertEq(lane.storeKey(key), vkHash);
        assertEq(lane.keyOf(vkHash), pointer);
    }

    function test_storeKey_default_succeeds() public {
        bytes memory longer = bytes.concat(key, new bytes(64));
        vm.expectEmit(true, false, false, false, address(lane));
        emit IProofLane.KeyStored(keccak256(longer), 1, address(0));
        assertEq(lane.storeKey(longer), keccak256(longer));
    }

    function test_storeKey_unknownKind_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IProofLane.UnknownKeyKind.selector, 0));
        lane.storeKey("");
        bytes memory wrong = bytes.concat(key);
        wrong[0] = 0xff;
        vm.expectRevert(abi.encodeWithSelector(IProofLane.UnknownKeyKind.selector, 0xff));
        lane.storeKey(wrong);
    }

    function test_storeKey_wrongLength_reverts() public {
        bytes4 why = IProofLane.WrongKeyLength.selector;
        vm.expectRevert(abi.encodeWithSelector(why, key.length + 1, 24_575));
        lane.storeKey(bytes.concat(key, hex"00"));
        vm.expectRevert(abi.encodeWithSelector(why, 450, 24_575));
        lane.storeKey(bytes.concat(hex"0101", new bytes(448)));
        vm.expectRevert(abi.encodeWithSelector(why, 450 + 64 * 377, 24_575));
        lane.storeKey(bytes.concat(hex"0101", new bytes(448 + 64 * 377)));
    }

    /// @dev Too little gas for the data contract leaves nothing behind.
    function test_storeKey_littleGas_reverts() public {
        bytes memory longer = bytes.concat(key, new bytes(64));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.KeyNotCreated.selector, longer.length));
        lane.storeKey{gas: 200_000}(longer);
        assertEq(lane.keyOf(keccak256(longer)), address(0));
        lane.storeKey(longer);
    }

    function test_signalsOf_default_succeeds() public view {
        (bool canonical, uint256[] memory signals) = lane.signalsOf(model, inputs[0], outputs[0], submitter);
        assertTrue(canonical);
        assertEq(signals.length, SIGNALS);
        bytes32 binding = keccak256(abi.encode(block.chainid, address(lane), model, submitter));
        assertEq(signals[SIGNALS - 1], uint256(binding) >> 8);
    }
}
