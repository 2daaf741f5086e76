// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice The trees of docs/PROTOCOL.md, section 1, written as the page says it: every padded leaf is there.
library NaiveTree {
    /// @notice All leaves of a tensor: the real words row by row, zero words as padding.
    function leaves(bytes32[] memory words, uint256 rows, uint256 perRow)
        internal
        pure
        returns (bytes32[] memory all)
    {
        uint256 width = powerOfTwo(perRow);
        all = new bytes32[](width * powerOfTwo(rows));
        for (uint256 i = 0; i < all.length; ++i) {
            bytes32 word =
                i / width < rows && i % width < perRow ? words[(i / width) * perRow + i % width] : bytes32(0);
            all[i] = keccak256(abi.encode(word));
        }
    }

    /// @notice Pads a level of the trace or weights tree.
    function padded(bytes32[] memory roots) internal pure returns (bytes32[] memory all) {
        all = new bytes32[](powerOfTwo(roots.length));
        for (uint256 i = 0; i < roots.length; ++i) {
            all[i] = roots[i];
        }
    }

    function levelUp(bytes32[] memory nodes) internal pure returns (bytes32[] memory above) {
        above = new bytes32[](nodes.length / 2);
        for (uint256 i = 0; i < above.length; ++i) {
            above[i] = keccak256(abi.encode(nodes[2 * i], nodes[2 * i + 1]));
        }
    }

    function rootOf(bytes32[] memory nodes) internal pure returns (bytes32) {
        while (nodes.length > 1) nodes = levelUp(nodes);
        return nodes[0];
    }

    /// @notice The nodes `levels` above these.
    function up(bytes32[] memory nodes, uint256 levels) internal pure returns (bytes32[] memory) {
        for (; levels != 0; --levels) {
            nodes = levelUp(nodes);
        }
        return nodes;
    }

    /// @notice Siblings from node `index` of these to the root.
    function pathOf(bytes32[] memory nodes, uint256 index) internal pure returns (bytes32[] memory path) {
        path = new bytes32[](log2(nodes.length));
        for (uint256 i = 0; i < path.length; ++i) {
            path[i] = nodes[index ^ 1];
            nodes = levelUp(nodes);
            index /= 2;
        }
    }

    function concat(bytes32[] memory a, bytes32[] memory b) internal pure returns (bytes32[] memory all) {
        all = new bytes32[](a.length + b.length);
        for (uint256 i = 0; i < all.length; ++i) {
            all[i] = i < a.length ? a[i] : b[i - a.length];
        }
    }

    function powerOfTwo(uint256 n) internal pure returns (uint256 power) {
        for (power = 1; power < n; power *= 2) {}
    }

    function log2(uint256 power) internal pure returns (uint256 levels) {
        for (; power > 1; power /= 2) {
            ++levels;
        }
    }
}
