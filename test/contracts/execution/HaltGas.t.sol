// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ExecutionLane} from "../../../verifier-contracts/execution/ExecutionLane.sol";
import {IExecutionLane} from "../../../verifier-contracts/interfaces/IExecutionLane.sol";
import {IFastInterpreter} from "../../../verifier-contracts/interfaces/IFastInterpreter.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {ExecutionFixture} from "./ExecutionFixture.sol";

/// @dev What fits a transaction when it is executed fits one when it is halted, however large its tensors are and however
/// many weights it has.
contract HaltGasTest is ExecutionFixture {
    using B for B.Draft;

    /// @dev Most gas of a transaction (EIP-7825), without its base and the calldata of the longest input.
    uint256 private constant GAS = 16_777_216 - 21_000 - 16 * 65_636;

    function _register(B.Draft memory d) private returns (ModelId) {
        return registry.register(chunksOf(d.bytesOf()), 0, SELECTOR, EXECUTION | BOND, 0);
    }

    /// @dev Nothing differs: the call ends with its last statement. @return run gas of `infer` @return halt gas of it
    function _halt(ModelId modelId, bytes memory input, uint256 step)
        private
        returns (uint256 run, uint256 halt)
    {
        run = gasleft();
        interpreter.infer(modelId, input);
        run -= gasleft();
        halt = gasleft();
        vm.expectPartialRevert(IInterpreter.NoDifference.selector);
        interpreter.haltExecution{gas: GAS}(modelId, input, step, 0);
        halt -= gasleft();
    }

    /// @dev Both operands are the last of as many weight tensors as a program can have.
    function test_haltExecution_mostWeights_succeeds() public {
        B.Draft memory d = B.start(3, 1, 1);
        bytes memory all = abi.encodePacked(hex"01020100", B.shapeBytes(B.dims1(1)), bytes4(0));
        for (uint256 i = 0; i < 11; ++i) {
            all = bytes.concat(all, all);
        }
        (d.descriptors, d.weights) = (all, 2048);
        d.int16s(B.dims1(1), 0);
        d.step(0x080002, B.dims1(1), 0x8000 + 2047, 0x8000 + 2046, B.NONE, 0);
        bytes memory weights = new bytes(4 * 2048);
        (, bytes32 root) = store.foldWeights(all, weights);
        ModelId modelId = registry.register(chunksOf(d.bytesOf()), root, SELECTOR, EXECUTION | BOND, 0);
        assertTrue(store.publish(modelId, storeWeights(weights), ALL));
        (uint256 run, uint256 halt) = _halt(modelId, abi.encodeWithSelector(SELECTOR, new uint256[](1)), 1);
        assertLt(halt, run + 5_000_000);
    }

    /// @dev A tensor of a megabyte and more, and its sums.
    function _largeModel() private returns (ModelId modelId, bytes memory input) {
        B.Draft memory d = B.start(4, 65_536, 3);
        d.step(0x010400, B.dims2(64, 1024), B.NONE, B.NONE, B.NONE, 0);
        bytes memory none = B.coordinate(1, 0, 0, 0, 0, 0);
        bytes memory repeat =
            bytes.concat(none, none, B.coordinate(64, 1, 1, 0, 0, 0), B.coordinate(1024, 1, 2, 0, 0, 0));
        d.step(0x020000, B.dims3(24, 64, 1024), 0, B.NONE, B.NONE, 0, repeat);
        d.step(0x0a0002, B.dims3(24, 64, 1), 1, B.NONE, B.NONE, 0);
        input = abi.encodeWithSelector(SELECTOR, new bytes(65_536));
        input[68] = 0x07;
        return (_register(d), input);
    }

    /// @dev As an operand, and as the step's own tensor.
    function test_haltExecution_largeTensors_succeeds() public {
        (ModelId modelId, bytes memory input) = _largeModel();
        for (uint256 step = 1; step < 3; ++step) {
            (uint256 run, uint256 halt) = _halt(modelId, input, step);
            assertGt(run, 12_000_000);
            assertLt(halt, run + 500_000);
        }
    }

    /// @dev A codec step's tensor is compared whole: as many words as one can have.
    function test_haltExecution_longestCodecs_succeeds() public {
        bytes memory input = abi.encodeWithSelector(SELECTOR, new bytes(65_536));
        B.Draft memory d = B.start(4, 65_536, 1);
        d.step(0x010400, B.dims2(4096, 16), B.NONE, B.NONE, B.NONE, 0);
        d.step(0x010400, B.dims1(1), B.NONE, B.NONE, B.NONE, 0);
        (uint256 run, uint256 halt) = _halt(_register(d), input, 0);
        assertLt(halt, run + 5_000_000);
        d = B.start(4, 65_536, 1);
        d.step(0x010403, B.dims2(16, 1024), B.NONE, B.NONE, B.NONE, 0);
        d.step(0x010400, B.dims1(1), B.NONE, B.NONE, B.NONE, 0);
        (run, halt) = _halt(_register(d), input, 0);
        assertLt(halt, run + 5_000_000);
        d = B.start(3, 4096, 1);
        d.int16s(B.dims2(4096, 1), 0);
        d.int16s(B.dims1(1), 0);
        (run, halt) = _halt(_register(d), abi.encodeWithSelector(SELECTOR, new uint256[](256)), 0);
        assertLt(halt, run + 5_000_000);
    }

    /// @dev As long an output as there is.
    function test_haltOutput_longestOutput_succeeds() public {
        B.Draft memory d = B.start(4, 1024, 3);
        d.step(0x010400, B.dims1(1024), B.NONE, B.NONE, B.NONE, 0);
        bytes memory none = B.coordinate(1, 0, 0, 0, 0, 0);
        bytes memory repeat = bytes.concat(none, none, none, B.coordinate(1024, 1, 1, 0, 0, 0));
        d.step(0x020000, B.dims2(64, 1024), 0, B.NONE, B.NONE, 0, repeat);
        ModelId modelId = _register(d);
        bytes memory input = abi.encodeWithSelector(SELECTOR, new bytes(1024));
        uint256 run = gasleft();
        interpreter.infer(modelId, input);
        run -= gasleft();
        uint256 halt = gasleft();
        vm.expectPartialRevert(IInterpreter.NoDifference.selector);
        interpreter.haltOutput{gas: GAS}(modelId, input, 64 * 1024 - 1);
        halt -= gasleft();
        assertLt(halt, run + 500_000);
    }

    /// @dev The plan's last instruction says where the output is: an element further on.
    function _shiftOutput(address plan) private {
        bytes memory code = plan.code;
        assembly {
            let place := add(code, mload(code))
            mstore(place, add(mload(place), shl(192, 4)))
        }
        vm.etch(plan, code);
    }

    /// @dev The plain and the fast run fit a transaction each, and not one together.
    function test_haltFast_twoTransactions_succeeds() public {
        (ModelId modelId, bytes memory input) = _largeModel();
        assertTrue(store.publish(modelId, new address[](0), ALL));
        assertTrue(prepare(modelId));
        bytes memory data = abi.encodeCall(IFastInterpreter.haltFast, (modelId, input));
        (bool success,) = address(fastInterpreter).call{gas: GAS}(data);
        assertFalse(success);
        _shiftOutput(planner.planOf(modelId));
        bytes32 wrong = keccak256(fastInterpreter.inferFast(modelId, input));
        assertEq(fastInterpreter.recordFast{gas: GAS}(modelId, input), wrong);
        assertFalse(fastInterpreter.isFastHalted(modelId));
        vm.prank(makeAddr("anybody"));
        fastInterpreter.haltFast{gas: GAS}(modelId, input);
        assertTrue(fastInterpreter.isFastHalted(modelId));
        assertFalse(interpreter.isHalted(modelId));
    }

    /// @dev Somebody records the right output of a form before a wrong plan is there: that keeps nobody from halting it.
    function test_haltFast_recordedBeforePlan_succeeds() public {
        (ModelId modelId, bytes memory input) = _largeModel();
        assertTrue(store.publish(modelId, new address[](0), ALL));
        bytes32 right = fastInterpreter.recordFast(modelId, input);
        assertEq(keccak256(interpreter.infer(modelId, input)), right);
        assertTrue(prepare(modelId));
        _shiftOutput(planner.planOf(modelId));
        fastInterpreter.haltFast(modelId, input);
        assertTrue(fastInterpreter.isFastHalted(modelId));
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.FastModelHalted.selector, modelId));
        fastInterpreter.recordFast(modelId, input);
    }

    /// @dev What was recorded of a right form halts nothing, nor does what was recorded of another input.
    function test_haltFast_recordedSameOutput_reverts() public {
        (ModelId modelId, bytes memory input) = _largeModel();
        assertTrue(store.publish(modelId, new address[](0), ALL));
        assertTrue(prepare(modelId));
        bytes memory other = bytes.concat(input);
        other[68] = 0x09;
        bytes32 right = fastInterpreter.recordFast(modelId, other);
        fastInterpreter.recordFast(modelId, input);
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.NoFastDifference.selector, right));
        fastInterpreter.haltFast(modelId, other);
        vm.expectPartialRevert(IFastInterpreter.NoFastDifference.selector);
        fastInterpreter.haltFast(modelId, input);
        assertFalse(fastInterpreter.isFastHalted(modelId));
        vm.expectRevert(IInterpreter.InputNotCanonical.selector);
        fastInterpreter.recordFast(modelId, "");
    }

    /// @dev What could be too dear to halt settles nothing, with the most gas of a transaction and beyond; a caller with
    /// less gas than the limit learns nothing. What takes less settles, and halts within a transaction (the tests above).
    function test_isTrue_tooDear_reverts() public {
        (ModelId modelId, bytes memory input) = _largeModel();
        assertTrue(store.publish(modelId, new address[](0), ALL));
        ExecutionLane lane = new ExecutionLane(interpreter);
        bytes memory output = interpreter.infer(modelId, input);
        uint256 limit = lane.MAX_GAS();
        assertLt(limit + 5_000_000, GAS);
        bytes memory tooDear = abi.encodeWithSelector(IExecutionLane.ExecutionTooDear.selector, limit);
        vm.expectRevert(tooDear);
        lane.isTrue{gas: GAS}(modelId, input, output, "", address(0));
        vm.expectRevert(tooDear);
        lane.isTrue(modelId, input, output, "", address(0));
        bytes memory data = abi.encodeCall(ITruth.isTrue, (modelId, input, output, "", address(0)));
        (bool success, bytes memory reason) = address(lane).staticcall{gas: limit - 500_000}(data);
        assertFalse(success);
        assertEq(reason.length, 0);
    }
}
