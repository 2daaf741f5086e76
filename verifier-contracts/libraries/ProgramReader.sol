// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LAYOUT_PLAIN, Record, Tensor, WEIGHT} from "../types/Program.sol";
import {Descriptor} from "./Descriptor.sol";
import {FIRST_ADDRESS} from "./Memory.sol";
import {RecordHead} from "./RecordHead.sol";
import {Shapes} from "./Shapes.sol";

/// @notice Reads a registered program from its data contracts: each a STOP byte, then CHUNK_BYTES of the program, the
/// last one maybe fewer. What it reads was validated at registration.
library ProgramReader {
    /// @dev 767 words, so that with the STOP byte the code is within 24,576 bytes and words never straddle.
    uint256 internal constant CHUNK_BYTES = 24_544;
    uint256 internal constant HEADER_BYTES = 32;
    uint256 internal constant DESCRIPTOR_BYTES = 32;
    uint256 internal constant RECORD_BYTES = 128;

    /// @notice Copies a part of the program into memory that the caller owns.
    function copy(address[] memory chunks, uint256 offset, uint256 length, uint256 pointer) internal view {
        unchecked {
            while (length != 0) {
                address chunk = chunks[offset / CHUNK_BYTES];
                uint256 start = offset % CHUNK_BYTES;
                uint256 size = CHUNK_BYTES - start;
                if (size > length) size = length;
                assembly ("memory-safe") {
                    extcodecopy(chunk, pointer, add(start, 1), size)
                }
                offset += size;
                pointer += size;
                length -= size;
            }
        }
    }

    /// @notice Copies a part of a stream that is cut as a program is.
    /// @param chunks memory of the addresses of its data contracts, 20 bytes each
    function copyPacked(uint256 chunks, uint256 offset, uint256 length, uint256 pointer) internal view {
        assembly ("memory-safe") {
            let index := div(offset, CHUNK_BYTES)
            let start := sub(offset, mul(index, CHUNK_BYTES))
            chunks := add(chunks, mul(20, index))
            for {} length {} {
                let size := sub(CHUNK_BYTES, start)
                if gt(size, length) { size := length }
                extcodecopy(shr(FIRST_ADDRESS, mload(chunks)), pointer, add(start, 1), size)
                pointer := add(pointer, size)
                length := sub(length, size)
                chunks := add(chunks, 20)
                start := 0
            }
        }
    }

    /// @notice The record of a step. @param weights number of weight tensors
    function record(address[] memory chunks, uint256 weights, uint256 step)
        internal
        view
        returns (Record memory r)
    {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := r
        }
        copy(chunks, recordOffset(weights, step), RECORD_BYTES, pointer);
    }

    /// @notice The tensor of a step or a weight tensor, as a record names it.
    /// @param operand index of a step, or WEIGHT + index of a weight tensor
    function tensor(address[] memory chunks, uint256 weights, uint256 operand)
        internal
        view
        returns (Tensor memory t)
    {
        unchecked {
            // Scratch space: two words hold what a tensor needs of a record, or a descriptor.
            RecordHead head;
            uint256 shape;
            if (operand < WEIGHT) {
                copy(chunks, recordOffset(weights, operand), 64, 0);
                assembly ("memory-safe") {
                    head := mload(0)
                    shape := mload(0x20)
                }
                t = Shapes.tensor(LAYOUT_PLAIN, head.outputType(), head.outputRank(), shape);
                t.index = operand;
            } else {
                operand -= WEIGHT;
                Descriptor d = descriptor(chunks, operand);
                t = Shapes.tensor(d.rowLayout(), d.code(), d.rank(), d.shape());
                t.index = operand;
                t.isWeight = true;
            }
        }
    }

    /// @notice A weight descriptor. @param index of the weight tensor
    function descriptor(address[] memory chunks, uint256 index) internal view returns (Descriptor word) {
        unchecked {
            copy(chunks, HEADER_BYTES + DESCRIPTOR_BYTES * index, 32, 0);
            assembly ("memory-safe") {
                word := mload(0)
            }
        }
    }

    function recordOffset(uint256 weights, uint256 step) internal pure returns (uint256) {
        unchecked {
            return HEADER_BYTES + DESCRIPTOR_BYTES * weights + RECORD_BYTES * step;
        }
    }
}
