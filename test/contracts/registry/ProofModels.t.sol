// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {CodecJudge} from "../../../verifier-contracts/CodecJudge.sol";
import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {Judge} from "../../../verifier-contracts/Judge.sol";
import {TraceReader} from "../../../verifier-contracts/TraceReader.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {ModelId, Opening} from "../../../verifier-contracts/types/Types.sol";
import {RegistryTest} from "./RegistryTest.sol";

/// @notice Models without a program: only proofs make their outputs final.
contract ProofModelsTest is RegistryTest {
    bytes32 private constant KEY = bytes32(uint256(9));

    function test_registerProofModel_hashesContent_succeeds() public {
        bytes32 programHash = keccak256(
            abi.encode(keccak256("assay model without a program"), uint256(3), uint256(1), uint256(100))
        );
        bytes32 expected = keccak256(
            abi.encode(
                programHash,
                bytes32(0),
                SELECTOR,
                uint32(4 + 64 + 32 * 7),
                uint32(32 * 15),
                uint8(2),
                KEY,
                uint16(1)
            )
        );
        // registered, PROOF, d = 0, no steps, no weights, codecs int16s and words, sizes.
        uint256 word = 1 | (2 << 8) | (uint256(0x11223344) << 64) | (uint256(292) << 96);
        word |= (uint256(480) << 128) | (uint256(3) << 160) | (uint256(1) << 168) | (uint256(100) << 176);
        vm.expectEmit(address(registry));
        emit IModelRegistry.ModelRegistered(ModelId.wrap(expected), programHash, 0, KEY, ModelWord.wrap(word));
        ModelId modelId = registry.registerProofModel(SELECTOR, 100, 15, KEY);
        assertEq(ModelId.unwrap(modelId), expected);
        // What TypeScript computes: test/inference/manifest/proof-model.test.ts.
        assertEq(expected, 0xa4957058be45ad1da97ddc35b394d0fcfd795c2cdcd3c408e54feace5fe5785a);
        assertEq(registry.modelWord(modelId), word);
        assertEq(registry.vkHash(modelId), KEY);
        assertEq(registry.weightsRoot(modelId), 0);
        assertEq(registry.programChunks(modelId).length, 0);
    }

    function test_registerProofModel_twice_succeeds() public {
        ModelId first = registry.registerProofModel(SELECTOR, 4096, 256, KEY);
        vm.recordLogs();
        assertEq(ModelId.unwrap(registry.registerProofModel(SELECTOR, 4096, 256, KEY)), ModelId.unwrap(first));
        assertEq(vm.getRecordedLogs().length, 0, "announced again");
    }

    /// @dev Selector, offset, length, and 16 numbers a word.
    function test_registerProofModel_calldata_succeeds() public {
        uint16[4] memory inputs = [1, 16, 17, 4096];
        uint16[4] memory words = [1, 1, 2, 256];
        for (uint256 i = 0; i < 4; ++i) {
            ModelId modelId = registry.registerProofModel(SELECTOR, inputs[i], 1, KEY);
            assertEq(uint32(registry.modelWord(modelId) >> 96), 68 + 32 * uint256(words[i]));
        }
    }

    function test_proofModelOf_withoutProgram_succeeds() public {
        ModelId modelId = registry.registerProofModel(SELECTOR, 1, 1, KEY);
        (ModelWord word, bytes32 key, address[] memory chunks) = registry.proofModelOf(modelId);
        assertEq(ModelWord.unwrap(word), registry.modelWord(modelId));
        assertEq(key, KEY);
        assertEq(chunks.length, 0);
    }

    /// @dev 97 and 100 numbers take seven words both: whoever registers first must not fix the other's size.
    function testFuzz_registerProofModel_otherSizes_succeeds(uint32 a, uint32 b, uint32 y, uint32 z) public {
        (a, b) = (uint32(bound(a, 1, 4096)), uint32(bound(b, 1, 4096)));
        (y, z) = (uint32(bound(y, 1, 256)), uint32(bound(z, 1, 256)));
        ModelId first = registry.registerProofModel(SELECTOR, a, y, KEY);
        ModelId second = registry.registerProofModel(SELECTOR, b, z, KEY);
        assertEq(ModelId.unwrap(first) == ModelId.unwrap(second), a == b && y == z);
        assertEq(uint32(registry.modelWord(second) >> 176), b);
        assertEq(uint32(registry.modelWord(second) >> 128), 32 * z);
    }

    function test_registerProofModel_sizes_reverts() public {
        _rejects(0, 1, 0, 4096);
        _rejects(4097, 1, 4097, 4096);
        _rejects(1, 0, 0, 256);
        _rejects(1, 257, 257, 256);
        _rejects(type(uint32).max, 1, type(uint32).max, 4096);
    }

    function _rejects(uint32 inputs, uint32 outputs, uint256 count, uint256 limit) private {
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongElementCount.selector, count, limit));
        registry.registerProofModel(SELECTOR, inputs, outputs, KEY);
    }

    function test_registerProofModel_withoutKey_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongVerificationKey.selector, 2, bytes32(0)));
        registry.registerProofModel(SELECTOR, 1, 1, 0);
    }

    function test_modelOf_withoutProgram_reverts() public {
        ModelId modelId = registry.registerProofModel(SELECTOR, 1, 1, KEY);
        bytes memory why = abi.encodeWithSelector(IModelRegistry.NoProgram.selector, modelId);
        vm.expectRevert(why);
        registry.modelOf(modelId);
        vm.expectRevert(why);
        registry.programOf(modelId);
        vm.expectRevert(why);
        registry.stepOf(modelId, 0);
    }

    /// @dev Nothing can be claimed, so nothing is judged; the judge says so all the same.
    function test_judgeOutput_withoutProgram_reverts() public {
        ModelId modelId = registry.registerProofModel(SELECTOR, 1, 1, KEY);
        Judge judge = new Judge(registry, new FloatJudge(), new CodecJudge());
        TraceReader reader = new TraceReader(registry);
        bytes memory why = abi.encodeWithSelector(IModelRegistry.NoProgram.selector, modelId);
        bytes32[] memory none = new bytes32[](0);
        vm.expectRevert(why);
        judge.judgeOutput(modelId, 0, "", 0, new Opening[](0));
        vm.expectRevert(why);
        judge.judgeElement(modelId, 0, 0, 0, new Opening[](0));
        vm.expectRevert(why);
        judge.judgeCodec(modelId, 0, 0, "", 0, none);
        vm.expectRevert(why);
        reader.shapeAt(modelId, 0);
        assertEq(reader.shapeAt(modelId, uint64(0xFFFF) << 48), 0, "no position is inside");
    }
}
