// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Interpreter} from "../../../verifier-contracts/execution/Interpreter.sol";
import {IElementCheck} from "../../../verifier-contracts/interfaces/IElementCheck.sol";
import {IFastInterpreter} from "../../../verifier-contracts/interfaces/IFastInterpreter.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {StreamCompiler} from "./compiled/StreamCompiler.sol";

/// @dev Attempts to halt what is right, and to stand in the way of whoever publishes, compiles or prepares.
contract HaltAttacksTest is StreamCompiler {
    RunVector[] private _runs;
    ModelId[] private _ids;
    ModelRun private _sentiment;
    uint256 private _compiled;
    uint256 private _planned;

    /// @dev Vectors of every opcode, compiled where they can be, every second one with a plan where there is one.
    function setUp() public override {
        super.setUp();
        string memory path = "test/vectors/run.json";
        vm.readLine(path);
        for (uint256 i = 0; i < 32; ++i) {
            RunVector memory v =
                abi.decode(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))), (RunVector));
            ModelId modelId = registerRun(v);
            assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
            if (compileModel(modelId, v.program, v.weights) != 0) ++_compiled;
            if (i % 2 == 0 && prepare(modelId)) ++_planned;
            _runs.push(v);
            _ids.push(modelId);
        }
        vm.closeFile(path);
        assertGe(_compiled, 4);
        assertGe(_planned, 4);
    }

    function _isHalted(ModelId modelId) private view returns (bool) {
        return interpreter.isHalted(modelId) || fastInterpreter.isFastHalted(modelId);
    }

    /// @dev Codec steps, binary32 forms, compiled parts and plans: a call that runs out of gas anywhere is no difference.
    /// forge-config: default.fuzz.runs = 4000
    function testFuzz_halt_anyGasAnyForm_reverts(uint256 seed) public {
        uint256 i = seed % _runs.length;
        (ModelId modelId, bytes memory input) = (_ids[i], _runs[i].input);
        uint256 steps = (uint256(uint8(_runs[i].program[6])) << 8) | uint8(_runs[i].program[7]);
        bytes memory data =
            abi.encodeCall(IInterpreter.haltExecution, (modelId, input, (seed >> 8) % steps, 0));
        bool isFast = (seed >> 32) % 2 == 0;
        bool isPlan = (seed >> 33) % 2 == 0;
        address to = address(interpreter);
        if (isFast) {
            (to, data) =
            (address(fastInterpreter), abi.encodeCall(IFastInterpreter.haltFast, (modelId, input)));
            if (isPlan) data = abi.encodeCall(IFastInterpreter.haltPlan, (modelId, input));
        }
        // As much as the whole call takes, then any share of it.
        uint256 whole = gasleft();
        (bool success, bytes memory reason) = to.call(data);
        whole -= gasleft();
        assertFalse(success);
        assertEq(
            bytes4(reason),
            isFast ? IFastInterpreter.NoFastDifference.selector : IInterpreter.NoDifference.selector
        );
        (success,) = to.call{gas: whole * ((seed >> 40) % 1024) / 1024}(data);
        assertFalse(success);
        assertFalse(_isHalted(modelId));
    }

    /// @dev Calldata of a halt with bytes changed, cut off or added: offsets and lengths that lie, inputs that are not canonical.
    /// forge-config: default.fuzz.runs = 4000
    function testFuzz_halt_hostileCalldata_reverts(uint256 seed, uint256 word) public {
        uint256 i = seed % _runs.length;
        ModelId modelId = _ids[i];
        bool isFast = (seed >> 32) % 2 == 0;
        bytes memory data = isFast
            ? abi.encodeCall(IFastInterpreter.haltFast, (modelId, _runs[i].input))
            : abi.encodeCall(IInterpreter.haltExecution, (modelId, _runs[i].input, (seed >> 8) % 8, 0));
        uint256 place = 4 + (seed >> 48) % (data.length - 4);
        if ((seed >> 33) % 4 == 0) {
            assembly {
                mstore(data, place)
            }
        } else if ((seed >> 33) % 4 == 1) {
            data[place] = bytes1(uint8(word));
        } else {
            // A head word, or a length.
            place = 32 * ((place - 4) / 32 % 8);
            if (place + 36 > data.length) place = 0;
            word = (seed >> 40) % 2 == 0 ? word : word >> (256 - (seed >> 41) % 40);
            assembly {
                mstore(add(add(data, 0x24), place), word)
            }
        }
        address to = isFast ? address(fastInterpreter) : address(interpreter);
        (bool success,) = to.call{gas: 30_000_000}(data);
        assertFalse(success);
        assertFalse(_isHalted(modelId));
    }

    /// @dev Steps and elements at the end of what a word holds.
    function test_haltExecution_beyondEnds_reverts() public {
        (ModelId modelId, bytes memory input) = (_ids[0], _runs[0].input);
        uint256 steps = (uint256(uint8(_runs[0].program[6])) << 8) | uint8(_runs[0].program[7]);
        uint256[4] memory beyond = [steps, 1 << 16, 1 << 128, type(uint256).max];
        for (uint256 i = 0; i < 4; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IJudge.StepOutOfRange.selector, beyond[i], steps));
            interpreter.haltExecution(modelId, input, beyond[i], 0);
        }
        for (uint256 step = 0; step < steps; ++step) {
            vm.expectPartialRevert(IJudge.ElementOutOfRange.selector);
            interpreter.haltExecution(modelId, input, step, 1 << 24);
            vm.expectPartialRevert(IJudge.ElementOutOfRange.selector);
            interpreter.haltExecution(modelId, input, step, type(uint256).max);
        }
        assertFalse(_isHalted(modelId));
    }

    /// @dev Of an address that answers nothing, or half of it, no difference is read.
    function test_haltExecution_checkThatDoesNotAnswer_reverts() public {
        address check = makeAddr("check");
        Interpreter other = new Interpreter(
            registry,
            address(store),
            address(builder),
            interpreter.floatJudge(),
            interpreter.codecJudge(),
            IElementCheck(check)
        );
        // Nothing; PUSH1 32, PUSH0, RETURN; PUSH1 96, PUSH0, RETURN.
        bytes[3] memory codes = [bytes(""), hex"60205ff3", hex"60605ff3"];
        for (uint256 i = 0; i < 3; ++i) {
            vm.etch(check, codes[i]);
            (bool success,) = address(other)
                .call(abi.encodeCall(IInterpreter.haltExecution, (_ids[0], _runs[0].input, 0, 0)));
            assertFalse(success);
            assertFalse(other.isHalted(_ids[0]));
        }
    }

    /// @dev Weights that are published in part run nothing, hence halt nothing; they do once the rest is there.
    function test_halt_publishedInPart_reverts() public {
        string memory path = "test/vectors/model-runs.json";
        for (uint256 i = 0; i < 3; ++i) {
            vm.readLine(path);
        }
        ModelRun memory v = readModelRun(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))));
        vm.closeFile(path);
        ModelId modelId =
            registry.register(chunksOf(v.program), v.weightsRoot, v.selector, EXECUTION | BOND, 0);
        address[] memory chunks = storeWeights(v.weights);
        assertFalse(store.publish(modelId, chunks, 5));
        bytes memory reason = abi.encodeWithSelector(IInterpreter.WeightsNotPublished.selector, modelId);
        vm.expectRevert(reason);
        interpreter.haltExecution(modelId, v.inputs[0], 0, 0);
        vm.expectRevert(reason);
        fastInterpreter.haltFast(modelId, v.inputs[0]);
        assertTrue(store.publish(modelId, chunks, ALL));
        vm.expectPartialRevert(IInterpreter.NoDifference.selector);
        interpreter.haltExecution(modelId, v.inputs[0], 0, 0);
    }

    /// @dev Ether at the addresses of what does not exist yet stands in nobody's way.
    function test_publish_etherBefore_succeeds() public {
        RunVector memory v = _runs[0];
        v.selector = 0x0badc0de;
        v.input = bytes.concat(v.selector, this.slice(v.input, 4, v.input.length));
        ModelId modelId = registerRun(v);
        vm.deal(store.directoryOf(modelId), 1);
        vm.deal(planner.planOf(modelId), 1);
        vm.deal(builder.directoryOf(modelId), 1);
        (address chunk,) = store.chunkOf(bytes.concat(hex"01"));
        vm.deal(chunk, 1);
        store.storeChunk(hex"01");
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        compileModel(modelId, v.program, v.weights);
        prepare(modelId);
        assertEq(interpreter.infer(modelId, v.input), v.output);
        assertEq(fastInterpreter.inferFast(modelId, v.input), v.output);
    }

    /// @dev A compiled layer that makes zeros of everything, as nothing that the builder makes can. Its model is halted by
    /// one element, and the plain interpreter, which goes on, need not run.
    function test_haltCompiled_wrongPart_succeeds() public {
        uint256 halted = 0;
        for (uint256 i = 0; i < _runs.length; ++i) {
            if (this.breakLayer(i)) ++halted;
        }
        assertGe(halted, 4);
    }

    /// @return halted false if the model has no compiled layer, or one that makes a zero here
    function breakLayer(uint256 i) external returns (bool halted) {
        bytes memory directory = builder.directoryOf(_ids[i]).code;
        if (directory.length == 0) return false;
        uint256 entry;
        assembly {
            entry := mload(add(directory, 0x21))
        }
        uint256 step = (entry >> 224) - 1;
        uint256 width = uint8(_runs[i].program[_recordOf(i, step) + 1]) == 0 ? 4 : 1;
        bytes memory right = interpreter.tensorAt(_ids[i], _runs[i].input, step);
        if (right[width - 1] == 0) return false;
        vm.expectPartialRevert(IInterpreter.NoDifference.selector);
        interpreter.haltCompiled(_ids[i], _runs[i].input, step, 0);
        assertFalse(_isHalted(_ids[i]));
        // PUSH2 bytes, PUSH0, RETURN: the whole tensor of a step that is one part, else one output row.
        uint16 size = directory.length == 33 ? uint16(right.length) : uint16(entry >> 160);
        vm.etch(address(uint160(entry)), bytes.concat(hex"61", bytes2(size), hex"5ff3"));
        try interpreter.inferCompiled(_ids[i], _runs[i].input) returns (bytes memory) {}
        catch {
            return false;
        }
        _haltCompiled(_ids[i], _runs[i].input, step);
        assertEq(interpreter.infer(_ids[i], _runs[i].input), _runs[i].output);
        return true;
    }

    /// @dev Both ways to run compiled layers end, and nothing else does.
    function _haltCompiled(ModelId modelId, bytes memory input, uint256 step) private {
        vm.expectEmit(true, false, false, false);
        emit IInterpreter.CompiledHalted(modelId, step, 0, 0, 0);
        interpreter.haltCompiled(modelId, input, step, 0);
        assertTrue(fastInterpreter.isFastHalted(modelId));
        assertTrue(interpreter.isCompiledHalted(modelId));
        assertFalse(interpreter.isHalted(modelId));
        bytes memory reason = abi.encodeWithSelector(IInterpreter.CompiledModelHalted.selector, modelId);
        vm.expectRevert(reason);
        interpreter.inferCompiled(modelId, input);
        vm.expectRevert(reason);
        interpreter.haltCompiled(modelId, input, step, 0);
        vm.expectRevert(abi.encodeWithSelector(IFastInterpreter.FastModelHalted.selector, modelId));
        fastInterpreter.inferFast(modelId, input);
    }

    function _recordOf(uint256 i, uint256 step) private view returns (uint256) {
        bytes storage program = _runs[i].program;
        return 32 + 32 * ((uint256(uint8(program[4])) << 8) | uint8(program[5])) + 128 * step;
    }

    /// @dev Every step of every run, compiled layers among them: none is halted by what is right, whatever gas there is.
    /// forge-config: default.fuzz.runs = 2000
    function testFuzz_haltCompiled_rightElements_reverts(uint256 seed) public {
        uint256 i = seed % _runs.length;
        uint256 steps = (uint256(uint8(_runs[i].program[6])) << 8) | uint8(_runs[i].program[7]);
        uint256 element = (seed >> 64) % (4 ** ((seed >> 32) % 5));
        bytes memory data = abi.encodeCall(
            IInterpreter.haltCompiled, (_ids[i], _runs[i].input, (seed >> 8) % steps, element)
        );
        uint256 whole = gasleft();
        (bool success, bytes memory reason) = address(interpreter).call(data);
        whole -= gasleft();
        assertFalse(success);
        bool isThere = bytes4(reason) == IInterpreter.NoDifference.selector;
        assertTrue(isThere || bytes4(reason) == IJudge.ElementOutOfRange.selector);
        (success,) = address(interpreter).call{gas: whole * ((seed >> 40) % 1024) / 1024}(data);
        assertFalse(success);
        assertFalse(_isHalted(_ids[i]));
    }
}
