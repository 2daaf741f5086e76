// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ILayerBuilder} from "../../interfaces/ILayerBuilder.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {OP_DOT, Tensor} from "../../types/Program.sol";

/// @notice A DOT step as the assembler sees it. Everything in it follows from the program.
/// @param weights its weight tensor @param length K, elements of a row @param rows N @param groups G
/// @param width bytes of a stored output: 1, or 4 in variant 0
/// @param slices of a row: 30 elements each, the last maybe fewer
/// @param blocks of a row: 5 slices each, the last maybe fewer
/// @param partRows rows of each part but the last
struct Layer {
    Tensor weights;
    uint256 length;
    uint256 rows;
    uint256 groups;
    uint256 width;
    uint256 slices;
    uint256 blocks;
    uint256 partRows;
}

/// @notice How DOT steps are cut into parts. Where parts begin depends on the program alone: not on weights, nor on
/// who builds, so a part has one content and nobody can build one that is in another's way.
library Parts {
    uint256 internal constant SLICE = 30;
    uint256 internal constant BLOCK_SLICES = 5;

    /// @dev Most bytes of a contract's code (EIP-170).
    uint256 internal constant MAX_CODE = 24_576;

    // Most bytes of the assembler's code (Assembler's table): a part's frame; what it emits for each slice, block and
    // group of activations; for each row's block and end; and for one product sum.
    uint256 private constant FRAME = 150;
    uint256 private constant GROUP_SLICE = 30;
    uint256 private constant GROUP_BLOCK = 110;
    uint256 private constant GROUP = 90;
    uint256 private constant ROW_BLOCK = 14;
    uint256 private constant ROW = 75;
    uint256 private constant PRODUCT = 34;

    /// @notice The layer of a step. Reverts unless it is DOT of variant 0 or 1.
    /// @param word the model word @param chunks data contracts of the program
    function layerOf(ModelWord word, address[] memory chunks, uint256 step)
        internal
        view
        returns (Layer memory layer)
    {
        uint256 steps = word.steps();
        if (step >= steps) revert ILayerBuilder.StepOutOfRange(step, steps);
        RecordHead head = headOf(word, chunks, step);
        uint256 opcode = head.opcode();
        if (opcode != OP_DOT) revert ILayerBuilder.NotDot(step, opcode);
        if (!isCompilable(head)) revert ILayerBuilder.FloatForm(step);
        layer.weights = ProgramReader.tensor(chunks, word.weights(), head.operandOf(1));
        layer.length = layer.weights.last;
        layer.rows = layer.weights.rows;
        layer.groups = head.attribute();
        layer.width = head.variant() == 0 ? 4 : 1;
        unchecked {
            layer.slices = (layer.length + SLICE - 1) / SLICE;
            layer.blocks = (layer.slices + BLOCK_SLICES - 1) / BLOCK_SLICES;
        }
        layer.partRows = _partRows(layer);
    }

    /// @notice The first word of a step's record.
    function headOf(ModelWord word, address[] memory chunks, uint256 step)
        internal
        view
        returns (RecordHead head)
    {
        ProgramReader.copy(chunks, ProgramReader.recordOffset(word.weights(), step), 32, 0);
        assembly ("memory-safe") {
            head := mload(0)
        }
    }

    /// @notice True for DOT of variants 0 and 1. @param head first word of the step's record
    function isCompilable(RecordHead head) internal pure returns (bool) {
        return head.opcode() == OP_DOT && head.variant() < 2;
    }

    /// @notice Rows of the part that starts at a row. Reverts unless one does.
    function rowsFrom(Layer memory layer, uint256 firstRow) internal pure returns (uint256) {
        if (firstRow >= layer.rows || firstRow % layer.partRows != 0) {
            revert ILayerBuilder.WrongFirstRow(firstRow, layer.partRows, layer.rows);
        }
        unchecked {
            uint256 left = layer.rows - firstRow;
            return left < layer.partRows ? left : layer.partRows;
        }
    }

    /// @dev As many as surely fit. A part of R rows touches at most R/perGroup + 2 groups, whose activations it
    /// prepares one after another.
    function _partRows(Layer memory layer) private pure returns (uint256 most) {
        unchecked {
            uint256 group = GROUP + GROUP_SLICE * layer.slices + GROUP_BLOCK * layer.blocks;
            uint256 row = ROW + ROW_BLOCK * layer.blocks + PRODUCT * lanes(layer.length);
            if (layer.groups == 1) {
                most = (MAX_CODE - FRAME - group) / row;
            } else {
                uint256 perGroup = layer.rows / layer.groups;
                most = (MAX_CODE - FRAME - 2 * group) / (row + (group + perGroup - 1) / perGroup);
            }
            if (most > layer.rows) most = layer.rows;
        }
    }

    /// @notice Elements from .. to - 1 of a row's block.
    function blockOf(Layer memory layer, uint256 b) internal pure returns (uint256 from, uint256 to) {
        unchecked {
            from = SLICE * BLOCK_SLICES * b;
            to = from + SLICE * BLOCK_SLICES;
            if (to > layer.length) to = layer.length;
        }
    }

    /// @notice Lane words of consecutive elements that start with a slice: up to three a slice, none without an element.
    function lanes(uint256 elements) internal pure returns (uint256) {
        unchecked {
            uint256 left = elements % SLICE;
            return 3 * (elements / SLICE) + (left < 3 ? left : 3);
        }
    }
}
