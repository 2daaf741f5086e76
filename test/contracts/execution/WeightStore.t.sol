// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {IWeightStore} from "../../../verifier-contracts/interfaces/IWeightStore.sol";
import {Directory} from "../../../verifier-contracts/libraries/Directory.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {ExecutionFixture} from "./ExecutionFixture.sol";

/// @dev Init code that creates a contract with the code of a data contract and destroys it in the same transaction.
contract Vanishing {
    constructor() {
        selfdestruct(payable(msg.sender));
    }
}

/// @dev Code of a data contract, created by somebody else than the store.
contract Foreign {
    constructor(bytes memory data) {
        bytes memory code = bytes.concat(hex"00", data);
        assembly {
            return(add(code, 32), mload(code))
        }
    }
}

contract WeightStoreTest is ExecutionFixture {
    using B for B.Draft;

    /// @dev models/sentiment: a table of 4,096 rows and six more weight tensors, 393,588 bytes.
    ModelRun private _run;
    ModelId private _modelId;
    address[] private _chunks;

    function setUp() public override {
        super.setUp();
        string memory path = "test/vectors/model-runs.json";
        for (uint256 i = 0; i < 3; ++i) {
            vm.readLine(path);
        }
        bytes memory line = bytes(vm.readLine(path));
        vm.closeFile(path);
        _run = readModelRun(vm.parseBytes(this.unquoted(line)));
        _modelId =
            registry.register(chunksOf(_run.program), _run.weightsRoot, _run.selector, EXECUTION | BOND, 0);
        _chunks = storeWeights(_run.weights);
    }

    function _expectNotStored() private {
        vm.expectPartialRevert(IWeightStore.DataNotStored.selector);
    }

    function test_storeChunk_twice_succeeds() public {
        (address pointer, bool stored) = store.chunkOf(hex"0102");
        assertFalse(stored);
        assertEq(store.storeChunk(hex"0102"), pointer);
        assertEq(store.storeChunk(hex"0102"), pointer);
        assertEq(pointer.code, hex"000102");
        (, stored) = store.chunkOf(hex"0102");
        assertTrue(stored);
    }

    function test_storeChunk_length_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.WrongChunkLength.selector, 0, CHUNK));
        store.storeChunk("");
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.WrongChunkLength.selector, CHUNK + 1, CHUNK));
        store.storeChunk(new bytes(CHUNK + 1));
        store.storeChunk(new bytes(CHUNK));
    }

    /// @dev A call that runs out of gas in the creation must not leave the chunk marked as stored.
    function test_storeChunk_littleGas_reverts() public {
        bytes memory chunk = new bytes(20_000);
        _expectNotStored();
        store.storeChunk{gas: 1_000_000}(chunk);
        assertTrue(store.storeChunk(chunk).code.length == 20_001);
    }

    function test_publish_atOnce_succeeds() public {
        assertFalse(store.isPublished(_modelId));
        vm.expectEmit(address(store));
        emit IWeightStore.WeightsPublished(_modelId, store.directoryOf(_modelId), _chunks.length);
        assertTrue(store.publish(_modelId, _chunks, ALL));
        assertTrue(store.isPublished(_modelId));
        assertEq(interpreter.infer(_modelId, _run.inputs[0]), _run.outputs[0]);
    }

    function test_publish_twice_succeeds() public {
        store.publish(_modelId, _chunks, ALL);
        bytes32 code = store.directoryOf(_modelId).codehash;
        assertTrue(store.publish(_modelId, _chunks, ALL));
        // Afterwards it does not matter with what it is called.
        assertTrue(store.publish(_modelId, new address[](0), 1));
        assertTrue(store.directoryOf(_modelId).codehash == code);
    }

    /// @dev Any number of rows a call, each call by somebody else.
    /// forge-config: default.fuzz.runs = 64
    function testFuzz_publish_inParts_succeeds(uint256 seed) public {
        uint256 calls = 0;
        for (bool published = false; !published; ++calls) {
            assertFalse(store.isPublished(_modelId));
            uint256 rows = uint256(keccak256(abi.encode(seed, calls))) % 1000 + 1;
            vm.prank(address(uint160(calls + 1)));
            published = store.publish(_modelId, _chunks, rows);
        }
        assertGt(calls, 4);
        assertEq(interpreter.infer(_modelId, _run.inputs[1]), _run.outputs[1]);
    }

    /// @dev A stranger's wrong list, folded half or whole, is in nobody's way.
    function test_publish_garbageBefore_succeeds() public {
        bytes memory garbage = bytes.concat(_run.weights);
        garbage[100_000] ^= 0x01;
        address[] memory wrong = storeWeights(garbage);
        store.publish(_modelId, _chunks, 1000);
        assertFalse(store.publish(_modelId, wrong, 2000));
        (uint256 tensor, uint256 row) = store.progressOf(_modelId, _chunks);
        assertEq(tensor, 0);
        assertEq(row, 1000);
        vm.expectPartialRevert(IWeightStore.WrongWeights.selector);
        store.publish(_modelId, wrong, ALL);
        assertTrue(store.publish(_modelId, _chunks, ALL));
        assertEq(interpreter.infer(_modelId, _run.inputs[0]), _run.outputs[0]);
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_publish_oneBitOff_reverts(uint256 bit) public {
        bytes memory weights = bytes.concat(_run.weights);
        bit = bound(bit, 0, 8 * weights.length - 1);
        weights[bit / 8] ^= bytes1(uint8(1 << (bit % 8)));
        address[] memory wrong = storeWeights(weights);
        vm.expectPartialRevert(IWeightStore.WrongWeights.selector);
        store.publish(_modelId, wrong, ALL);
        assertFalse(store.isPublished(_modelId));
    }

    /// @dev The code is right, but whoever created the contract may have made it vanish.
    function test_publish_foreignChunk_reverts() public {
        _chunks[3] = address(new Foreign(this.slice(_run.weights, 3 * CHUNK, 4 * CHUNK)));
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.UnknownChunk.selector, _chunks[3]));
        store.publish(_modelId, _chunks, ALL);
        _chunks[3] = address(new Vanishing());
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.UnknownChunk.selector, _chunks[3]));
        store.publish(_modelId, _chunks, 1);
    }

    function test_publish_wrongChunks_reverts() public {
        address[] memory fewer = new address[](_chunks.length - 1);
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.WrongChunkCount.selector, 16, 17));
        store.publish(_modelId, fewer, ALL);
        uint256 rest = _run.weights.length - 16 * CHUNK;
        (_chunks[0], _chunks[16]) = (_chunks[16], _chunks[0]);
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.WrongChunk.selector, 0, rest, CHUNK));
        store.publish(_modelId, _chunks, ALL);
        _chunks[0] = _chunks[16];
        _chunks[16] = store.storeChunk(new bytes(rest + 1));
        _chunks[0] = store.storeChunk(new bytes(CHUNK));
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.WrongChunk.selector, 16, rest + 1, rest));
        store.publish(_modelId, _chunks, ALL);
    }

    function test_publish_noRows_reverts() public {
        vm.expectRevert(IWeightStore.NoRows.selector);
        store.publish(_modelId, _chunks, 0);
    }

    function test_publish_unknownModel_reverts() public {
        ModelId unknown = ModelId.wrap(bytes32(uint256(1)));
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
        store.publish(unknown, _chunks, ALL);
    }

    /// @dev A table whose stream needs more chunks than a directory lists.
    function test_publish_tooLarge_reverts() public {
        B.Draft memory d = B.start(3, 1, 1);
        for (uint256 i = 0; i < 4; ++i) {
            d.weight(3, 1, B.dims2(1 << 18, 32));
        }
        d.int16s(B.dims1(1), 0);
        ModelId modelId = register(d.bytesOf(), bytes32(uint256(1)));
        uint256 count = (uint256(32 << 20) + CHUNK - 1) / CHUNK;
        uint256 limit = Directory.MAX_ADDRESSES - 1;
        vm.expectRevert(abi.encodeWithSelector(IWeightStore.TooManyChunks.selector, count, limit));
        store.publish(modelId, new address[](count), ALL);
    }

    /// @dev With too little gas the directory must not be created empty: its address would be lost for good.
    function test_publish_littleGas_succeeds() public {
        store.publish(_modelId, _chunks, 4096);
        // The rows of the small tensors and the directory: whatever the gas, all or nothing.
        for (uint256 gas_ = 200_000; !store.isPublished(_modelId); gas_ += 20_011) {
            try store.publish{gas: gas_}(_modelId, _chunks, ALL) returns (bool published) {
                assertTrue(published);
            } catch {
                assertEq(store.directoryOf(_modelId).code.length, 0);
            }
        }
        assertEq(store.directoryOf(_modelId).code.length, Directory.HEAD_BYTES + 20 * (1 + _chunks.length));
    }

    function test_publish_withoutWeights_succeeds() public {
        B.Draft memory d = B.start(4, 4, 1);
        d.step(0x010400, B.dims1(4), B.NONE, B.NONE, B.NONE, 0);
        ModelId modelId = registry.register(chunksOf(d.bytesOf()), 0, SELECTOR, EXECUTION | BOND, 0);
        bytes memory input = abi.encodeWithSelector(SELECTOR, bytes(hex"01020304"));
        bytes memory output = interpreter.infer(modelId, input);
        assertEq(output, abi.encode(1, 2, 3, 4));
        assertTrue(store.publish(modelId, new address[](0), ALL));
        assertEq(interpreter.infer(modelId, input), output);
    }

    function test_fallback_outsideCreation_succeeds() public {
        (bool ok, bytes memory answer) = address(store).call("");
        assertTrue(ok);
        assertEq(answer, "");
    }
}
