// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../../libraries/NaiveTree.sol";
import {ExecutionFixture} from "../ExecutionFixture.sol";

/// @notice Compiles whole models from their program bytes and weight stream, by docs/EXACT.md, section 2.
abstract contract StreamCompiler is ExecutionFixture {
    /// @dev A weight tensor: its words row by row, and the nodes above each row.
    struct Rows {
        uint256 count;
        uint256 perRow;
        bytes32[] words;
        bytes32[] nodes;
    }

    /// @notice Builds every part of every DOT step that can be compiled, and binds them.
    /// @return parts built, 0 if there is nothing to compile
    function compileModel(ModelId modelId, bytes memory program, bytes memory weights)
        internal
        returns (uint256 parts)
    {
        uint256 tensors = _number(program, 4, 2);
        Rows[] memory rows = _rowsOf(program, weights, tensors);
        bytes32[] memory roots = new bytes32[](tensors);
        for (uint256 i = 0; i < tensors; ++i) {
            roots[i] = NaiveTree.rootOf(rows[i].nodes);
        }
        for (uint256 step = 0; step < _number(program, 6, 2); ++step) {
            uint256 record = 32 + 32 * tensors + 128 * step;
            if (!_isCompilable(program, record)) continue;
            uint256 b = _number(program, record + 6, 2) - 0x8000;
            bytes32[] memory path = NaiveTree.pathOf(NaiveTree.padded(roots), b);
            (, uint256 partRows) = builder.stepParts(modelId, step);
            for (uint256 first = 0; first < rows[b].count; first += partRows) {
                _build(modelId, step, rows[b], first, partRows, path);
                ++parts;
            }
        }
        if (parts != 0) builder.bind(modelId);
    }

    /// @notice True if a step of the program can be compiled.
    function hasCompilable(bytes memory program) internal pure returns (bool) {
        uint256 record = 32 + 32 * _number(program, 4, 2);
        for (; record < program.length; record += 128) {
            if (_isCompilable(program, record)) return true;
        }
        return false;
    }

    /// @dev DOT of variants 0 and 1.
    function _isCompilable(bytes memory program, uint256 record) private pure returns (bool) {
        return uint8(program[record]) == 4 && uint8(program[record + 1]) < 2;
    }

    function _build(
        ModelId modelId,
        uint256 step,
        Rows memory r,
        uint256 first,
        uint256 partRows,
        bytes32[] memory path
    ) private {
        uint256 last = (first + partRows < r.count ? first + partRows : r.count) - 1;
        bytes32[] memory words = new bytes32[]((last - first + 1) * r.perRow);
        for (uint256 i = 0; i < words.length; ++i) {
            words[i] = r.words[first * r.perRow + i];
        }
        bytes32[] memory siblings = new bytes32[](0);
        uint256 row = first;
        for (bytes32[] memory nodes = r.nodes; nodes.length > 1; nodes = NaiveTree.levelUp(nodes)) {
            bytes32[] memory pair = new bytes32[]((first & 1) + (1 - (last & 1)));
            if (first & 1 == 1) pair[0] = nodes[first - 1];
            if (last & 1 == 0) pair[pair.length - 1] = nodes[last + 1];
            siblings = NaiveTree.concat(siblings, pair);
            (first, last) = (first / 2, last / 2);
        }
        builder.build(modelId, step, row, words, NaiveTree.concat(siblings, path));
    }

    function _rowsOf(bytes memory program, bytes memory weights, uint256 tensors)
        private
        pure
        returns (Rows[] memory rows)
    {
        rows = new Rows[](tensors);
        uint256 offset;
        for (uint256 i = 0; i < tensors; ++i) {
            uint256 descriptor = 32 + 32 * i;
            uint256 rank = uint8(program[descriptor + 2]);
            uint256 count = 1;
            for (uint256 axis = 0; axis + 1 < rank; ++axis) {
                count *= _number(program, descriptor + 4 + 4 * axis, 4);
            }
            uint256 last = _number(program, descriptor + 4 + 4 * (rank - 1), 4);
            uint256 rowLayout = uint8(program[descriptor]);
            uint256 bytes_ = last;
            if (rowLayout == 1 && (uint8(program[descriptor + 1]) & 6) == 2) bytes_ = 4 * last;
            if (rowLayout == 2) bytes_ = (last + 31) / 32 * 32 + 32;
            if (rowLayout == 3) bytes_ = (last + 31) / 32 * 32;
            if (rowLayout == 4) (count, bytes_) = (last, 32);
            rows[i] = _tensor(weights, offset, count, bytes_);
            offset += count * bytes_;
        }
        assertEq(offset, weights.length, "the stream's length");
    }

    function _tensor(bytes memory weights, uint256 offset, uint256 count, uint256 rowBytes)
        private
        pure
        returns (Rows memory r)
    {
        (r.count, r.perRow) = (count, (rowBytes + 31) / 32);
        r.words = new bytes32[](count * r.perRow);
        for (uint256 i = 0; i < r.words.length; ++i) {
            uint256 left = rowBytes - 32 * (i % r.perRow);
            uint256 place = offset + (i / r.perRow) * rowBytes + 32 * (i % r.perRow);
            bytes32 word;
            assembly {
                word := mload(add(add(weights, 32), place))
            }
            r.words[i] = left >= 32 ? word : word & ~bytes32(type(uint256).max >> (8 * left));
        }
        r.nodes = NaiveTree.leaves(r.words, count, r.perRow);
        r.nodes = NaiveTree.up(r.nodes, NaiveTree.log2(NaiveTree.powerOfTwo(r.perRow)));
    }

    function _number(bytes memory data, uint256 offset, uint256 size) private pure returns (uint256 value) {
        for (uint256 i = 0; i < size; ++i) {
            value = (value << 8) | uint8(data[offset + i]);
        }
    }
}
