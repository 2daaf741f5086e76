// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {CodecJudge} from "../../../verifier-contracts/CodecJudge.sol";
import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {ElementCheck} from "../../../verifier-contracts/execution/ElementCheck.sol";
import {ExecutionLane} from "../../../verifier-contracts/execution/ExecutionLane.sol";
import {FastInterpreter} from "../../../verifier-contracts/execution/FastInterpreter.sol";
import {Interpreter} from "../../../verifier-contracts/execution/Interpreter.sol";
import {Plan} from "../../../verifier-contracts/execution/plan/Plan.sol";
import {ICodecJudge} from "../../../verifier-contracts/interfaces/ICodecJudge.sol";
import {IFastInterpreter} from "../../../verifier-contracts/interfaces/IFastInterpreter.sol";
import {IFloatJudge} from "../../../verifier-contracts/interfaces/IFloatJudge.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {ProgramReader} from "../../../verifier-contracts/libraries/ProgramReader.sol";
import {OP_FLOAT} from "../../../verifier-contracts/types/Program.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "./ExecutionFixture.sol";

/// @notice Float arithmetic with a fault: the first element of a whole tensor is another one.
contract FaultyFloats {
    address private immutable _right = address(new FloatJudge());

    fallback(bytes calldata data) external returns (bytes memory answer) {
        bool success;
        (success, answer) = _right.staticcall(data);
        require(success);
        // Behind offset and length of the bytes.
        if (bytes4(data) == IFloatJudge.computeAll.selector) answer[64] ^= 0x01;
    }
}

/// @notice Codecs that say of return data what they are told.
contract OtherCodecs {
    address private immutable _right = address(new CodecJudge());
    bool private immutable _isForm;

    /// @param isForm they find fault with the form; else with each element
    constructor(bool isForm) {
        _isForm = isForm;
    }

    fallback(bytes calldata data) external returns (bytes memory answer) {
        bool success;
        (success, answer) = _right.staticcall(data);
        require(success);
        if (bytes4(data) == ICodecJudge.isCanonicalOutput.selector && _isForm) answer[31] = 0;
        if (bytes4(data) == ICodecJudge.outputElement.selector) answer[31] ^= 0x01;
    }
}

/// @notice An interpreter whose plain run takes more gas than there is.
contract DearInterpreter {
    address private immutable _interpreter;

    constructor(IInterpreter interpreter) {
        _interpreter = address(interpreter);
    }

    fallback(bytes calldata data) external returns (bytes memory answer) {
        bool success;
        if (bytes4(data) != IInterpreter.infer.selector) (success, answer) = _interpreter.staticcall(data);
        require(success);
    }
}

