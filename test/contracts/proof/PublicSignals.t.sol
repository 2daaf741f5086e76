// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {PublicSignals} from "../../../verifier-contracts/proof/PublicSignals.sol";
import {ProgramBuilder} from "../registry/ProgramBuilder.sol";
import {RegistryTest} from "../registry/RegistryTest.sol";

/// @notice PublicSignals against test/vectors/public-signals.json (tools/make-signal-vectors.ts).
contract PublicSignalsTest is RegistryTest {
    using ProgramBuilder for ProgramBuilder.Draft;

    struct Sample {
        uint256 modelWord;
        bytes program;
        bytes input;
        bytes output;
    }

    /// @dev A vector with s32 lanes in several rows, in and out.
    bytes32 private constant SAMPLE = keccak256("int16s [3,5]");

    string private json;
    Sample private sample;

    function setUp() public override {
        super.setUp();
        json = vm.readFile("test/vectors/public-signals.json");
        string[] memory names = vm.parseJsonStringArray(json, ".signals.name");
        uint256 i = 0;
        while (keccak256(bytes(names[i])) != SAMPLE) ++i;
        sample.modelWord = uint256(vm.parseJsonBytes32Array(json, ".signals.modelWord")[i]);
        sample.program = vm.parseJsonBytesArray(json, ".signals.program")[i];
        sample.input = vm.parseJsonBytesArray(json, ".signals.input")[i];
        sample.output = vm.parseJsonBytesArray(json, ".signals.output")[i];
    }

    function test_build_vectors_succeeds() public {
        string[] memory names = vm.parseJsonStringArray(json, ".signals.name");
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".signals.modelWord");
        bytes[] memory programs = vm.parseJsonBytesArray(json, ".signals.program");
        bytes[] memory inputs = vm.parseJsonBytesArray(json, ".signals.input");
        bytes[] memory outputs = vm.parseJsonBytesArray(json, ".signals.output");
        bytes32[] memory modelIds = vm.parseJsonBytes32Array(json, ".signals.modelId");
        bytes[] memory expected = vm.parseJsonBytesArray(json, ".signals.signals");
        assertGe(names.length, 30, "too few vectors");
        for (uint256 i = 0; i < names.length; ++i) {
            bytes32 binding = _binding(modelIds[i]);
            (bool canonical, uint256[] memory signals) =
                this.build(uint256(models[i]), chunksOf(programs[i]), inputs[i], outputs[i], binding);
            assertTrue(canonical, names[i]);
            assertEq(abi.encodePacked(signals), expected[i], names[i]);
        }
    }

    function test_build_refusedOutputs_succeeds() public {
        string[] memory names = vm.parseJsonStringArray(json, ".refused.name");
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".refused.modelWord");
        bytes[] memory programs = vm.parseJsonBytesArray(json, ".refused.program");
        bytes[] memory inputs = vm.parseJsonBytesArray(json, ".refused.input");
        bytes[] memory outputs = vm.parseJsonBytesArray(json, ".refused.output");
        assertGe(names.length, 100, "too few vectors");
        for (uint256 i = 0; i < names.length; ++i) {
            (bool canonical,) =
                this.build(uint256(models[i]), chunksOf(programs[i]), inputs[i], outputs[i], 0);
            assertFalse(canonical, names[i]);
        }
    }

    function test_build_inputNotCanonical_succeeds() public {
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".signals.modelWord");
        bytes[] memory programs = vm.parseJsonBytesArray(json, ".signals.program");
        bytes[] memory inputs = vm.parseJsonBytesArray(json, ".signals.input");
        bytes[] memory outputs = vm.parseJsonBytesArray(json, ".signals.output");
        for (uint256 i = 0; i < models.length; ++i) {
            bytes memory longer = bytes.concat(inputs[i], new bytes(32));
            (bool canonical,) = this.build(uint256(models[i]), chunksOf(programs[i]), longer, outputs[i], 0);
            assertFalse(canonical);
        }
    }

    /// @dev One flipped bit anywhere in the output changes a signal or is refused.
    function testFuzz_build_flippedOutput_succeeds(uint256 position, uint256 bit) public {
        address[] memory chunks = chunksOf(sample.program);
        bytes memory output = sample.output;
        (, uint256[] memory right) = this.build(sample.modelWord, chunks, sample.input, output, 0);
        position = bound(position, 0, output.length - 1);
        output[position] = bytes1(uint8(output[position]) ^ uint8(1 << bound(bit, 0, 7)));
        (bool canonical, uint256[] memory signals) =
            this.build(sample.modelWord, chunks, sample.input, output, 0);
        assertTrue(!canonical || keccak256(abi.encode(signals)) != keccak256(abi.encode(right)));
    }

    /// @dev What it writes is its own memory.
    function test_stepsOf_memory_succeeds() public {
        address[] memory chunks = chunksOf(sample.program);
        bytes memory before = bytes.concat(sample.program, sample.program);
        bytes32 expected = keccak256(before);
        bytes memory steps = PublicSignals.stepsOf(ModelWord.wrap(sample.modelWord), chunks);
        bytes memory behind = new bytes(2 * sample.program.length);
        assertEq(keccak256(before), expected, "memory before");
        assertEq(keccak256(behind), keccak256(new bytes(behind.length)), "memory behind");
        assertEq(steps.length, 2 * 64);
        bytes memory none;
        assertEq(none.length, 0, "the zero slot");
    }

    function test_build_floatTensor_reverts() public {
        bytes memory program = sample.program;
        // The record of the CODEC step, behind the header and one descriptor: its third byte is the type.
        program[32 + 32 + 2] = 0x03;
        address[] memory chunks = chunksOf(program);
        vm.expectRevert(abi.encodeWithSelector(PublicSignals.NoPublicSignals.selector, 0));
        this.build(sample.modelWord, chunks, sample.input, sample.output, 0);
    }

    function build(
        uint256 modelWord,
        address[] calldata chunks,
        bytes calldata input,
        bytes calldata output,
        bytes32 binding
    ) external view returns (bool, uint256[] memory) {
        bytes memory steps = PublicSignals.stepsOf(ModelWord.wrap(modelWord), chunks);
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(steps, 0x20)
        }
        PublicSignals.Plan memory plan = PublicSignals.plan(ModelWord.wrap(modelWord), pointer, steps.length);
        plan.binding = binding;
        return PublicSignals.build(plan, input, output);
    }

    function _binding(bytes32 modelId) private view returns (bytes32) {
        address proofLane = vm.parseJsonAddress(json, ".proofLane");
        address submitter = vm.parseJsonAddress(json, ".submitter");
        uint256 chainId = vm.parseJsonUint(json, ".chainId");
        return keccak256(abi.encode(chainId, proofLane, modelId, submitter));
    }
}
