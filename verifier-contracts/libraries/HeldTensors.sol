// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Tensor} from "../types/Program.sol";
import {Descriptor} from "./Descriptor.sol";
import {ProgramReader} from "./ProgramReader.sol";
import {Shapes} from "./Shapes.sol";
import {WeightStream} from "./WeightStream.sol";

/// @notice Operands that are at hand whole, so that an opcode's element function reads them without openings: a step's
/// tensor in memory or in calldata, its elements row-major without padding; a weight tensor in the data contracts of the
/// published stream of weight rows.
library HeldTensors {
    /// @dev Bit of a place that is an offset in calldata.
    uint256 private constant CALLDATA = 1 << 255;

    /// @notice Says that a step's tensor is in memory. @param pointer memory of its first element, not 0
    function holdMemory(Tensor memory x, uint256 pointer) internal pure {
        unchecked {
            x.place = pointer;
            x.rowBytes = x.last * Shapes.elementBytes(x.code);
        }
    }

    /// @notice Says that a step's tensor is in calldata: of its bytes only those that an element needs are read.
    /// @param offset of its first element
    function holdCalldata(Tensor memory x, uint256 offset) internal pure {
        holdMemory(x, CALLDATA | offset);
    }

    /// @notice A weight tensor in the published stream.
    /// @param descriptor its 32 bytes @param offset of it in the stream
    /// @return x the tensor, without an index @return next offset of the one behind it
    function published(Descriptor descriptor, uint256 offset)
        internal
        pure
        returns (Tensor memory x, uint256 next)
    {
        unchecked {
            uint256 rowBytes;
            (x, rowBytes) = WeightStream.tensorOf(descriptor);
            x.rowBytes = rowBytes;
            x.isWeight = true;
            x.place = offset + 1; // 0 says that it is not held
            next = offset + x.rows * rowBytes;
        }
    }

    /// @notice One word of a row; what it holds beyond the row's bytes is 0.
    /// @param store data contracts of the stream
    function word(address[] memory store, Tensor memory x, uint256 row_, uint256 column)
        internal
        view
        returns (uint256 stored)
    {
        unchecked {
            uint256 offset = row_ * x.rowBytes + 32 * column;
            uint256 size = x.rowBytes - 32 * column;
            if (size > 32) size = 32;
            if (x.isWeight) {
                assembly ("memory-safe") {
                    mstore(0, 0)
                }
                ProgramReader.copy(store, x.place - 1 + offset, size, 0);
                assembly ("memory-safe") {
                    stored := mload(0)
                }
            } else {
                uint256 unused = 256 - 8 * size;
                uint256 from = x.place + offset;
                bool isCalldata = from & CALLDATA != 0;
                from &= ~CALLDATA;
                assembly ("memory-safe") {
                    switch isCalldata
                    case 0 { stored := mload(from) }
                    default { stored := calldataload(from) }
                    stored := shl(unused, shr(unused, stored))
                }
            }
        }
    }

    /// @notice The stored bytes of an element, right-aligned. @param index row-major
    function element(address[] memory store, Tensor memory x, uint256 index)
        internal
        view
        returns (uint256 stored)
    {
        unchecked {
            uint256 bits = 8 * Shapes.elementBytes(x.code);
            uint256 offset = (index % x.last) * bits;
            stored = word(store, x, index / x.last, offset / 256);
            return (stored << (offset & 255)) >> (256 - bits);
        }
    }

    /// @notice The words of a row; what the last one holds beyond the row's bytes is 0. @return pointer new memory of them
    function row(address[] memory store, Tensor memory x, uint256 row_)
        internal
        view
        returns (uint256 pointer)
    {
        unchecked {
            uint256 size = x.rowBytes;
            uint256 from = x.place + row_ * size;
            uint256 end = 32 * x.words;
            assembly ("memory-safe") {
                pointer := mload(0x40)
                end := add(pointer, end)
                mstore(0x40, end)
                mstore(sub(end, 0x20), 0)
            }
            if (x.isWeight) return _copy(store, from - 1, size, pointer);
            bool isCalldata = from & CALLDATA != 0;
            from &= ~CALLDATA;
            assembly ("memory-safe") {
                switch isCalldata
                case 0 { mcopy(pointer, from, size) }
                default { calldatacopy(pointer, from, size) }
            }
        }
    }

    function _copy(address[] memory store, uint256 offset, uint256 size, uint256 pointer)
        private
        view
        returns (uint256)
    {
        ProgramReader.copy(store, offset, size, pointer);
        return pointer;
    }
}
