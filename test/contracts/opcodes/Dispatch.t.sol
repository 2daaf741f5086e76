// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Steps} from "../../../verifier-contracts/execution/Steps.sol";
import {CompiledLayer} from "../../../verifier-contracts/execution/compiled/CompiledLayer.sol";
import {Draft, PlanWriter} from "../../../verifier-contracts/execution/plan/PlanWriter.sol";
import {Elements} from "../../../verifier-contracts/generated/Elements.sol";
import {Rules} from "../../../verifier-contracts/generated/Rules.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {IPlanner} from "../../../verifier-contracts/interfaces/IPlanner.sol";
import {Flat, describeFlat} from "../../../verifier-contracts/libraries/Flat.sol";
import {Machine} from "../../../verifier-contracts/libraries/Machine.sol";
import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {Trial} from "../../../verifier-contracts/libraries/Openings.sol";
import {RecordHead} from "../../../verifier-contracts/libraries/RecordHead.sol";
import {Scan} from "../../../verifier-contracts/libraries/Scan.sol";
import {MovePlan} from "../../../verifier-contracts/opcodes/rows/MovePlan.sol";
import {
    ARITH_ROTATE,
    CODEC_CLAIMED,
    DOT_ACTIVATIONS,
    DOT_PLANES,
    LAST_OPCODE,
    OP_ARITH,
    OP_CODEC,
    OP_DOT,
    OP_LOOKUP,
    OP_REDUCE,
    OP_REQUANT,
    OP_RESCALE,
    ProgramField,
    ProgramPart,
    REDUCE_NORM,
    RESCALE_PLANES,
    RESCALE_RATIO,
    TYPE_S32,
    UnknownOpcode,
    UnknownVariant,
    WEIGHT
} from "../../../verifier-contracts/types/Program.sol";
import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {Test} from "../support/Test.sol";

