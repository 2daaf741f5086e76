// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {CodecJudge} from "verifier-contracts/CodecJudge.sol";
import {Record} from "verifier-contracts/types/Program.sol";

/// @notice The codecs against test/vectors/codecs.json, which tools/make-codec-vectors.ts wrote with the codecs of
/// inference/; through the judge's own entries.
contract CodecVectorsTest is Test {
    CodecJudge private judge;
    string private json;

    function setUp() public {
        judge = new CodecJudge();
        json = vm.readFile("test/vectors/codecs.json");
    }

    function test_inputRoot_vectors_succeeds() public view {
        string[] memory names = vm.parseJsonStringArray(json, ".inputs.name");
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".inputs.modelWord");
        bytes[] memory records = vm.parseJsonBytesArray(json, ".inputs.record");
        bytes[] memory inputs = vm.parseJsonBytesArray(json, ".inputs.calldata");
        bytes32[] memory roots = vm.parseJsonBytes32Array(json, ".inputs.root");
        assertGe(names.length, 150, "too few vectors");
        for (uint256 i = 0; i < names.length; ++i) {
            uint256 model = uint256(models[i]);
            assertTrue(judge.isCanonicalInput(model, inputs[i]), names[i]);
            assertEq(judge.inputRoot(model, abi.decode(records[i], (Record)), inputs[i]), roots[i], names[i]);
        }
    }

    function test_isCanonicalInput_refusedVectors_succeeds() public view {
        string[] memory names = vm.parseJsonStringArray(json, ".refused.name");
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".refused.modelWord");
        bytes[] memory inputs = vm.parseJsonBytesArray(json, ".refused.calldata");
        assertGe(names.length, 400, "too few vectors");
        for (uint256 i = 0; i < names.length; ++i) {
            assertFalse(judge.isCanonicalInput(uint256(models[i]), inputs[i]), names[i]);
        }
    }

    function test_outputHash_vectors_succeeds() public view {
        string[] memory names = vm.parseJsonStringArray(json, ".outputs.name");
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".outputs.modelWord");
        bytes[] memory records = vm.parseJsonBytesArray(json, ".outputs.record");
        bytes[] memory contents = vm.parseJsonBytesArray(json, ".outputs.words");
        bytes[] memory outputs = vm.parseJsonBytesArray(json, ".outputs.returnData");
        assertGe(names.length, 25, "too few vectors");
        for (uint256 i = 0; i < names.length; ++i) {
            Record memory record = abi.decode(records[i], (Record));
            uint256 model = uint256(models[i]);
            bytes32 expected = keccak256(outputs[i]);
            assertEq(judge.outputHash(model, record, _words(contents[i])), expected, names[i]);
            assertEq(outputs[i].length, uint32(model >> 128), names[i]);
            bytes32[] memory garbled = _garbagePadding(record, _words(contents[i]));
            assertEq(judge.outputHash(model, record, garbled), expected, names[i]);
        }
    }

    /// @dev Sets every padding bit of the tensor's rows.
    function _garbagePadding(Record memory record, bytes32[] memory words)
        private
        pure
        returns (bytes32[] memory)
    {
        uint256 rank = uint8(record.head >> 224);
        uint256 code = uint8(record.head >> 232);
        uint256 size = uint32(record.shape >> (256 - 32 * rank)) * (code == 2 || code == 3 ? 4 : 1);
        uint256 rowWords = (size + 31) / 32;
        for (uint256 i = rowWords - 1; i < words.length; i += rowWords) {
            words[i] |= bytes32(size % 32 == 0 ? 0 : type(uint256).max >> (8 * (size % 32)));
        }
        return words;
    }

    function _words(bytes memory content) private pure returns (bytes32[] memory words) {
        words = new bytes32[](content.length / 32);
        for (uint256 i = 0; i < words.length; ++i) {
            assembly ("memory-safe") {
                let offset := shl(5, add(i, 1))
                mstore(add(words, offset), mload(add(content, offset)))
            }
        }
    }
}
