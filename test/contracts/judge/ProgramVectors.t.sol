// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {OP_CODEC} from "../../../verifier-contracts/types/Program.sol";
import {ModelId, Opening} from "../../../verifier-contracts/types/Types.sol";
import {VectorFixture} from "./VectorFixture.sol";

/// @dev Programs, reveals, codec steps and outputs of the vector files, through the contracts' own entries.
contract ProgramVectorsTest is VectorFixture {
    struct ProgramVector {
        bytes program;
        bool accepted;
        bytes32 programHash;
        bytes32 weightsRoot;
        uint256 modelWord;
        bytes32 modelId;
    }

    struct RevealVector {
        bytes program;
        bytes32 traceRoot;
        bytes32[] tops;
        uint64 position;
        bytes32[] content;
        bytes32[] path;
    }

    struct CodecVector {
        bytes program;
        bytes4 selector;
        bytes input;
        uint256 step;
        bytes32 traceRoot;
        bytes32 tensorRoot;
        bytes32[] path;
    }

    struct OutputCase {
        uint256 bit;
        bool isForm;
        uint256 element;
        uint256 expected;
        uint256 claimed;
        Opening opening;
    }

    struct OutputVector {
        bytes program;
        bytes32 traceRoot;
        bytes output;
        OutputCase[] cases;
    }

    uint256 private _accepted;
    uint256 private _otherSteps;
    uint256 private _wrongForms;
    uint256 private _wrongElements;

    /// @dev Any root does for a program with weights; one without has none.
    function _register(bytes memory program, bytes4 selector) private returns (ModelId) {
        bytes32 root = bytes32(uint256(uint8(program[4]) | uint8(program[5])));
        return registry.register(chunksOf(program), root, selector, BOND, 0);
    }

    function checkProgram(bytes memory blob) external returns (uint256) {
        ProgramVector memory v = abi.decode(blob, (ProgramVector));
        address[] memory chunks = chunksOf(v.program);
        try registry.register(chunks, v.weightsRoot, 0x01020304, BOND, 0) returns (ModelId modelId) {
            assertTrue(v.accepted, "accepts what the TypeScript validator refuses");
            assertEq(registry.modelWord(modelId), v.modelWord);
            assertEq(ModelId.unwrap(modelId), v.modelId);
            ++_accepted;
        } catch (bytes memory reason) {
            assertFalse(v.accepted, "refuses what the TypeScript validator accepts");
            assertTrue(bytes4(reason) == IModelRegistry.InvalidProgram.selector);
        }
        return 1;
    }

    function _checkPrograms(string memory path, uint256 least) private {
        _accepted = 0;
        (uint256 vectors,) = forEachVector(path, this.checkProgram);
        assertGe(vectors, least);
        assertGe(_accepted, vectors / 10, "accepted programs");
        assertLt(_accepted, vectors, "refused programs");
    }

    function test_register_programVectors_succeeds() public {
        _checkPrograms("test/vectors/program.json", 100);
        if (vm.exists("build/vectors/program.json")) _checkPrograms("build/vectors/program.json", 750);
    }

    /// @dev The committed vectors, and the many of build/vectors where they have been made.
    function _checkAll(string memory name, function(bytes memory) external returns (uint256) check) private {
        (uint256 vectors,) = forEachVector(string.concat("test/vectors/", name, ".json"), check);
        assertGe(vectors, 40);
        string memory many = string.concat("build/vectors/", name, ".json");
        if (!vm.exists(many)) return;
        (vectors,) = forEachVector(many, check);
        assertGe(vectors, 250);
    }

    function checkReveal(bytes memory blob) external returns (uint256) {
        RevealVector memory v = abi.decode(blob, (RevealVector));
        ModelId modelId = _register(v.program, SELECTOR);
        uint256 shape = reader.shapeAt(modelId, v.position);
        assertTrue(shape != 0);
        assertEq(reader.foldTops(registry.modelWord(modelId), v.tops), v.traceRoot);
        assertEq(reader.checkReveal(shape, v.position, v.content, v.path), v.traceRoot);
        uint256 random = uint256(keccak256(abi.encode(v.traceRoot, v.position)));
        v.content[random % v.content.length] ^= bytes32(uint256(1) << ((random >> 64) % 256));
        try reader.checkReveal(shape, v.position, v.content, v.path) returns (bytes32 root) {
            assertTrue(root != v.traceRoot, "a corrupted bit was accepted");
        } catch {}
        return 1;
    }

    function test_checkReveal_vectors_succeeds() public {
        _checkAll("reveal", this.checkReveal);
    }

    function checkCodec(bytes memory blob) external returns (uint256) {
        CodecVector memory v = abi.decode(blob, (CodecVector));
        ModelId modelId = _register(v.program, v.selector);
        assertTrue(judge.isCanonicalInput(ModelWord.wrap(registry.modelWord(modelId)), v.input));
        (bytes32 root,) = judge.judgeCodec(modelId, v.traceRoot, v.step, v.input, v.tensorRoot, v.path);
        assertEq(root, v.tensorRoot);
        bytes32 other = v.tensorRoot ^ bytes32(uint256(1));
        bytes memory call =
            abi.encodeCall(judge.judgeCodec, (modelId, v.traceRoot, v.step, v.input, other, v.path));
        assertTrue(bytes4(_refusal(call)) == IJudge.WrongRoot.selector, "another root");
        bytes memory longer = bytes.concat(v.input, hex"00");
        call = abi.encodeCall(judge.judgeCodec, (modelId, v.traceRoot, v.step, longer, v.tensorRoot, v.path));
        assertTrue(bytes4(_refusal(call)) == IJudge.InputNotCanonical.selector, "a longer input");
        bytes32[] memory path = new bytes32[](v.path.length + 1);
        call = abi.encodeCall(judge.judgeCodec, (modelId, v.traceRoot, v.step, v.input, v.tensorRoot, path));
        bytes memory reason =
            abi.encodeWithSelector(IJudge.WrongPathLength.selector, path.length, v.path.length);
        assertEq(_refusal(call), reason, "a longer path");
        _checkOtherStep(modelId, v);
        return 1;
    }

    /// @dev Nothing but the codec's own steps is judged by the input: another opcode's tensor would always differ.
    function _checkOtherStep(ModelId modelId, CodecVector memory v) private {
        uint256 steps = ModelWord.wrap(registry.modelWord(modelId)).steps();
        for (uint256 step = 0; step < steps; ++step) {
            uint256 opcode = uint8(v.program[v.program.length - 128 * (steps - step)]);
            if (opcode == OP_CODEC) continue;
            bytes memory reason = abi.encodeWithSelector(IJudge.WrongOpcode.selector, step, opcode);
            bytes memory call =
                abi.encodeCall(judge.judgeCodec, (modelId, v.traceRoot, step, v.input, v.tensorRoot, v.path));
            assertEq(_refusal(call), reason, "not a step of the codec");
            ++_otherSteps;
        }
    }

    function test_judgeCodec_vectors_succeeds() public {
        _checkAll("codec", this.checkCodec);
        assertGe(_otherSteps, 10);
    }

    function checkClaimed(bytes memory blob) external returns (uint256) {
        CodecVector memory v = abi.decode(blob, (CodecVector));
        ModelId modelId = _register(v.program, v.selector);
        (bytes32 root, bool isOutput) =
            judge.judgeCodec(modelId, v.traceRoot, v.step, v.input, v.tensorRoot, v.path);
        assertEq(root, v.tensorRoot);
        assertTrue(isOutput, "the claimed output");
        // The step beside it reads calldata.
        bytes32[] memory path = new bytes32[](1);
        path[0] = v.tensorRoot;
        bytes memory call =
            abi.encodeCall(judge.judgeCodec, (modelId, v.traceRoot, 0, v.input, v.path[0], path));
        assertTrue(bytes4(_refusal(call)) == IJudge.InputNotCanonical.selector, "an output as calldata");
        bytes memory longer = bytes.concat(v.input, hex"00");
        call = abi.encodeCall(judge.judgeCodec, (modelId, v.traceRoot, v.step, longer, v.tensorRoot, v.path));
        assertTrue(bytes4(_refusal(call)) == IJudge.InputNotCanonical.selector, "a longer output");
        return 1;
    }

    function test_judgeCodec_claimedVectors_succeeds() public {
        _checkAll("claimed", this.checkClaimed);
    }

    function checkOutput(bytes memory blob) external returns (uint256) {
        OutputVector memory v = abi.decode(blob, (OutputVector));
        ModelId modelId = _register(v.program, SELECTOR);
        assertEq(uint32(registry.modelWord(modelId) >> 128), v.output.length, "exact output length");
        for (uint256 i; i < v.cases.length; ++i) {
            OutputCase memory k = v.cases[i];
            Opening[] memory openings = new Opening[](1);
            openings[0] = k.opening;
            Opening[] memory none = new Opening[](0);
            // The right output: no element of it is wrong, and its form is right.
            (uint256 expected, uint256 claimed) =
                judge.judgeOutput(modelId, v.traceRoot, v.output, k.element, openings);
            assertEq(expected, claimed, "a right output");
            bytes memory call =
                abi.encodeCall(judge.judgeOutput, (modelId, v.traceRoot, v.output, k.element, none));
            bytes memory reason = abi.encodeWithSelector(IJudge.WrongOpeningCount.selector, 0, 1);
            assertEq(_refusal(call), reason, "a right form needs an opening");
            // A bit of it turned.
            v.output[k.bit / 8] ^= bytes1(uint8(0x80 >> (k.bit % 8)));
            (expected, claimed) =
                judge.judgeOutput(modelId, v.traceRoot, v.output, k.element, k.isForm ? none : openings);
            assertEq(expected, k.expected, "expected");
            assertEq(claimed, k.claimed, "claimed");
            assertTrue(expected != claimed, "a wrong output");
            if (k.isForm) _wrongForms++;
            else _wrongElements++;
            _checkOpenings(modelId, v, k, openings);
            v.output[k.bit / 8] ^= bytes1(uint8(0x80 >> (k.bit % 8)));
        }
        _checkLengths(modelId, v);
        return 1;
    }

    /// @dev Of a wrong output, too, nothing but the trace's own word is taken, and no word too many.
    function _checkOpenings(
        ModelId modelId,
        OutputVector memory v,
        OutputCase memory k,
        Opening[] memory openings
    ) private view {
        if (k.isForm) {
            bytes memory open = abi.encodeCall(
                judge.judgeOutput, (modelId, v.traceRoot, v.output, k.element, openings)
            );
            assertEq(_refusal(open), abi.encodeWithSelector(IJudge.WrongOpeningCount.selector, 1, 0));
            return;
        }
        openings[0].words[0] ^= bytes32(uint256(1) << (k.bit % 256));
        bytes memory call =
            abi.encodeCall(judge.judgeOutput, (modelId, v.traceRoot, v.output, k.element, openings));
        assertTrue(bytes4(_refusal(call)) == IJudge.WrongRoot.selector, "another word");
        openings[0].words[0] ^= bytes32(uint256(1) << (k.bit % 256));
        call = abi.encodeCall(judge.judgeOutput, (modelId, v.traceRoot, v.output, 1 << 24, openings));
        assertTrue(bytes4(_refusal(call)) == IJudge.ElementOutOfRange.selector, "an element outside");
    }

    function _checkLengths(ModelId modelId, OutputVector memory v) private view {
        bytes[4] memory others =
            [bytes(""), bytes.concat(v.output, hex"00"), bytes.concat(v.output, bytes32(0)), v.output];
        bytes memory shorter = new bytes(v.output.length - 32);
        for (uint256 i; i < shorter.length; ++i) {
            shorter[i] = v.output[i];
        }
        others[3] = shorter;
        for (uint256 i; i < others.length; ++i) {
            (uint256 expected, uint256 claimed) =
                judge.judgeOutput(modelId, v.traceRoot, others[i], 0, new Opening[](0));
            assertTrue(expected == 1 && claimed == 0, "another length");
        }
    }

    function test_judgeOutput_vectors_succeeds() public {
        _checkAll("output", this.checkOutput);
        assertGe(_wrongForms, 40);
        assertGe(_wrongElements, 100);
    }

    function _refusal(bytes memory call) private view returns (bytes memory reason) {
        bool ok;
        (ok, reason) = address(judge).staticcall(call);
        assertFalse(ok, "must be refused");
    }
}
