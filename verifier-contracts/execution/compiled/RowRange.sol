// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ILayerBuilder} from "../../interfaces/ILayerBuilder.sol";
import {Merkle} from "../../libraries/Merkle.sol";
import {Tensor} from "../../types/Program.sol";

/// @notice Folds consecutive rows of a weight tensor, aligned or not, to the weights root.
library RowRange {
    /// @notice Reverts unless the rows and siblings fold to the weights root (ILayerBuilder.build says their order).
    /// @param above levels from the tensor's root to the weights root
    /// @param count 1 to x.rows - first
    function check(
        Tensor memory x,
        uint256 first,
        uint256 count,
        bytes32[] calldata words,
        bytes32[] calldata siblings,
        uint256 above,
        bytes32 weightsRoot
    ) internal pure {
        unchecked {
            uint256 required = count * x.words;
            if (words.length != required) revert ILayerBuilder.WrongWordCount(words.length, required);
            uint256 levels = x.height - x.wordBits;
            uint256 inTensor = _siblingCount(first, first + count - 1, levels);
            if (siblings.length != inTensor + above) {
                revert ILayerBuilder.WrongSiblingCount(siblings.length, inTensor + above);
            }
            uint256 nodes = _rowRoots(x, count, words);
            bytes32 root = _fold(nodes, first, count, levels, siblings);
            root = Merkle.foldPath(root, x.index, siblings[inTensor:]);
            if (root != weightsRoot) revert ILayerBuilder.WrongRoot(root, weightsRoot);
        }
    }

    function _siblingCount(uint256 first, uint256 last, uint256 levels) private pure returns (uint256 count) {
        unchecked {
            for (; levels != 0; --levels) {
                count += (first & 1) + (~last & 1);
                first >>= 1;
                last >>= 1;
            }
        }
    }

    /// @dev Beyond what is allocated: nothing allocates before the roots are folded.
    /// @return nodes memory of the rows' roots, one word behind free memory's start
    function _rowRoots(Tensor memory x, uint256 count, bytes32[] calldata words)
        private
        pure
        returns (uint256 nodes)
    {
        unchecked {
            uint256 length = x.words;
            uint256 bits = x.wordBits;
            assembly ("memory-safe") {
                nodes := add(mload(0x40), 0x20)
                calldatacopy(nodes, words.offset, shl(5, words.length))
            }
            Merkle.hashLeaves(nodes, words.length);
            bytes32 zero = Merkle.zeroLeaf();
            for (uint256 row = 0; row < count; ++row) {
                bytes32 root = Merkle.foldNodes(nodes + 32 * length * row, length, bits, zero);
                // Rows before this one have shrunk to a word each, so there is room.
                assembly ("memory-safe") {
                    mstore(add(nodes, shl(5, row)), root)
                }
            }
        }
    }

    /// @dev Each level's nodes stand at `nodes`; a left sibling goes before them, a right one behind.
    function _fold(uint256 nodes, uint256 first, uint256 count, uint256 levels, bytes32[] calldata siblings)
        private
        pure
        returns (bytes32 root)
    {
        assembly ("memory-safe") {
            let sibling := siblings.offset
            for {} levels { levels := sub(levels, 1) } {
                let from := nodes
                if and(first, 1) {
                    from := sub(nodes, 0x20)
                    mstore(from, calldataload(sibling))
                    sibling := add(sibling, 0x20)
                    count := add(count, 1)
                }
                if and(count, 1) {
                    mstore(add(from, shl(5, count)), calldataload(sibling))
                    sibling := add(sibling, 0x20)
                    count := add(count, 1)
                }
                first := shr(1, first)
                count := shr(1, count)
                for { let i := 0 } lt(i, count) { i := add(i, 1) } {
                    mstore(add(nodes, shl(5, i)), keccak256(add(from, shl(6, i)), 0x40))
                }
            }
            root := mload(nodes)
        }
    }
}
