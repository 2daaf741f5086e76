// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ITraceReader} from "../interfaces/ITraceReader.sol";
import {Merkle} from "./Merkle.sol";
import {Shapes} from "./Shapes.sol";

/// @notice A node of a tensor's tree or of the trace tree (docs/PROTOCOL.md, sections 1 and 3).
/// @param level l of the node, from the leaves of its tree up
/// @param index of the node at that level, from the left
/// @param height of its tree
/// @param rows real rows, 0 if there is no such step; in the trace tree the number of steps
/// @param words real words of a row @param wordBits log2 of the words of a padded row
/// @param rowBytes bytes of a row before it is padded to words; 0 in the trace tree, whose level 0 are tensor roots
/// @param step of the tensor, 0 in the trace tree
/// @param above height of the trace tree above a tensor, 0 in the trace tree
struct Node {
    uint256 level;
    uint256 index;
    uint256 height;
    uint256 rows;
    uint256 words;
    uint256 wordBits;
    uint256 rowBytes;
    uint256 step;
    uint256 above;
}

// A position, 64 bits: index u40, level u8, step u16, from the lowest bit on; the lowest bit of the level and of the step.
uint256 constant POSITION_LEVEL = 40;
uint256 constant POSITION_STEP = 48;

// A tree in one word: real rows u32, bytes of a row u32, height of the trace tree above it u8, and a bit that makes it
// differ from 0. Of a trace tree: its steps, and 0 bytes. The lowest bits of the fields behind the rows.
uint256 constant TREE_ROW_BYTES = 32;
uint256 constant TREE_ABOVE = 64;
uint256 constant TREE_IS_THERE = 1 << 72;

