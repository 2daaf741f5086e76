// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32} from "../../libraries/Memory.sol";
import {ModelId} from "../../types/Types.sol";
import {PART_FROM, PART_MADE, PART_STEP} from "./PartWord.sol";

/// @notice Runs compiled DOT steps (docs/EXACT.md, section 7).
///
///     uint256 cursor = CompiledLayer.open(builder, modelId);     // once an inference
///     if (CompiledLayer.isAt(cursor, step))                      // at each DOT step, in the order of steps
///         cursor = CompiledLayer.run(cursor, activations, length, output, rows, rowBytes);
///     else                                                       // not compiled: interpret it
///
/// A cursor points in memory to a part's word of the directory (PartWord). Words are in the order of steps and rows; a
/// zero word ends them. A model that is not bound has the zero word alone.
library CompiledLayer {
    /// @notice Thrown when a part did not answer as it must. It ran out of gas, or the caller passed another number of
    /// bytes than the step's operand has.
    error PartFailed(address part);

    /// @dev Bytes of a directory's code before its words: STOP, so that it can't be run.
    uint256 internal constant DIRECTORY_OFFSET = 1;

    /// @dev Creation code of a contract that creates one from its calldata: PUSH8 runtime, PUSH0, MSTORE, PUSH1 8,
    /// PUSH1 24, RETURN; the runtime is CALLDATASIZE, PUSH0, PUSH0, CALLDATACOPY, CALLDATASIZE, PUSH0, PUSH0, CREATE.
    bytes internal constant CREATOR = hex"67365f5f37365f5ff05f5260086018f3";
    bytes32 internal constant CREATOR_HASH = keccak256(CREATOR);

    /// @dev A cursor at a zero word: Solidity's zero slot.
    uint256 internal constant NONE = 0x60;

    /// @notice Where the directory of a model is or will be: the first contract that the creator whose salt is the
    /// model's id creates. So the address depends on nothing that the directory holds.
    function directoryOf(address builder, ModelId modelId) internal pure returns (address directory) {
        address creator = creatorOf(builder, modelId);
        assembly ("memory-safe") {
            // RLP of [creator, nonce 1].
            mstore(0, or(or(shl(240, 0xd694), shl(80, creator)), shl(72, 1)))
            directory := and(keccak256(0, 23), 0xffffffffffffffffffffffffffffffffffffffff)
        }
    }

    /// @notice The contract that creates the model's directory.
    function creatorOf(address builder, ModelId modelId) internal pure returns (address creator) {
        bytes32 hash = CREATOR_HASH;
        assembly ("memory-safe") {
            let pointer := mload(0x40)
            mstore(pointer, or(shl(248, 0xff), shl(88, builder)))
            mstore(add(pointer, 21), modelId)
            mstore(add(pointer, 53), hash)
            creator := and(keccak256(pointer, 85), 0xffffffffffffffffffffffffffffffffffffffff)
        }
    }

    /// @notice Reads the model's directory. @return cursor at its first word
    function open(address builder, ModelId modelId) internal view returns (uint256 cursor) {
        address directory = directoryOf(builder, modelId);
        assembly ("memory-safe") {
            let size := extcodesize(directory)
            cursor := mload(0x40)
            // What lies behind the code reads as zeros, which makes the zero word.
            if iszero(size) { size := DIRECTORY_OFFSET }
            let length := add(sub(size, DIRECTORY_OFFSET), 0x20)
            extcodecopy(directory, cursor, DIRECTORY_OFFSET, length)
            mstore(0x40, add(cursor, length))
        }
    }

    /// @notice True if the step is compiled. @param step not below any step that this cursor was asked for before
    function isAt(uint256 cursor, uint256 step) internal pure returns (bool found) {
        assembly ("memory-safe") {
            found := eq(shr(PART_STEP, mload(cursor)), add(step, 1))
        }
    }

    /// @notice Computes the whole output tensor of the step at the cursor, one call a part.
    /// @param activations memory of operand a's stored bytes, without padding @param length of them
    /// @param output memory for the step's stored bytes, rows · rowBytes @param rows of the output
    /// @param rowBytes bytes of an output row @return next the cursor behind the step
    function run(
        uint256 cursor,
        uint256 activations,
        uint256 length,
        uint256 output,
        uint256 rows,
        uint256 rowBytes
    ) internal view returns (uint256 next) {
        assembly ("memory-safe") {
            let word := mload(cursor)
            let step := shr(PART_STEP, word)
            for {} eq(shr(PART_STEP, word), step) {} {
                let made := and(shr(PART_MADE, word), 0xFFFFFFFF)
                let to := add(output, and(shr(PART_FROM, word), 0xFFFFFFFF))
                // A single row is written where it belongs, more are copied there row by row.
                let single := mul(made, eq(rows, 1))
                let success := staticcall(gas(), word, activations, length, to, single)
                if iszero(and(success, eq(returndatasize(), mul(made, rows)))) {
                    mstore(0, shl(FIRST_U32, 0x78b9b48e)) // PartFailed(address)
                    mstore(4, and(word, 0xffffffffffffffffffffffffffffffffffffffff))
                    revert(0, 0x24)
                }
                if iszero(single) {
                    let size := returndatasize()
                    for { let from := 0 } lt(from, size) { from := add(from, made) } {
                        returndatacopy(to, from, made)
                        to := add(to, rowBytes)
                    }
                }
                cursor := add(cursor, 0x20)
                word := mload(cursor)
            }
            next := cursor
        }
    }
}
