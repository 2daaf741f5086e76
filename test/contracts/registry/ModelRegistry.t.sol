// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {RecordHead} from "../../../verifier-contracts/libraries/RecordHead.sol";
import {ProgramField, ProgramPart} from "../../../verifier-contracts/types/Program.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "./ProgramBuilder.sol";
import {RegistryTest} from "./RegistryTest.sol";

/// @dev Creates a data contract that is destroyed at the end of the transaction, although it has code until then.
contract Vanishing {
    constructor(bytes memory code, Destroyer destroyer) {
        (bool ok,) = address(destroyer).delegatecall(abi.encodeCall(Destroyer.destroy, ()));
        require(ok, "destroy");
        assembly {
            return(add(code, 32), mload(code))
        }
    }
}

contract Destroyer {
    function destroy() external {
        selfdestruct(payable(address(0)));
    }
}

contract ModelRegistryTest is RegistryTest {
    using B for B.Draft;

    function _program() private pure returns (bytes memory) {
        B.Draft memory d = B.start(3, 100, 1);
        d.int16s(B.dims2(3, 5), 7);
        return d.bytesOf();
    }

    /// @dev `steps` copies of one int16s step; the last one is [2, 9], the others [1].
    function _long(uint256 steps) private pure returns (bytes memory program) {
        B.Draft memory one = B.start(3, 100, 1);
        one.int16s(B.dims1(1), 0);
        B.Draft memory last = B.start(3, 100, 1);
        last.int16s(B.dims2(2, 9), 3);
        program = new bytes(32 + 128 * steps);
        bytes memory head = one.bytesOf();
        bytes memory tail = last.bytesOf();
        assembly {
            mstore(add(program, 32), mload(add(head, 32)))
            for { let i := 0 } lt(i, steps) { i := add(i, 1) } {
                let from := add(head, 64)
                if eq(i, sub(steps, 1)) { from := add(tail, 64) }
                mcopy(add(add(program, 64), mul(128, i)), from, 128)
            }
        }
        program[6] = bytes1(uint8(steps >> 8));
        program[7] = bytes1(uint8(steps));
    }

    function test_storeChunk_createsStopAndBytes_succeeds() public {
        address chunk = registry.storeChunk(hex"0102030405");
        assertEq(chunk.code, hex"000102030405");
        bytes32 initCodeHash = keccak256(hex"61000680600a3d393df3000102030405");
        bytes32 digest = keccak256(abi.encodePacked(hex"ff", address(registry), bytes32(0), initCodeHash));
        assertEq(chunk, address(uint160(uint256(digest))));
    }

    function test_storeChunk_sameBytesTwice_succeeds() public {
        assertEq(registry.storeChunk(hex"aa"), registry.storeChunk(hex"aa"));
    }

    function test_storeChunk_longest_succeeds() public {
        assertEq(registry.storeChunk(new bytes(CHUNK)).code.length, CHUNK + 1);
    }

    function test_storeChunk_empty_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongChunkLength.selector, 0, CHUNK));
        registry.storeChunk("");
    }

    function test_storeChunk_tooLong_reverts() public {
        bytes memory chunk = new bytes(CHUNK + 1);
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongChunkLength.selector, CHUNK + 1, CHUNK));
        registry.storeChunk(chunk);
    }

    /// @dev 63 of 64 parts of the gas fail inside the creation, and the rest would be enough to mark it as made.
    function test_storeChunk_tooLittleGas_reverts() public {
        bytes memory chunk = new bytes(CHUNK);
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.ChunkNotStored.selector, CHUNK));
        registry.storeChunk{gas: 4_700_000}(chunk);
        assertEq(registry.storeChunk(chunk).code.length, CHUNK + 1);
    }

    function test_register_hashesContent_succeeds() public {
        bytes memory program = _program();
        address[] memory chunks = chunksOf(program);
        bytes32 expected = keccak256(
            abi.encode(
                keccak256(program),
                bytes32(0),
                SELECTOR,
                uint32(4 + 64 + 32 * 7),
                uint32(32 * 15),
                uint8(5),
                bytes32(0),
                uint16(1)
            )
        );
        // registered, BOND and EXECUTION, d = 1, trace height 0, one step, no weights, codecs and sizes.
        uint256 word = 1 | (5 << 8) | (1 << 16) | (1 << 32) | (uint256(0x11223344) << 64);
        word |= (uint256(292) << 96) | (uint256(480) << 128) | (uint256(3) << 160) | (uint256(1) << 168);
        word |= uint256(100) << 176;
        vm.expectEmit(address(registry));
        emit IModelRegistry.ModelRegistered(
            ModelId.wrap(expected), keccak256(program), 0, 0, ModelWord.wrap(word)
        );
        ModelId modelId = registry.register(chunks, 0, SELECTOR, 5, 0);
        assertEq(ModelId.unwrap(modelId), expected);
        assertEq(registry.modelWord(modelId), word);
        assertEq(registry.programChunks(modelId)[0], chunks[0]);
        assertEq(_records(modelId, program, 1), 1);
    }

    function test_register_twice_succeeds() public {
        ModelId first = register(_program(), 0);
        address[] memory chunks = chunksOf(_program());
        vm.recordLogs();
        assertEq(ModelId.unwrap(registry.register(chunks, 0, SELECTOR, BOND, 0)), ModelId.unwrap(first));
        assertEq(vm.getRecordedLogs().length, 0, "announced again");
        assertEq(registry.programChunks(first).length, 1);
    }

    function test_register_proofLane_succeeds() public {
        ModelId modelId = registry.register(chunksOf(_program()), 0, SELECTOR, 2, bytes32(uint256(9)));
        assertEq(registry.vkHash(modelId), bytes32(uint256(9)));
    }

    function _same(address[] memory found, address[] memory chunks) private pure {
        assertEq(abi.encode(found), abi.encode(chunks));
    }

    /// @dev 575 steps and the header fill three chunks to the last byte.
    function test_register_wholeChunks_succeeds() public {
        bytes memory program = _long(575);
        assertEq(program.length, 3 * CHUNK);
        address[] memory chunks = chunksOf(program);
        ModelId modelId = registry.register(chunks, 0, SELECTOR, 6, bytes32(uint256(9)));
        _same(registry.programChunks(modelId), chunks);
        (ModelWord word, bytes32 root, address[] memory found) = registry.modelOf(modelId);
        _same(found, chunks);
        assertEq(ModelWord.unwrap(word), registry.modelWord(modelId));
        assertEq(root, 0);
        (word, found) = registry.programOf(modelId);
        _same(found, chunks);
        assertEq(ModelWord.unwrap(word), registry.modelWord(modelId));
        (word, root, found) = registry.proofModelOf(modelId);
        _same(found, chunks);
        assertEq(ModelWord.unwrap(word), registry.modelWord(modelId));
        assertEq(root, bytes32(uint256(9)), "key");
    }

    function test_register_weightsRoot_succeeds() public {
        B.Draft memory d = B.start(3, 100, 1);
        d.weight(1, 2, B.dims1(1));
        d.int16s(B.dims2(3, 5), 7);
        bytes32 weights = keccak256("weights");
        ModelId modelId = register(d.bytesOf(), weights);
        assertEq(registry.weightsRoot(modelId), weights);
        (, bytes32 root,) = registry.modelOf(modelId);
        assertEq(root, weights);
    }

    /// @dev The table of docs/PROTOCOL.md, section 1.
    function testFuzz_modelWord_fields_succeeds(uint256 word) public pure {
        ModelWord w = ModelWord.wrap(word);
        assertEq(w.lanes(), word >> 8 & 0xff);
        assertEq(w.depth(), word >> 16 & 0xff);
        assertEq(w.traceHeight(), word >> 24 & 0xff);
        assertEq(w.steps(), word >> 32 & 0xffff);
        assertEq(w.weights(), word >> 48 & 0xffff);
        assertEq(uint32(w.selector()), word >> 64 & 0xffffffff);
        assertEq(w.selectorCode(), word >> 64 & 0xffffffff);
        assertEq(w.maxCalldata(), word >> 96 & 0xffffffff);
        assertEq(w.outputLength(), word >> 128 & 0xffffffff);
        assertEq(w.inputCodec(), word >> 160 & 0xff);
        assertEq(w.outputCodec(), word >> 168 & 0xff);
        assertEq(w.inputSize(), word >> 176 & 0xffffffff);
    }

    function test_proofModelOf_unknown_reverts() public {
        ModelId never = ModelId.wrap(keccak256("never"));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, never));
        registry.proofModelOf(never);
    }

    /// @dev 191 steps fill the first chunk but 64 bytes, so record 191 straddles the two.
    function test_register_recordAcrossChunks_succeeds() public {
        bytes memory program = _long(192);
        ModelId modelId = register(program, 0);
        assertEq(_records(modelId, program, 191), 2);
        assertEq(registry.programChunks(modelId).length, 2);
    }

    /// @dev A path through the trace's tree needs a second demand from 65 steps on.
    function test_register_traceDepth_succeeds() public {
        uint8[3] memory steps = [64, 65, 128];
        uint16[3] memory heightAndDepth = [0x0601, 0x0702, 0x0702];
        for (uint256 i = 0; i < 3; ++i) {
            ModelId modelId = register(_long(steps[i]), 0);
            assertEq(registry.modelWord(modelId) >> 16 & 0xFFFF, heightAndDepth[i]);
        }
    }

    function test_register_mostSteps_succeeds() public {
        address[] memory chunks = chunksOf(_long(2048));
        ModelId modelId = registry.register(chunks, 0, SELECTOR, BOND, 0);
        // h_trace = 11 adds one demand.
        assertEq((registry.modelWord(modelId) >> 16) & 0xFFFF, 2 | (11 << 8));
        assertEq(_records(modelId, _long(2048), 256), 8);
    }

    function test_register_tooManySteps_reverts() public {
        rejects(_long(2049), ProgramPart.HEADER, 0, ProgramField.STEPS, 2049);
    }

    function test_register_foreignChunk_reverts() public {
        Vanishing foreign = new Vanishing(bytes.concat(hex"00", _program()), new Destroyer());
        address[] memory chunks = new address[](1);
        chunks[0] = address(foreign);
        assertEq(chunks[0].code, bytes.concat(hex"00", _program()));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownChunk.selector, chunks[0]));
        registry.register(chunks, 0, SELECTOR, BOND, 0);
    }

    function test_register_shortChunkBeforeLast_reverts() public {
        bytes memory program = _program();
        address[] memory chunks = new address[](2);
        chunks[0] = registry.storeChunk(this.slice(program, 0, 96));
        chunks[1] = registry.storeChunk(this.slice(program, 96, 160));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.ChunkNotFull.selector, 0, 96));
        registry.register(chunks, 0, SELECTOR, BOND, 0);
    }

    function test_register_noChunks_reverts() public {
        vm.expectRevert(
            abi.encodeWithSelector(
                IModelRegistry.InvalidProgram.selector, ProgramPart.HEADER, 0, ProgramField.LENGTH, 0
            )
        );
        registry.register(new address[](0), 0, SELECTOR, BOND, 0);
    }

    function test_register_noLanes_reverts() public {
        address[] memory chunks = chunksOf(_program());
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongLanes.selector, 0));
        registry.register(chunks, 0, SELECTOR, 0, 0);
    }

    function test_register_unknownLane_reverts() public {
        address[] memory chunks = chunksOf(_program());
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongLanes.selector, 12));
        registry.register(chunks, 0, SELECTOR, 12, 0);
    }

    function test_register_keyWithoutProofLane_reverts() public {
        address[] memory chunks = chunksOf(_program());
        bytes32 key = bytes32(uint256(9));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongVerificationKey.selector, 4, key));
        registry.register(chunks, 0, SELECTOR, BOND, key);
    }

    function test_register_proofLaneWithoutKey_reverts() public {
        address[] memory chunks = chunksOf(_program());
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongVerificationKey.selector, 6, bytes32(0)));
        registry.register(chunks, 0, SELECTOR, 6, 0);
    }

    function test_register_weightsRootWithoutWeights_reverts() public {
        address[] memory chunks = chunksOf(_program());
        bytes32 root = bytes32(uint256(1));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.WrongWeightsRoot.selector, root));
        registry.register(chunks, root, SELECTOR, BOND, 0);
    }

    function test_modelOf_unknown_reverts() public {
        ModelId modelId = ModelId.wrap(bytes32(uint256(5)));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, modelId));
        registry.modelOf(modelId);
        assertEq(registry.modelWord(modelId), 0);
    }

    function test_stepOf_noStep_succeeds() public {
        ModelId modelId = register(_program(), 0);
        (ModelWord word, RecordHead head, uint256 shape) = registry.stepOf(modelId, 1);
        assertEq(ModelWord.unwrap(word), registry.modelWord(modelId));
        assertEq(RecordHead.unwrap(head) | shape, 0);
        // Its record would be where that of step 0 is, modulo 2^256.
        (word, head, shape) = registry.stepOf(modelId, 1 << 249);
        assertEq(ModelWord.unwrap(word), registry.modelWord(modelId));
        assertEq(RecordHead.unwrap(head) | shape, 0);
    }

    /// @dev Compares every `stride`th record with the program's bytes. @return compared how many
    function _records(ModelId modelId, bytes memory program, uint256 stride)
        private
        view
        returns (uint256 compared)
    {
        uint256 last = (program.length - 32) / 128 - 1;
        for (uint256 step = last % stride; step <= last; step += stride) {
            (, RecordHead head, uint256 shape) = registry.stepOf(modelId, step);
            uint256 pointer;
            assembly {
                pointer := add(add(program, 0x40), mul(128, step))
            }
            assertEq(RecordHead.unwrap(head), _memory(pointer));
            assertEq(shape, _memory(pointer + 32));
            compared++;
        }
    }

    function _memory(uint256 pointer) private pure returns (uint256 word) {
        assembly {
            word := mload(pointer)
        }
    }
}
