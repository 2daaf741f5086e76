// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice The keccak trees of docs/PROTOCOL.md, section 1. A leaf's preimage is one word, a node's two.
/// Nodes to fold stand in memory one after another and are overwritten.
library Merkle {
    /// @notice Replaces words by their leaf hashes.
    /// @param pointer memory of the first word
    function hashLeaves(uint256 pointer, uint256 count) internal pure {
        assembly ("memory-safe") {
            for { let end := add(pointer, shl(5, count)) } lt(pointer, end) { pointer := add(pointer, 0x20) }
            {
                mstore(pointer, keccak256(pointer, 0x20))
            }
        }
    }

    /// @notice Folds the leftmost nodes of a level to the node `levels` above; the missing ones are zero subtrees.
    /// @param pointer memory of the first node @param count 1 to 2^levels
    /// @param zero the zero subtree at the nodes' level
    function foldNodes(uint256 pointer, uint256 count, uint256 levels, bytes32 zero)
        internal
        pure
        returns (bytes32 root)
    {
        assembly ("memory-safe") {
            for {} levels { levels := sub(levels, 1) } {
                let size := shl(5, shr(1, count))
                // Siblings stand side by side, so a pair is hashed where it is.
                for { let i := 0 } lt(i, size) { i := add(i, 0x20) } {
                    mstore(add(pointer, i), keccak256(add(pointer, add(i, i)), 0x40))
                }
                mstore(0x20, zero)
                if and(count, 1) {
                    mstore(0, mload(add(pointer, add(size, size))))
                    mstore(add(pointer, size), keccak256(0, 0x40))
                }
                mstore(0, zero)
                zero := keccak256(0, 0x40)
                count := shr(1, add(count, 1))
            }
            root := mload(pointer)
        }
    }

    /// @notice Folds a node up a path of siblings, bottom up.
    /// @param index of the node at its level, from the left
    function foldPath(bytes32 node, uint256 index, bytes32[] calldata path)
        internal
        pure
        returns (bytes32 root)
    {
        assembly ("memory-safe") {
            let sibling := path.offset
            for { let end := add(sibling, shl(5, path.length)) } lt(sibling, end) {
                sibling := add(sibling, 0x20)
            } {
                let side := shl(5, and(index, 1))
                mstore(side, node)
                mstore(xor(side, 0x20), calldataload(sibling))
                node := keccak256(0, 0x40)
                index := shr(1, index)
            }
            root := node
        }
    }

    /// @notice z_0: the leaf of a zero word.
    function zeroLeaf() internal pure returns (bytes32 zero) {
        assembly ("memory-safe") {
            mstore(0, 0)
            zero := keccak256(0, 0x20)
        }
    }

    /// @notice The zero subtree `levels` above one.
    function zeroAbove(bytes32 zero, uint256 levels) internal pure returns (bytes32 above) {
        assembly ("memory-safe") {
            for {} levels { levels := sub(levels, 1) } {
                mstore(0, zero)
                mstore(0x20, zero)
                zero := keccak256(0, 0x40)
            }
            above := zero
        }
    }

    /// @notice Root of a tensor from its real words, row by row; overwrites them.
    /// @param pointer memory of the first word
    /// @param rows real rows @param words real words of a row
    /// @param wordBits log2 of the words of a padded row @param height of the tensor's tree
    function tensorRoot(uint256 pointer, uint256 rows, uint256 words, uint256 wordBits, uint256 height)
        internal
        pure
        returns (bytes32 root)
    {
        unchecked {
            hashLeaves(pointer, rows * words);
            bytes32 zero = zeroLeaf();
            if (words != 1) {
                for (uint256 row = 0; row < rows; ++row) {
                    bytes32 rowRoot = foldNodes(pointer + 32 * words * row, words, wordBits, zero);
                    // Rows before this one have shrunk to one node each, so there is room.
                    assembly ("memory-safe") {
                        mstore(add(pointer, shl(5, row)), rowRoot)
                    }
                }
                zero = zeroAbove(zero, wordBits);
            }
            return foldNodes(pointer, rows, height - wordBits, zero);
        }
    }
}
