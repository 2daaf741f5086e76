// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {ProgramReader} from "verifier-contracts/libraries/ProgramReader.sol";
import {RecordHead} from "verifier-contracts/libraries/RecordHead.sol";
import {LAYOUT_DOT, LAYOUT_PLAIN, Record, Tensor, WEIGHT} from "verifier-contracts/types/Program.sol";

/// @notice Reads of a program that is cut into data contracts, against the same bytes in one piece.
contract ProgramReaderTest is Test {
    uint256 private constant CHUNK = 24_544;
    uint256 private constant WEIGHTS = 3;
    /// @dev Descriptors and records of random bytes: four chunks, cut inside of records.
    uint256 private constant STEPS = 600;

    address private program;
    address[] private chunks;

    function setUp() public {
        uint256 length = 32 + 32 * WEIGHTS + 128 * STEPS;
        bytes memory random = new bytes(length);
        for (uint256 i = 0; i < length; i += 32) {
            bytes32 word = keccak256(abi.encode(i));
            assembly ("memory-safe") {
                mstore(add(add(random, 0x20), i), word)
            }
        }
        program = makeAddr("program");
        vm.etch(program, random);
        for (uint256 start = 0; start < length; start += CHUNK) {
            chunks.push(makeAddr(vm.toString(start)));
        }
        assertEq(chunks.length, 4);
        _cut();
    }

    function testFuzz_copy_anyPart_succeeds(uint256 offset, uint256 length) public view {
        bytes memory whole = program.code;
        offset = bound(offset, 0, whole.length);
        length = bound(length, 0, whole.length - offset);
        _checkCopy(whole, offset, length);
    }

    function test_copy_edgesOfChunks_succeeds() public view {
        bytes memory whole = program.code;
        _checkCopy(whole, CHUNK, 0);
        _checkCopy(whole, CHUNK - 1, 1);
        _checkCopy(whole, CHUNK - 1, 2);
        _checkCopy(whole, CHUNK, CHUNK);
        _checkCopy(whole, 1, 3 * CHUNK);
        _checkCopy(whole, 0, whole.length);
    }

    function test_record_everyStep_succeeds() public view {
        bytes memory whole = program.code;
        for (uint256 step = 0; step < STEPS; ++step) {
            uint256 offset = ProgramReader.recordOffset(WEIGHTS, step);
            assertEq(offset, 32 + 32 * WEIGHTS + 128 * step);
            Record memory r = ProgramReader.record(chunks, WEIGHTS, step);
            assertEq(RecordHead.unwrap(r.head), _word(whole, offset), "head");
            assertEq(r.shape, _word(whole, offset + 32), "shape");
            assertEq(r.coordinates01, _word(whole, offset + 64), "coordinates 0 and 1");
            assertEq(r.coordinates23, _word(whole, offset + 96), "coordinates 2 and 3");
        }
    }

    /// @dev What stands behind the part that is read is not zero, and no memory but the tensor's is written.
    function test_tensor_stepsAndWeights_succeeds() public {
        uint256 shape = (uint256(5) << 224) | (uint256(70) << 192);
        for (uint256 step = 1; step < STEPS; step += 99) {
            uint256 offset = ProgramReader.recordOffset(WEIGHTS, step);
            // Opcode and variant, type u8, rank 2; then operands and the attribute.
            _write(offset, (uint256(0xFFFF0002) << 224) | (type(uint256).max >> 32));
            _write(offset + 32, shape);
            _checkTensor(step, LAYOUT_PLAIN);
        }
        for (uint256 i = 0; i < WEIGHTS; ++i) {
            // Layout, type u8, rank 2; then the dims.
            _write(32 + 32 * i, (LAYOUT_DOT << 248) | (uint256(2) << 232) | (shape >> 32));
            _checkTensor(WEIGHT + i, LAYOUT_DOT);
        }
    }

    function _checkTensor(uint256 operand, uint256 rowLayout) private view {
        address[] memory all = chunks;
        Tensor memory t = ProgramReader.tensor(all, WEIGHTS, operand);
        bool isWeight = operand >= WEIGHT;
        assertEq(t.isWeight, isWeight);
        assertEq(t.index, isWeight ? operand - WEIGHT : operand, "index");
        assertEq(t.rank, 2);
        assertEq(t.rows, 5);
        assertEq(t.last, 70);
        assertEq(t.words, rowLayout == LAYOUT_PLAIN ? 3 : 4, "words");
        // Memory that is taken now is behind what was taken before.
        bytes memory after_ = new bytes(32);
        uint256 distance;
        assembly ("memory-safe") {
            distance := sub(after_, t)
        }
        assertLe(distance, 4096, "free memory");
    }

    function _checkCopy(bytes memory whole, uint256 offset, uint256 length) private view {
        address[] memory all = chunks;
        bytes memory copied = new bytes(length + 64);
        bytes memory packed = new bytes(length + 64);
        bytes memory addresses = new bytes(0);
        for (uint256 i = 0; i < all.length; ++i) {
            addresses = bytes.concat(addresses, bytes20(all[i]));
        }
        uint256 target;
        uint256 packedTarget;
        uint256 list;
        assembly ("memory-safe") {
            target := add(copied, 0x40)
            packedTarget := add(packed, 0x40)
            list := add(addresses, 0x20)
        }
        ProgramReader.copy(all, offset, length, target);
        ProgramReader.copyPacked(list, offset, length, packedTarget);
        // A word before and one behind stay as they were.
        bytes memory expected = bytes.concat(bytes32(0), _part(whole, offset, length), bytes32(0));
        assertEq(keccak256(copied), keccak256(expected), "copy");
        assertEq(keccak256(packed), keccak256(expected), "copyPacked");
    }

    /// @dev Writes a word of the program.
    function _write(uint256 offset, uint256 word) private {
        bytes memory whole = program.code;
        assembly ("memory-safe") {
            mstore(add(add(whole, 0x20), offset), word)
        }
        vm.etch(program, whole);
        _cut();
    }

    function _cut() private {
        bytes memory whole = program.code;
        for (uint256 i = 0; i < chunks.length; ++i) {
            uint256 start = i * CHUNK;
            uint256 size = whole.length - start < CHUNK ? whole.length - start : CHUNK;
            vm.etch(chunks[i], bytes.concat(hex"00", _part(whole, start, size)));
        }
    }

    function _part(bytes memory whole, uint256 start, uint256 size) private pure returns (bytes memory part) {
        part = new bytes(size);
        assembly ("memory-safe") {
            mcopy(add(part, 0x20), add(add(whole, 0x20), start), size)
        }
    }

    function _word(bytes memory whole, uint256 offset) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(whole, 0x20), offset))
        }
    }
}