/// @notice Which nodes can be demanded, and what a canonical reveal of one is.
library Positions {
    /// @dev The step of a position in the trace tree itself.
    uint256 internal constant TRACE = 0xFFFF;

    /// @notice The step that a position names, TRACE for the trace tree itself.
    function stepOf(uint64 position) internal pure returns (uint256) {
        return position >> POSITION_STEP;
    }

    /// @notice A tree in one word.
    function packShape(uint256 rows, uint256 rowBytes, uint256 above) internal pure returns (uint256) {
        return TREE_IS_THERE | above << TREE_ABOVE | rowBytes << TREE_ROW_BYTES | rows;
    }

    /// @notice The node that a position names in a tree of this shape.
    function nodeAt(uint256 shape, uint64 position) internal pure returns (Node memory n) {
        unchecked {
            n.level = uint8(position >> POSITION_LEVEL);
            n.index = uint40(position);
            n.rows = uint32(shape);
            n.rowBytes = uint32(shape >> TREE_ROW_BYTES);
            n.words = 1;
            if (n.rowBytes != 0) {
                n.words = (n.rowBytes + 31) >> 5;
                n.wordBits = Shapes.ceilLog2(n.words);
                n.step = stepOf(position);
                n.above = uint8(shape >> TREE_ABOVE);
            }
            n.height = n.wordBits + Shapes.ceilLog2(n.rows);
        }
    }

    /// @notice m: the level whose nodes a reveal of level l shows; of the trace tree's root, the level that
    /// commitTrace publishes.
    function contentLevel(uint256 level) internal pure returns (uint256) {
        unchecked {
            return level <= 6 ? 0 : 6 * ((level + 5) / 6 - 1);
        }
    }

    /// @notice True if the node can be demanded: it has a revealable level, and its first leaf is real.
    function isInside(Node memory n) internal pure returns (bool) {
        bool whole = n.level == n.height;
        bool six = n.level != 0 && n.level % 6 == 0;
        if (isTrace(n)) {
            if (!six || n.level > contentLevel(n.height)) return false;
        } else if (!whole && (!six || n.level > n.height)) {
            return false;
        }
        return isReal(n, n.index << n.level);
    }

    /// @notice True if the leaf is a real word, or in the trace tree a step's root. A subtree whose first leaf is
    /// padding is all padding, because rows and words are padded to powers of two.
    function isReal(Node memory n, uint256 leaf) internal pure returns (bool) {
        return leaf >> n.wordBits < n.rows && _column(n, leaf) < n.words;
    }

    /// @notice Checks a node's content and folds it.
    /// @param content exactly its 2^(l - m) nodes at level m, or words
    function foldContent(Node memory n, bytes32[] calldata content) internal pure returns (bytes32 root) {
        unchecked {
            uint256 from = contentLevel(n.level);
            uint256 levels = n.level - from;
            if (content.length != 1 << levels) {
                revert ITraceReader.WrongContentLength(content.length, 1 << levels);
            }
            uint256 pointer = checkPadding(n, n.index << n.level, from, content);
            if (from == 0 && !isTrace(n)) Merkle.hashLeaves(pointer, content.length);
            return Merkle.foldNodes(pointer, content.length, levels, 0);
        }
    }

    /// @notice Copies consecutive nodes of a level, or words, to memory; reverts unless padding among them is
    /// canonical.
    /// @param first the first one's first leaf @param from their level
    /// @return pointer memory of the first
    function checkPadding(Node memory n, uint256 first, uint256 from, bytes32[] calldata content)
        internal
        pure
        returns (uint256 pointer)
    {
        unchecked {
            bool words = from == 0 && !isTrace(n);
            if (!_isFull(n, first + (content.length << from), words)) {
                (uint256 at, bytes32 value) = _findGarbage(n, first, from, words, content);
                if (at != 0) revert ITraceReader.NotCanonical(at - 1, value);
            }
        }
        // Beyond what Solidity has allocated: nothing allocates before the nodes are folded.
        assembly ("memory-safe") {
            pointer := mload(0x40)
            calldatacopy(pointer, content.offset, shl(5, content.length))
        }
    }

    function isTrace(Node memory n) internal pure returns (bool) {
        return n.rowBytes == 0;
    }

    /// @dev True if no leaf before `end` is padding, nor a byte of it where `words` are shown.
    function _isFull(Node memory n, uint256 end, bool words) private pure returns (bool) {
        unchecked {
            uint256 width = 1 << n.wordBits;
            return end <= n.rows << n.wordBits && n.words == width && (!words || n.rowBytes == width << 5);
        }
    }

    /// @dev Looks at padding alone: what stands behind the last real node of each row, and the rest of its last word.
    /// @return at 1 + index of the first that is not canonical, 0 if all are @return value what stands there
    function _findGarbage(Node memory n, uint256 first, uint256 from, bool words, bytes32[] calldata content)
        private
        pure
        returns (uint256 at, bytes32 value)
    {
        unchecked {
            bytes32 zero = words ? bytes32(0) : _zeroNode(n, from);
            // Nodes of one row stand side by side, `real` real ones before padding, in this many real rows.
            uint256 span = content.length;
            uint256 real = n.rows - (first >> n.wordBits);
            uint256 rows = real;
            // Bits of a row's last real word that no element uses.
            uint256 mask = 0;
            if (from < n.wordBits || words) {
                if (span > 1 << (n.wordBits - from)) span = 1 << (n.wordBits - from);
                real = n.words - _column(n, first);
                if (words && real <= span) mask = type(uint256).max >> (8 * ((n.rowBytes - 1) % 32 + 1));
            } else {
                // A node is one row or more.
                from -= n.wordBits;
                rows = 1;
            }
            real = (real + (1 << from) - 1) >> from;
            if (real > span) real = span;
            assembly ("memory-safe") {
                let start := content.offset
                for { let row := 0 } lt(row, content.length) { row := add(row, span) } {
                    let i := row
                    if rows {
                        rows := sub(rows, 1)
                        i := add(row, real)
                        value := calldataload(add(start, shl(5, sub(i, 1))))
                        if and(value, mask) {
                            at := i
                            break
                        }
                    }
                    for { let end := add(row, span) } lt(i, end) { i := add(i, 1) } {
                        value := calldataload(add(start, shl(5, i)))
                        if xor(value, zero) {
                            at := add(i, 1)
                            break
                        }
                    }
                    if at { break }
                }
            }
        }
    }

    /// @dev The root of a subtree of the node's tree that is all padding.
    function _zeroNode(Node memory n, uint256 level) private pure returns (bytes32) {
        bytes32 zero = isTrace(n) ? bytes32(0) : Merkle.zeroLeaf();
        return Merkle.zeroAbove(zero, level);
    }

    function _column(Node memory n, uint256 leaf) private pure returns (uint256) {
        unchecked {
            return leaf & ((1 << n.wordBits) - 1);
        }
    }
}
