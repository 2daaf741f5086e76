// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LAYOUT_PLAIN} from "../../../verifier-contracts/types/Program.sol";
import {Dice, Dices} from "./Dice.sol";
import {Case, Cases} from "./RecordCase.sol";

/// @notice Random records of ARITH, FLOAT, SELECT, TABLE, REDUCE and RESCALE ratio.
library MakeElements {
    using Dices for Dice;

    /// @notice A size for a record's tensor: mostly small, at times more than 1,000 elements.
    function size(Dice memory d) internal pure returns (uint256) {
        uint256 style = d.below(16);
        if (style < 5) return 80;
        if (style < 10) return 320;
        return style < 14 ? 1600 : 4096;
    }

    function integerType(Dice memory d) internal pure returns (uint256) {
        return d.pick(hex"0202020000010104", 8);
    }

    /// @notice An operand of any bytes: an earlier step, or a plain weight tensor.
    function plain(Case memory c, uint256 position, uint256 code, uint256 rank, uint256 shape) internal pure {
        bytes memory data = c.dice.tensorBytes(code, Cases.countOf(rank, shape));
        uint256 rowLayout = c.dice.once(3) ? LAYOUT_PLAIN : Cases.STEP;
        Cases.operand(c, position, rowLayout, code, rank, shape, data);
    }

    /// @notice An operand that broadcasts to the output.
    function spread(Case memory c, uint256 position, uint256 code) internal pure {
        (uint256 rank, uint256 shape) = spreadShape(c);
        plain(c, position, code, rank, shape);
    }

    /// @return rank 1 to the output's @return shape each dim the output's or 1
    function spreadShape(Case memory c) internal pure returns (uint256 rank, uint256 shape) {
        unchecked {
            uint256 style = c.dice.below(10);
            (rank, shape) = (c.rank, c.shape);
            if (style < 4) return (rank, shape);
            if (style == 4) return (1, 1 << 224);
            // Fewer axes.
            uint256 less = style == 5 || style == 9 ? c.dice.below(rank) : 0;
            rank -= less;
            shape = (shape << (32 * less)) & ~uint256(0xFFFFFFFFFFFFFFFF);
            if (style == 5) return (rank, shape);
            uint256 edge = c.dice.below(rank + 1);
            for (uint256 axis = 0; axis < rank; ++axis) {
                bool one = style == 6 ? axis < edge : style == 7 ? axis >= edge : c.dice.once(2);
                if (one) {
                    shape = (shape & ~(uint256(0xFFFFFFFF) << (224 - 32 * axis))) | (1 << (224 - 32 * axis));
                }
            }
        }
    }

    function _output(Case memory c, uint256 code) private pure {
        uint256 most = size(c.dice);
        uint256 rank = c.dice.range(1, most < 1000 ? 6 : 3);
        Cases.output(c, code, rank, c.dice.shape(rank, most));
    }

    function arith(Case memory c) internal pure {
        c.variant = c.dice.below(11);
        if (c.variant == 10) return _rotate(c);
        uint256 code = c.dice.pick(hex"020202020001", 6);
        if (c.variant > 5) code = 4;
        if (c.variant == 9) code = c.dice.pick(hex"02000104", 4);
        _output(c, code);
        uint256 type_ = integerType(c.dice);
        spread(c, 0, type_);
        if (c.variant == 9) return;
        spread(c, 1, c.dice.once(2) ? type_ : integerType(c.dice));
        if (c.variant == 5) _divisors(c, 1);
    }

    /// @dev Rows of pairs, of which each operand has all; its other axes broadcast.
    function _rotate(Case memory c) private pure {
        unchecked {
            c.attribute = uint32(c.dice.below(32));
            uint256 most = size(c.dice);
            uint256 rank = c.dice.range(1, most < 1000 ? 6 : 3);
            uint256 shape = c.dice.shape(rank, most / 2);
            uint256 axis = 256 - 32 * rank;
            // The last dim, made even.
            if ((shape >> axis) & 1 == 1) shape += 1 << axis;
            Cases.output(c, c.dice.once(2) ? 2 : c.dice.below(2), rank, shape);
            if (c.code != 2 && c.dice.once(2)) c.attribute = c.dice.range(20, 27);
            for (uint256 position = 0; position < 2; ++position) {
                (rank, shape) = spreadShape(c);
                axis = 256 - 32 * rank;
                shape = (shape & ~(uint256(0xFFFFFFFF) << axis)) | (c.last << axis);
                plain(c, position, 2, rank, shape);
                if (c.dice.once(2)) _small(c.dice, c.operands[position].data);
            }
        }
    }

    /// @dev Numbers of up to 16 bits, so that results stay inside s32.
    function _small(Dice memory d, bytes memory data) private pure {
        unchecked {
            for (uint256 i = 0; i < data.length; i += 4) {
                bytes1 sign = d.once(2) ? bytes1(0) : bytes1(0xFF);
                (data[i], data[i + 1]) = (sign, sign);
            }
        }
    }

    /// @dev Often powers of two, and often all alike, as lanes and blocks of eight want them.
    function _divisors(Case memory c, uint256 position) private pure {
        unchecked {
            bytes memory data = c.operands[position].data;
            if (c.operands[position].code != 2 || c.dice.once(4)) return;
            uint256 style = c.dice.below(4);
            uint32 divisor = uint32(1 << c.dice.below(32));
            for (uint256 i = 0; i < data.length; i += 4) {
                if (style == 1 && c.dice.once(8)) divisor = uint32(1 << c.dice.below(32));
                if (style == 2 && c.dice.once(3)) divisor = Dices.hostileInteger(c.dice.next());
                if (style == 3) divisor = uint32(c.dice.range(1, 300));
                if (style == 0 && c.dice.once(40)) divisor = Dices.hostileInteger(c.dice.next());
                for (uint256 j = 0; j < 4; ++j) {
                    data[i + j] = bytes1(uint8(divisor >> (24 - 8 * j)));
                }
            }
        }
    }

    /// @notice What numbers are multiplied by before they are divided.
    function multiplier(Dice memory d) internal pure returns (uint256 k) {
        k = d.once(3) ? uint32(d.range(1, 300)) : Dices.hostileInteger(d.next());
        if (k == 0) k = 1;
    }

    /// @notice RESCALE ratio. A divisor a row: the rows' axes with a last one of 1 or without it, or all in one.
    function ratio(Case memory c) internal pure {
        unchecked {
            c.variant = 1;
            c.attribute = multiplier(c.dice);
            uint256 rank = c.dice.range(1, 6);
            uint256 shape = c.dice.shape(rank, size(c.dice));
            Cases.output(c, c.dice.below(3), rank, shape);
            plain(c, 0, integerType(c.dice), rank, shape);
            rowDivisors(c, 1, 1);
        }
    }

    /// @notice Divisors for each row of the output, which is there. @param parts of a row, each with one
    function rowDivisors(Case memory c, uint256 position, uint256 parts) internal pure {
        unchecked {
            uint256 rank = c.rank;
            uint256 style = rank == 1 ? 2 : c.dice.below(3);
            uint256 shape = c.shape & ~(uint256(0xFFFFFFFF) << (256 - 32 * rank));
            if (style == 0 && parts == 1) plain(c, position, 2, rank - 1, shape);
            else if (style == 1) plain(c, position, 2, rank, shape | parts << (256 - 32 * rank));
            else plain(c, position, 2, 1, c.count / c.last * parts << 224);
            _divisors(c, position);
        }
    }

    function float(Case memory c) internal pure {
        uint256 v = c.variant = c.dice.below(15);
        uint256 code = 3;
        if (v > 7 && v < 11) code = 4;
        if (v == 12) code = integerType(c.dice);
        if (v == 14) code = c.dice.below(2);
        _output(c, code);
        spread(c, 0, v == 11 || v == 13 ? integerType(c.dice) : 3);
        if (v != 4 && v != 5 && v != 11 && v != 12) spread(c, 1, 3);
        if (v > 12) spread(c, 2, 2);
    }

    function select(Case memory c) internal pure {
        uint256 code = c.dice.below(5);
        _output(c, code);
        spread(c, 0, 4);
        spread(c, 1, code);
        spread(c, 2, code);
    }

    function table(Case memory c) internal pure {
        _output(c, c.dice.pick(hex"000104", 3));
        plain(c, 0, c.dice.pick(hex"000104", 3), c.rank, c.shape);
        Cases.operand(c, 1, LAYOUT_PLAIN, 0, 1, 256 << 224, c.dice.tensorBytes(0, 256));
    }

    function reduce(Case memory c) internal pure {
        unchecked {
            c.variant = c.dice.below(4);
            uint256 code = integerType(c.dice);
            uint256 most = c.variant == 3 ? 8192 / Cases.bytesOf(code) : 1024;
            if (c.variant == 3) c.attribute = c.dice.once(3) ? 0 : Dices.hostileInteger(c.dice.next());
            uint256 last = c.dice.range(1, 12);
            if (c.dice.once(3)) last = c.dice.dim(most);
            if (c.dice.once(8)) last = c.dice.range(1, most);
            if (c.dice.once(30)) last = most - c.dice.below(2);
            uint256 rows = size(c.dice);
            if (rows * last > 16_000) rows = 1 + 16_000 / last;
            uint256 rank = c.dice.range(1, 6);
            uint256 shape = rank == 1 ? 0 : c.dice.shape(rank - 1, rows);
            rows = rank == 1 ? 1 : Cases.countOf(rank - 1, shape);
            plain(c, 0, code, rank, shape | last << (256 - 32 * rank));
            code = c.variant % 3 == 0 ? 2 : code;
            // The output's dims are free: the operand's without the last one, the last one 1, or all in one.
            uint256 style = rank == 1 ? 2 : c.dice.below(rank == 6 ? 2 : 3);
            if (style == 0) Cases.output(c, code, rank - 1, shape);
            else if (style == 1) Cases.output(c, code, rank, shape | 1 << (256 - 32 * rank));
            else Cases.output(c, code, 1, rows << 224);
        }
    }
}
