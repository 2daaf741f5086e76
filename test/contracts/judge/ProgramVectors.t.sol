// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {OP_CODEC} from "../../../verifier-contracts/types/Program.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
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

    struct OutputVector {
        bytes program;
        bytes32 traceRoot;
        bytes32[] words;
        bytes32[] path;
        bytes output;
        bytes32 outputHash;
    }

    uint256 private _accepted;
    uint256 private _otherSteps;

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
        assertTrue(judge.isCanonicalInput(registry.modelWord(modelId), v.input));
        assertEq(judge.judgeCodec(modelId, v.traceRoot, v.step, v.input, v.tensorRoot, v.path), v.tensorRoot);
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
        uint256 steps = ModelWord.steps(registry.modelWord(modelId));
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

    function checkOutput(bytes memory blob) external returns (uint256) {
        OutputVector memory v = abi.decode(blob, (OutputVector));
        ModelId modelId = _register(v.program, SELECTOR);
        assertEq(judge.judgeOutput(modelId, v.traceRoot, v.words, v.path), v.outputHash);
        assertEq(keccak256(v.output), v.outputHash);
        assertEq(uint32(registry.modelWord(modelId) >> 128), v.output.length, "exact output length");
        uint256 random = uint256(v.traceRoot);
        v.words[random % v.words.length] ^= bytes32(uint256(1) << ((random >> 64) % 256));
        bytes memory call = abi.encodeCall(judge.judgeOutput, (modelId, v.traceRoot, v.words, v.path));
        assertTrue(bytes4(_refusal(call)) == IJudge.WrongRoot.selector, "another bit");
        bytes32[] memory words = new bytes32[](v.words.length + 1);
        call = abi.encodeCall(judge.judgeOutput, (modelId, v.traceRoot, words, v.path));
        bytes memory expected =
            abi.encodeWithSelector(IJudge.WrongWordCount.selector, words.length, v.words.length);
        assertEq(_refusal(call), expected, "a longer tensor");
        return 1;
    }

    function test_judgeOutput_vectors_succeeds() public {
        _checkAll("output", this.checkOutput);
    }

    function _refusal(bytes memory call) private view returns (bytes memory reason) {
        bool ok;
        (ok, reason) = address(judge).staticcall(call);
        assertFalse(ok, "must be refused");
    }
}