/// @dev Whoever finds a difference stops it, nobody stops what is right.
contract HaltsTest is ExecutionFixture {
    uint256 private _elements;
    uint256 private _outputs;

    /// @dev Every step of every vector, three elements each, and codec steps whole: the interpreter cannot be halted.
    function checkRight(bytes memory blob) external returns (uint256 steps) {
        RunVector memory v = abi.decode(blob, (RunVector));
        ModelId modelId = registerRun(v);
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        this.checkRightOutput(modelId, v.input);
        for (;; ++steps) {
            for (uint256 i = 0; i < 3; ++i) {
                uint256 element = uint256(keccak256(abi.encode(modelId, steps, i))) % (4 ** (3 * i));
                bytes4 reason = _tryHalt(modelId, v.input, steps, element);
                if (reason == IJudge.StepOutOfRange.selector) return steps;
                if (reason == IJudge.ElementOutOfRange.selector) continue;
                assertEq(reason, IInterpreter.NoDifference.selector);
                ++_elements;
            }
        }
    }

    /// @dev Every element of return data, up to a few hundred.
    function checkRightOutput(ModelId modelId, bytes calldata input) external {
        for (uint256 element = 0; element < 200; ++element) {
            try interpreter.haltOutput(modelId, input, element) {
                revert("halted by a right element");
            } catch (bytes memory reason) {
                if (bytes4(reason) == IJudge.ElementOutOfRange.selector) return;
                assertEq(bytes4(reason), IInterpreter.NoDifference.selector);
                ++_outputs;
            }
        }
    }

    function _tryHalt(ModelId modelId, bytes memory input, uint256 step, uint256 element)
        private
        returns (bytes4)
    {
        try interpreter.haltExecution(modelId, input, step, element) {
            return 0;
        } catch (bytes memory reason) {
            return bytes4(reason);
        }
    }

    function test_haltExecution_rightElements_reverts() public {
        forEachVector("test/vectors/run.json", this.checkRight);
        assertGe(_elements, 200);
        assertGe(_outputs, 200);
    }

    /// @dev Return data that the judge would not make of the last step's tensor: their form, or an element.
    function test_haltOutput_otherOutput_succeeds() public {
        (RunVector memory v,) = _floatRun();
        ModelId modelId = registerRun(v);
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        for (uint256 i = 0; i < 2; ++i) {
            OtherCodecs others = new OtherCodecs(i == 0);
            ICodecJudge codecs = ICodecJudge(address(others));
            IFloatJudge floats = interpreter.floatJudge();
            ElementCheck check = new ElementCheck(registry, address(store), floats, codecs);
            Interpreter faulty =
                new Interpreter(registry, address(store), address(builder), floats, codecs, check);
            assertEq(faulty.infer(modelId, v.input), v.output);
            vm.expectPartialRevert(IJudge.ElementOutOfRange.selector);
            faulty.haltOutput(modelId, v.input, 1 << 16);
            vm.prank(makeAddr("anybody"));
            vm.expectEmit(true, false, false, false);
            emit IInterpreter.ExecutionHalted(modelId, 0, 0, 0, 0);
            faulty.haltOutput(modelId, v.input, 0);
            assertTrue(faulty.isHalted(modelId));
            vm.expectRevert(abi.encodeWithSelector(IInterpreter.ModelHalted.selector, modelId));
            faulty.infer(modelId, v.input);
            vm.expectRevert(abi.encodeWithSelector(IInterpreter.ModelHalted.selector, modelId));
            faulty.haltOutput(modelId, v.input, 0);
        }
    }

    /// @dev The first vector with a FLOAT step. @return step its index
    function _floatRun() private returns (RunVector memory v, uint256 step) {
        string memory path = "test/vectors/run.json";
        vm.readLine(path);
        while (true) {
            v = abi.decode(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))), (RunVector));
            (bool found, uint256 index) = _findFloat(v.program);
            if (found) {
                vm.closeFile(path);
                return (v, index);
            }
        }
    }

    function _findFloat(bytes memory program) private pure returns (bool, uint256) {
        uint256 weights = (uint256(uint8(program[4])) << 8) | uint8(program[5]);
        for (uint256 step = 0;; ++step) {
            uint256 offset = ProgramReader.recordOffset(weights, step);
            if (offset >= program.length) return (false, 0);
            if (uint8(program[offset]) == OP_FLOAT) return (true, step);
        }
    }

    /// @dev An interpreter whose floats are wrong, and all that stands on it.
    function test_haltExecution_wrongElement_succeeds() public {
        (RunVector memory v, uint256 step) = _floatRun();
        IFloatJudge floats = IFloatJudge(address(new FaultyFloats()));
        Interpreter faulty = new Interpreter(
            registry, address(store), address(builder), floats, interpreter.codecJudge(), elementCheck
        );
        FastInterpreter fast = new FastInterpreter(faulty, address(planner));
        ExecutionLane lane = new ExecutionLane(faulty);
        ModelId modelId = registerRun(v);
        vm.expectRevert(abi.encodeWithSelector(IInterpreter.WeightsNotPublished.selector, modelId));
        faulty.haltExecution(modelId, v.input, step, 0);
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        // A claim about the step before is not about this one.
        if (step != 0) {
            vm.expectPartialRevert(IInterpreter.NoDifference.selector);
            faulty.haltExecution(modelId, v.input, step - 1, 0);
        }
        fast.inferFast(modelId, v.input);
        uint256 element = 0;
        vm.prank(makeAddr("anybody"));
        vm.expectEmit(true, false, false, false);
        emit IInterpreter.ExecutionHalted(modelId, step, element, 0, 0);
        faulty.haltExecution(modelId, v.input, step, element);
        assertTrue(faulty.isHalted(modelId));
        assertTrue(fast.isFastHalted(modelId));
        bytes memory halted = abi.encodeWithSelector(IInterpreter.ModelHalted.selector, modelId);
        vm.expectRevert(halted);
        faulty.infer(modelId, v.input);
        vm.expectRevert(halted);
        faulty.inferWith(modelId, v.input, v.weights);
        vm.expectRevert(halted);
        faulty.inferCompiled(modelId, v.input);
        vm.expectRevert(halted);
        faulty.haltExecution(modelId, v.input, step, element);
        vm.expectRevert(halted);
        lane.isTrue(modelId, v.input, v.output, "", address(this));
        vm.expectRevert(halted);
        lane.isTrue(modelId, v.input, v.output, v.weights, address(this));
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.FastModelHalted.selector, modelId));
        fast.inferFast(modelId, v.input);
        // The right interpreter is another contract.
        assertFalse(interpreter.isHalted(modelId));
        assertEq(interpreter.infer(modelId, v.input), v.output);
    }

    /// @dev Whatever gas a call brings, what is right is not halted.
    function testFuzz_halt_anyGas_reverts(uint256 gasLimit) public {
        (RunVector memory v, uint256 step) = _floatRun();
        ModelId modelId = registerRun(v);
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        gasLimit = bound(gasLimit, 21_000, 3_000_000);
        bytes memory call = abi.encodeCall(IInterpreter.haltExecution, (modelId, v.input, step, 0));
        (bool success,) = address(interpreter).call{gas: gasLimit}(call);
        assertFalse(success);
        call = abi.encodeCall(IFastInterpreter.haltFast, (modelId, v.input));
        (success,) = address(fastInterpreter).call{gas: gasLimit}(call);
        assertFalse(success);
        assertFalse(fastInterpreter.isFastHalted(modelId));
    }

    function _forecast() private returns (ModelId modelId, ModelRun memory run) {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        vm.readLine(path);
        run = readModelRun(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))));
        vm.closeFile(path);
        modelId = publishRun(run);
    }

    function test_haltFast_sameOutput_reverts() public {
        (ModelId modelId, ModelRun memory run) = _forecast();
        bytes memory same =
            abi.encodeWithSelector(IFastInterpreter.NoFastDifference.selector, keccak256(run.outputs[0]));
        vm.expectRevert(same);
        fastInterpreter.haltFast(modelId, run.inputs[0]);
        assertTrue(prepare(modelId));
        vm.expectRevert(same);
        fastInterpreter.haltFast(modelId, run.inputs[0]);
        vm.expectRevert(IInterpreter.InputNotCanonical.selector);
        fastInterpreter.haltFast(modelId, "");
    }

    /// @dev A plan that adds where the program subtracts. The plain interpreter goes on.
    function test_haltFast_otherOutput_succeeds() public {
        (ModelId modelId, ModelRun memory run) = _forecast();
        assertTrue(prepare(modelId));
        address plan = planner.planOf(modelId);
        vm.etch(plan, _withSum(plan.code));
        bytes memory wrong = fastInterpreter.inferFast(modelId, run.inputs[0]);
        assertTrue(keccak256(wrong) != keccak256(run.outputs[0]));
        vm.prank(makeAddr("anybody"));
        vm.expectEmit();
        emit IFastInterpreter.FastHalted(modelId, keccak256(wrong), keccak256(run.outputs[0]));
        fastInterpreter.haltFast(modelId, run.inputs[0]);
        assertTrue(fastInterpreter.isFastHalted(modelId));
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.FastModelHalted.selector, modelId));
        fastInterpreter.inferFast(modelId, run.inputs[0]);
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.FastModelHalted.selector, modelId));
        fastInterpreter.haltFast(modelId, run.inputs[0]);
        assertFalse(interpreter.isHalted(modelId));
        assertEq(interpreter.infer(modelId, run.inputs[0]), run.outputs[0]);
    }

    /// @dev A wrong plan of a model whose plain run fits no transaction.
    function test_haltPlan_plainTooDear_succeeds() public {
        (ModelId modelId, ModelRun memory run) = _forecast();
        assertTrue(prepare(modelId));
        IInterpreter dear = IInterpreter(address(new DearInterpreter(interpreter)));
        FastInterpreter fast = new FastInterpreter(dear, address(planner));
        bytes32 right = keccak256(run.outputs[0]);
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.NoFastDifference.selector, right));
        fast.haltPlan(modelId, run.inputs[0]);
        address plan = planner.planOf(modelId);
        vm.etch(plan, _withSum(plan.code));
        bytes32 wrong = fast.recordFast(modelId, run.inputs[0]);
        bytes memory data = abi.encodeCall(IFastInterpreter.haltFast, (modelId, run.inputs[0]));
        (bool success,) = address(fast).call(data);
        assertFalse(success);
        vm.expectEmit();
        emit IFastInterpreter.FastHalted(modelId, wrong, right);
        fast.haltPlan(modelId, run.inputs[0]);
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.FastModelHalted.selector, modelId));
        fast.inferFast(modelId, run.inputs[0]);
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.FastModelHalted.selector, modelId));
        fast.haltPlan(modelId, run.inputs[0]);
    }

    function _withSum(bytes memory code) private pure returns (bytes memory) {
        for (uint256 i = 1 + Plan.HEAD_BYTES; i < code.length; i += 32) {
            if (uint8(code[i]) == Plan.INT16S && uint8(code[i + 1]) == 1) {
                code[i + 1] = 0;
                return code;
            }
        }
        revert("no difference in the plan");
    }

    /// @dev An instruction that no reader knows ends the run by its name.
    function test_inferFast_unknownInstruction_reverts() public {
        (ModelId modelId, ModelRun memory run) = _forecast();
        assertTrue(prepare(modelId));
        address plan = planner.planOf(modelId);
        bytes memory code = plan.code;
        code[code.length - 32] = 0xFE;
        vm.etch(plan, code);
        vm.expectRevert(abi.encodeWithSelector(Plan.UnknownInstruction.selector, 0xFE));
        fastInterpreter.inferFast(modelId, run.inputs[0]);
    }
}
