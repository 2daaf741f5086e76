// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LAYOUT_PLAIN, Tensor} from "../types/Program.sol";
import {Descriptor} from "./Descriptor.sol";
import {Memory} from "./Memory.sol";
import {Merkle} from "./Merkle.sol";
import {Shapes} from "./Shapes.sol";

/// @notice A model's weights as one stream of rows (IWeightStore), and the tree that commits to them
/// (docs/PROTOCOL.md, section 1).
library WeightStream {
    /// @notice Memory of a frontier: the left siblings that still wait for a right one, by level.
    uint256 internal constant FRONTIER_BYTES = 33 * 32;

    /// @notice The weight tensor that a descriptor describes. @param descriptor its 32 bytes
    /// @return t its tensor @return rowBytes bytes of a row in the stream
    function tensorOf(Descriptor descriptor) internal pure returns (Tensor memory t, uint256 rowBytes) {
        unchecked {
            uint256 rowLayout = descriptor.rowLayout();
            uint256 code = descriptor.code();
            t = Shapes.tensor(rowLayout, code, descriptor.rank(), descriptor.shape());
            rowBytes = rowLayout == LAYOUT_PLAIN ? t.last * Shapes.elementBytes(code) : 32 * t.words;
        }
    }

    /// @notice The root that commits to a stream in memory.
    /// @param descriptors memory of the weight descriptors @param weights number of them, at least 1
    /// @param stream memory of the stream; its length is right
    function rootOf(uint256 descriptors, uint256 weights, uint256 stream) internal pure returns (bytes32) {
        unchecked {
            uint256 rowFrontier = allocate(FRONTIER_BYTES);
            uint256 tensorFrontier = allocate(FRONTIER_BYTES);
            for (uint256 i = 0; i < weights; ++i) {
                (Tensor memory t, uint256 rowBytes) =
                    tensorOf(Descriptor.wrap(Memory.load(descriptors + 32 * i)));
                pushRows(rowFrontier, 0, t, rowBytes, stream, t.rows);
                push(tensorFrontier, i, closeTensor(rowFrontier, t));
                stream += rowBytes * t.rows;
            }
            return close(tensorFrontier, weights, Shapes.ceilLog2(weights), 0);
        }
    }

    /// @notice Bytes of the stream. @param descriptors memory of them
    function lengthOf(uint256 descriptors, uint256 weights) internal pure returns (uint256 length) {
        unchecked {
            uint256 free = allocate(0);
            for (uint256 i = 0; i < weights; ++i) {
                (Tensor memory t, uint256 rowBytes) =
                    tensorOf(Descriptor.wrap(Memory.load(descriptors + 32 * i)));
                length += rowBytes * t.rows;
                Memory.release(free);
            }
        }
    }

    /// @notice Folds rows of a tensor into its frontier.
    /// @param folded rows that it holds @param pointer memory of the next row @param rows how many
    function pushRows(
        uint256 frontier,
        uint256 folded,
        Tensor memory t,
        uint256 rowBytes,
        uint256 pointer,
        uint256 rows
    ) internal pure {
        unchecked {
            bytes32 zero = Merkle.zeroLeaf();
            uint256 scratch;
            uint256 words = t.words;
            uint256 wordBits = t.wordBits;
            for (uint256 end = folded + rows; folded < end; ++folded) {
                // Beyond what is allocated: nothing allocates before the row is folded.
                assembly ("memory-safe") {
                    scratch := mload(0x40)
                    mstore(add(scratch, shl(5, sub(words, 1))), 0)
                    mcopy(scratch, pointer, rowBytes)
                }
                Merkle.hashLeaves(scratch, words);
                push(frontier, folded, Merkle.foldNodes(scratch, words, wordBits, zero));
                pointer += rowBytes;
            }
        }
    }

    /// @notice Adds node number `count` to a frontier.
    function push(uint256 frontier, uint256 count, bytes32 node) internal pure {
        assembly ("memory-safe") {
            for {} and(count, 1) { count := shr(1, count) } {
                mstore(0, mload(frontier))
                mstore(0x20, node)
                node := keccak256(0, 0x40)
                frontier := add(frontier, 0x20)
            }
            mstore(frontier, node)
        }
    }

    /// @notice The root of a tensor whose rows are all in its frontier.
    function closeTensor(uint256 frontier, Tensor memory t) internal pure returns (bytes32) {
        unchecked {
            bytes32 zeroRow = Merkle.zeroAbove(Merkle.zeroLeaf(), t.wordBits);
            return close(frontier, t.rows, t.height - t.wordBits, zeroRow);
        }
    }

    /// @notice The root of a tree of `height` levels over `count` nodes and zero subtrees.
    /// @param count 1 to 2^height @param zero the zero subtree at the level of the nodes
    function close(uint256 frontier, uint256 count, uint256 height, bytes32 zero)
        internal
        pure
        returns (bytes32 node)
    {
        assembly ("memory-safe") {
            switch shr(height, count)
            case 0 {
                // The node that holds the first place which is not taken, level by level.
                node := zero
                for {} height { height := sub(height, 1) } {
                    switch and(count, 1)
                    case 0 {
                        mstore(0, node)
                        mstore(0x20, zero)
                    }
                    default {
                        mstore(0, mload(frontier))
                        mstore(0x20, node)
                    }
                    node := keccak256(0, 0x40)
                    mstore(0, zero)
                    mstore(0x20, zero)
                    zero := keccak256(0, 0x40)
                    frontier := add(frontier, 0x20)
                    count := shr(1, count)
                }
            }
            default { node := mload(add(frontier, shl(5, height))) }
        }
    }

    /// @notice New memory of whole words, not cleared.
    function allocate(uint256 size) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
            mstore(0x40, add(pointer, and(add(size, 31), not(31))))
        }
    }
}
