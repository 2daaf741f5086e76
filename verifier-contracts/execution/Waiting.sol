// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../libraries/Flat.sol";
import {Machine, Machines} from "../libraries/Machine.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Arith} from "../opcodes/Arith.sol";
import {Requant} from "../opcodes/Requant.sol";
import {MoveRows} from "../opcodes/rows/MoveRows.sol";
import {RequantRows} from "../opcodes/rows/RequantRows.sol";
import {NONE, OP_ARITH, OP_MOVE, OP_REQUANT, TYPE_S32, WEIGHT} from "../types/Program.sol";

/// @notice Steps whose tensors wait until another step reads them, since that one may do with less: a matrix from whose
/// columns numbers are subtracted, that is requantized, then turned, is made in one pass. Machines.tensor makes a tensor
/// that is wanted as it is.
library Waiting {
    /// @dev Rows of a matrix that is worth it.
    uint256 private constant MANY = 64;

    /// @notice True if a REQUANT waits. @param out its tensor without a pointer
    function canRequantize(uint256 variant, uint256 out) internal pure returns (bool) {
        return variant == Requant.INTEGER && _isTall(out);
    }

    /// @notice True if an ARITH waits: one number is subtracted from each column. @param a operand in memory
    function canSubtract(uint256 variant, uint256 out, uint256 a, uint256 b) internal pure returns (bool) {
        if (variant != Arith.SUB || !_isTall(out) || Flat.count(a) != Flat.count(out)) return false;
        if (Flat.count(b) != Flat.last(out) || Flat.last(b) != Flat.last(out)) return false;
        return Flat.code(out) == TYPE_S32 && Flat.code(a) == TYPE_S32 && Flat.code(b) == TYPE_S32;
    }

    function _isTall(uint256 out) private pure returns (bool) {
        unchecked {
            return Flat.count(out) >= MANY * Flat.last(out);
        }
    }

    /// @notice Runs a MOVE step. @param index of operand a @param b operand b
    function move(Machine memory m, uint256 record, uint256 out, uint256 index, uint256 b)
        internal
        view
        returns (uint256)
    {
        unchecked {
            if (index < WEIGHT) {
                uint256 a = Flat.load(m.steps + 32 * index);
                if (Flat.pointer(a) == 0) {
                    uint256 flat = _through(m, record, out, a, index);
                    if (flat != 0) return flat;
                }
            }
            b = b == NONE ? 0 : Machines.tensor(m, b);
            return MoveRows.move(m.plan, record, out, Machines.tensor(m, index), b);
        }
    }

    /// @dev A MOVE of a tensor that waits. @return flat its tensor, or 0 if it needs the other one as it is
    function _through(Machine memory m, uint256 record, uint256 out, uint256 a, uint256 index)
        private
        view
        returns (uint256 flat)
    {
        unchecked {
            uint256 head = Flat.load(m.records + ProgramReader.RECORD_BYTES * index);
            uint256 opcode = ProgramReader.opcode(head);
            if (opcode == OP_MOVE) return MoveRows.moveView(m.plan, record, out, a);
            if (opcode == OP_REQUANT && MoveRows.isTurn(m.plan, record, out, Flat.last(a))) {
                return _turned(m, head, out);
            }
        }
    }

    function _turned(Machine memory m, uint256 head, uint256 out) private view returns (uint256) {
        unchecked {
            (uint256 parameters, uint256 channels) =
                Machines.channelWords(m, ProgramReader.operandOf(head, 1));
            uint256 before = 0;
            uint256 index = ProgramReader.operandOf(head, 0);
            if (index < WEIGHT && Flat.pointer(Flat.load(m.steps + 32 * index)) == 0) {
                uint256 arith = Flat.load(m.records + ProgramReader.RECORD_BYTES * index);
                if (ProgramReader.opcode(arith) == OP_ARITH) {
                    before = Flat.pointer(Machines.operand(m, arith, 1));
                    index = ProgramReader.operandOf(arith, 0);
                }
            }
            uint256 a = Flat.pointer(Machines.tensor(m, index));
            return RequantRows.turned(m.turnedRequant, out, a, before, parameters, channels);
        }
    }
}