/// @dev Every number of the table reaches its opcode in each dispatcher, and every other one is refused by name.
contract DispatchTest is Test {
    /// @dev A record whose opcode alone is set: output s32 [1].
    function judge(uint256 opcode, Opening[] calldata openings) external view returns (uint256) {
        Trial memory t;
        t.record.head = RecordHead.wrap(_head(opcode, 0));
        return Elements.compute(t, openings);
    }

    function check(uint256 opcode) external pure {
        Scan memory s;
        s.part = ProgramPart.STEP;
        s.head = RecordHead.wrap(_head(opcode, 0));
        Rules.check(s);
    }

    function run(uint256 opcode, uint256 variant) external view returns (Flat) {
        Machine memory m;
        m.records = _record(_head(opcode, variant));
        m.plan = Memory.reserve(MovePlan.BYTES);
        m.compiled = CompiledLayer.NONE;
        m.steps = Memory.reserve(32);
        (m.weights, m.stream) = (m.steps, 1);
        Flat operand = describeFlat(m.records + 32, TYPE_S32, 1).at(Memory.reserve(4));
        uint256 place = m.steps;
        assembly ("memory-safe") {
            mstore(place, operand)
        }
        return Steps.runStep(m, m.records);
    }

    function plan(uint256 opcode, uint256 variant) external pure returns (Flat) {
        Draft memory d;
        d.records = _record(_head(opcode, variant));
        d.moves = Memory.reserve(MovePlan.BYTES);
        d.compiled = CompiledLayer.NONE;
        (d.steps, d.weights) = (new Flat[](1), new Flat[](1));
        d.steps[0] = describeFlat(d.records + 32, TYPE_S32, 1);
        d.place = Memory.reserve(32);
        d.end = d.place + 32;
        d.step = 7;
        return PlanWriter.writeStep(d, d.records);
    }

    function test_dispatch_unknownOpcode_reverts() public {
        uint256[4] memory codes = [uint256(0), LAST_OPCODE + 1, LAST_OPCODE + 2, 255];
        for (uint256 i = 0; i < codes.length; ++i) {
            uint256 code = codes[i];
            vm.expectRevert(abi.encodeWithSelector(UnknownOpcode.selector, code));
            this.judge(code, new Opening[](0));
            vm.expectRevert(abi.encodeWithSelector(UnknownOpcode.selector, code));
            this.run(code, 0);
            vm.expectRevert(
                abi.encodeWithSelector(
                    IModelRegistry.InvalidProgram.selector, ProgramPart.STEP, 0, ProgramField.OPCODE, code
                )
            );
            this.check(code);
            vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
            this.plan(code, 0);
        }
    }

    /// @dev What an opcode makes of the bare record is its own affair; that nobody knows it is not.
    function test_dispatch_everyOpcode_succeeds() public view {
        for (uint256 code = 1; code <= LAST_OPCODE; ++code) {
            bytes memory unknown = abi.encodeWithSelector(UnknownOpcode.selector, code);
            assertNotEq(_reason(abi.encodeCall(this.judge, (code, new Opening[](0)))), unknown);
            assertNotEq(_reason(abi.encodeCall(this.run, (code, 0))), unknown);
            bytes memory invalid = abi.encodeWithSelector(
                IModelRegistry.InvalidProgram.selector, ProgramPart.STEP, 0, ProgramField.OPCODE, code
            );
            assertNotEq(_reason(abi.encodeCall(this.check, (code))), invalid);
        }
    }

    function test_run_unknownVariant_reverts() public {
        uint256[5] memory opcodes = [OP_LOOKUP, OP_DOT, OP_REQUANT, OP_ARITH, OP_REDUCE];
        for (uint256 i = 0; i < opcodes.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, opcodes[i], 255));
            this.run(opcodes[i], 255);
        }
        // DOT alone has the variant that puts out the accumulator.
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_REQUANT, 0));
        this.run(OP_REQUANT, 0);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_DOT, DOT_ACTIVATIONS));
        this.run(OP_DOT, DOT_ACTIVATIONS);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_DOT, DOT_PLANES));
        this.run(OP_DOT, DOT_PLANES);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_RESCALE, RESCALE_RATIO));
        this.run(OP_RESCALE, RESCALE_RATIO);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_RESCALE, RESCALE_PLANES));
        this.run(OP_RESCALE, RESCALE_PLANES);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_ARITH, ARITH_ROTATE));
        this.run(OP_ARITH, ARITH_ROTATE);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_CODEC, CODEC_CLAIMED));
        this.run(OP_CODEC, CODEC_CLAIMED);
    }

    function test_plan_unknownVariant_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_ARITH, 255));
        this.plan(OP_ARITH, 255);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_ARITH, ARITH_ROTATE));
        this.plan(OP_ARITH, ARITH_ROTATE);
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
        this.plan(OP_LOOKUP, 255);
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
        this.plan(OP_DOT, DOT_ACTIVATIONS);
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
        this.plan(OP_DOT, DOT_PLANES);
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
        this.plan(OP_RESCALE, RESCALE_RATIO);
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
        this.plan(OP_RESCALE, RESCALE_PLANES);
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
        this.plan(OP_CODEC, CODEC_CLAIMED);
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPlannable.selector, 7));
        this.plan(OP_REQUANT, 255);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_REDUCE, 255));
        this.plan(OP_REDUCE, 255);
        vm.expectRevert(abi.encodeWithSelector(UnknownVariant.selector, OP_REDUCE, REDUCE_NORM));
        this.plan(OP_REDUCE, REDUCE_NORM);
    }

    function _reason(bytes memory data) private view returns (bytes32) {
        (bool success, bytes memory reason) = address(this).staticcall{gas: 2_000_000}(data);
        return success ? bytes32(0) : keccak256(reason);
    }

    function assertNotEq(bytes32 reason, bytes memory other) private pure {
        assertTrue(reason != keccak256(other), "an opcode of the table is unknown");
    }

    /// @dev Operand a is the step 0, b the weight tensor 0 where an opcode reads words of weights, else the step too.
    function _head(uint256 opcode, uint256 variant) private pure returns (uint256) {
        bool isWeight = opcode == OP_LOOKUP || opcode == OP_DOT || opcode == OP_REQUANT;
        uint256 b = isWeight ? WEIGHT : 0;
        return opcode << 248 | variant << 240 | TYPE_S32 << 232 | 1 << 224 | b << 192;
    }

    /// @return record memory of a record of dims [1]
    function _record(uint256 head) private pure returns (uint256 record) {
        record = Memory.reserve(128);
        assembly ("memory-safe") {
            mstore(record, head)
            mstore(add(record, 0x20), shl(224, 1))
            mstore(add(record, 0x40), 0)
            mstore(add(record, 0x60), 0)
        }
    }
}
