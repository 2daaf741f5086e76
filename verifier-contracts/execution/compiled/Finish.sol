// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {PARAMETER_BIAS, Parameters} from "../../libraries/Parameters.sol";
import "./Emit.sol";
import {Rows} from "./Rows.sol";

/// @notice A weight row being compiled.
/// @param words memory of its words @param parameters its parameter word
/// @param room Rows.roomOf, 0 if the row is wide @param to memory of its output when the code runs
/// @param added true if `addend` is in the accumulator from the start
/// @param addend to c, right under the top lane: it needs no instruction of its own
/// @param kept memory of its accumulator between blocks when the code runs
struct Row {
    uint256 words;
    Parameters parameters;
    uint256 room;
    uint256 to;
    bool added;
    int256 addend;
    uint256 kept;
}

/// @notice The end of a row: from c, the sum of activation · (weight − centre), to the stored output. c is a number on
/// the stack if the row is wide, and the top lane of the accumulator there if it is narrow. Parameters are constants of
/// the code. A narrow row whose parameters surely cannot wrap has all its addends in one constant; any other follows
/// docs/EXACT.md, section 3, step by step.
library Finish {
    /// @dev Where the code keeps the sum of the activations (Assembler's memory).
    uint256 private constant SUM = 0x40;

    /// @dev What a narrow row's c, and what is added to it in its lane, is below in size.
    int256 private constant MAX_SUM = 2 ** 23;

    /// @notice True if the clamps meet or cross: the upper one, which comes last, is then the output.
    function isConstant(Parameters parameters) internal pure returns (bool) {
        return parameters.lower() >= parameters.upper();
    }

    /// @notice From an accumulator to the number in its top lane: PUSH1 232, SAR.
    function emitShift(uint256 code) internal pure returns (uint256) {
        return Emit.put(code, 0x60e81d, 3);
    }

    /// @notice Stores the upper clamp.
    function emitConstant(uint256 code, Row memory row) internal pure returns (uint256) {
        return Emit.pushOp(Emit.push(code, row.parameters.upper()), row.to, MSTORE8);
    }

    /// @notice Sets the row's `added` and `addend`: the bias, and where M is 1 also B and the zero point, if the lanes
    /// have room for it. @param width 4 or 1
    function setAddend(Row memory row, uint256 width) internal pure {
        unchecked {
            Parameters parameters = row.parameters;
            bool plain = width == 4 || (parameters.multiplier() == 1 && _cannotWrap(parameters));
            row.addend = width == 4 ? parameters.bias() : _addend(parameters);
            uint256 size = uint256(row.addend < 0 ? -row.addend : row.addend);
            row.added = plain && size < row.room;
        }
    }

    /// @notice Stores `wrap(acc)` in four bytes. What MSTORE writes beyond them, later rows overwrite.
    function emitS32(uint256 code, Row memory row) internal pure returns (uint256) {
        if (row.room != 0) {
            // c, in the top 24 bits, becomes an s32 in the top 32.
            code = Emit.pushOp(code, 8, SAR);
            uint256 bias = row.parameters.biasBits();
            if (!row.added && bias != 0) code = Emit.pushOp(code, bias << PARAMETER_BIAS, ADD);
        } else {
            code = Emit.pushOp(_emitAccumulator(code, row), 224, SHL);
        }
        return Emit.store(code, row.to);
    }

    /// @notice Requantizes and stores one byte. @param start memory of the code's first byte
    function emitByte(uint256 code, uint256 start, Row memory row) internal pure returns (uint256) {
        unchecked {
            Parameters parameters = row.parameters;
            uint256 shift = parameters.shift();
            if (row.added) {
                code = Emit.pushOp(code, Rows.TOP + shift, SAR);
            } else if (row.room != 0 && _cannotWrap(parameters)) {
                code = emitShift(code);
                uint256 multiplier = parameters.multiplier();
                if (multiplier != 1) code = Emit.pushOp(code, multiplier, MUL);
                code = Emit.pushOp(_emitAdd(code, _addend(parameters)), shift, SAR);
            } else {
                if (row.room != 0) code = emitShift(code);
                code = Emit.pushOp(_emitAccumulator(code, row), 3, SIGNEXTEND);
                code = Emit.pushOp(code, parameters.multiplier(), MUL);
                code = Emit.pushOp(code, uint64(uint256(parameters.addend())), ADD);
                code = Emit.pushOp(Emit.pushOp(code, 7, SIGNEXTEND), shift, SAR);
                code = _emitAdd(code, _above(parameters));
            }
            return _emitClamp(code, start, row);
        }
    }

    /// @dev From the value minus the lower clamp to the stored byte. Jumps over what corrects a value outside [0, span]:
    /// to span if it is above, to 0 if it is negative.
    function _emitClamp(uint256 code, uint256 start, Row memory row) private pure returns (uint256) {
        unchecked {
            uint256 lower = row.parameters.lower();
            uint256 span = row.parameters.upper() - lower;
            // PUSH2 span + 1, DUP2, LT, PUSH2, JUMPI, PUSH0, SLT, PUSH1 span, MUL, JUMPDEST
            uint256 check = (0x61 << 32) | ((span + 1) << 16) | 0x8110;
            uint256 fix = 0x575f126000025b | (span << 16);
            uint256 jump = (0x61 << 16) | (code + 14 - start);
            code = Emit.put(code, (((check << 24) | jump) << 56) | fix, 15);
            if (lower != 0) code = Emit.put(code, 0x600001 | (lower << 8), 3);
            // PUSH2 to, MSTORE8
            return Emit.put(code, 0x61000053 | (row.to << 8), 4);
        }
    }

    /// @dev `c + (centre − o)·Σ activations + bias′`, right in its low 32 bits.
    function _emitAccumulator(uint256 code, Row memory row) private pure returns (uint256) {
        unchecked {
            uint256 offset = row.parameters.offset();
            if (row.room == 0 && offset != Rows.WIDE_CENTRE) {
                code = Emit.push(code, uint32(Rows.WIDE_CENTRE - offset));
                code = Emit.op(Emit.op(Emit.load(code, SUM), MUL), ADD);
            }
            uint256 bias = row.parameters.biasBits();
            return bias == 0 ? code : Emit.pushOp(code, bias, ADD);
        }
    }

    /// @dev Adds a signed constant.
    function _emitAdd(uint256 code, int256 value) private pure returns (uint256) {
        unchecked {
            if (value == 0) return code;
            if (value > 0) return Emit.pushOp(code, uint256(value), ADD);
            return Emit.op(Emit.pushOp(code, uint256(-value), SWAP1), SUB);
        }
    }

    /// @dev True if neither `c + bias′` leaves s32 nor `acc·M + B` s64, for any c that a narrow row can have.
    function _cannotWrap(Parameters parameters) private pure returns (bool) {
        unchecked {
            int256 bias = parameters.bias();
            int256 addend = parameters.addend();
            int256 acc = (bias < 0 ? -bias : bias) + MAX_SUM;
            int256 sum = acc * int256(parameters.multiplier()) + (addend < 0 ? -addend : addend);
            return acc < 2 ** 31 && sum < 2 ** 63;
        }
    }

    /// @dev All addends of `((c + bias′)·M + B >> S) + zero point − lower clamp`, brought under the shift.
    function _addend(Parameters parameters) private pure returns (int256) {
        unchecked {
            int256 addend = parameters.addend();
            int256 above = _above(parameters) * int256(1 << parameters.shift());
            return parameters.bias() * int256(parameters.multiplier()) + addend + above;
        }
    }

    /// @dev The zero point minus the lower clamp.
    function _above(Parameters parameters) private pure returns (int256) {
        unchecked {
            return int256(parameters.zeroPoint()) - int256(parameters.lower());
        }
    }
}
