// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {CodecJudge} from "verifier-contracts/CodecJudge.sol";
import {ModelWord} from "verifier-contracts/libraries/ModelWord.sol";
import {ProgramReader} from "verifier-contracts/libraries/ProgramReader.sol";
import {Shapes} from "verifier-contracts/libraries/Shapes.sol";
import {Outputs} from "verifier-contracts/opcodes/codecs/Outputs.sol";
import {LAYOUT_PLAIN, Record, Tensor} from "verifier-contracts/types/Program.sol";

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
            assertTrue(judge.isCanonicalInput(ModelWord.wrap(model), inputs[i]), names[i]);
            assertEq(
                judge.inputRoot(ModelWord.wrap(model), abi.decode(records[i], (Record)), inputs[i]),
                roots[i],
                names[i]
            );
        }
    }

    function test_isCanonicalInput_refusedVectors_succeeds() public view {
        string[] memory names = vm.parseJsonStringArray(json, ".refused.name");
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".refused.modelWord");
        bytes[] memory inputs = vm.parseJsonBytesArray(json, ".refused.calldata");
        assertGe(names.length, 400, "too few vectors");
        for (uint256 i = 0; i < names.length; ++i) {
            assertFalse(judge.isCanonicalInput(ModelWord.wrap(uint256(models[i])), inputs[i]), names[i]);
        }
    }

    function test_encode_vectors_succeeds() public view {
        string[] memory names = vm.parseJsonStringArray(json, ".outputs.name");
        bytes32[] memory models = vm.parseJsonBytes32Array(json, ".outputs.modelWord");
        bytes[] memory records = vm.parseJsonBytesArray(json, ".outputs.record");
        bytes[] memory contents = vm.parseJsonBytesArray(json, ".outputs.words");
        bytes[] memory outputs = vm.parseJsonBytesArray(json, ".outputs.returnData");
        assertGe(names.length, 25, "too few vectors");
        for (uint256 i = 0; i < names.length; ++i) {
            Record memory record = abi.decode(records[i], (Record));
            uint256 model = uint256(models[i]);
            assertEq(_encode(model, record, _words(contents[i])), outputs[i], names[i]);
            assertEq(outputs[i].length, uint32(model >> 128), names[i]);
            bytes32[] memory garbled = _garbagePadding(record, _words(contents[i]));
            assertEq(_encode(model, record, garbled), outputs[i], names[i]);
            assertTrue(judge.isCanonicalOutput(ModelWord.wrap(model), record, outputs[i]), names[i]);
        }
    }

    function _encode(uint256 model, Record memory record, bytes32[] memory words)
        private
        pure
        returns (bytes memory)
    {
        Tensor memory t =
            Shapes.tensor(LAYOUT_PLAIN, record.head.outputType(), record.head.outputRank(), record.shape);
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(words, 0x20)
        }
        return Outputs.encode(ModelWord.wrap(model).outputCodec(), t, pointer);
    }

    /// @dev Sets every padding bit of the tensor's rows.
    function _garbagePadding(Record memory record, bytes32[] memory words)
        private
        pure
        returns (bytes32[] memory)
    {
        uint256 rank = record.head.outputRank();
        uint256 code = record.head.outputType();
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
