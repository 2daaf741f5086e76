// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IJudge} from "../interfaces/IJudge.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {
    OP_ARITH,
    OP_CODEC,
    OP_DOT,
    OP_FLOAT,
    OP_LOOKUP,
    OP_MOVE,
    OP_REDUCE,
    OP_REQUANT,
    OP_RESCALE,
    OP_SELECT,
    OP_TABLE,
    UnknownOpcode
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";
import {Arith} from "./Arith.sol";
import {Dot} from "./Dot.sol";
import {Lookup} from "./Lookup.sol";
import {Move} from "./Move.sol";
import {Reduce} from "./Reduce.sol";
import {Requant} from "./Requant.sol";
import {Rescale} from "./Rescale.sol";
import {Select} from "./Select.sol";
import {Table} from "./Table.sol";

/// @notice The meaning of a step: one element of its tensor from elements of its operands (docs/EXACT.md, section 3).
/// The judge calls it with operands that a sender opens, ElementCheck with those that an interpreter holds, and every
/// faster form of an opcode is compared with it.
library Elements {
    /// @param t the trial, its step set
    /// @return stored bytes of the element, right-aligned
    function compute(Trial memory t, Opening[] calldata openings) internal view returns (uint256 stored) {
        uint256 opcode = ProgramReader.opcode(t.record.head);
        if (opcode == OP_DOT) return Dot.judge(t, openings);
        if (opcode == OP_MOVE) return Move.judge(t, openings);
        if (opcode == OP_ARITH) return Arith.judge(t, openings);
        if (opcode == OP_FLOAT) return _float(t, openings);
        if (opcode == OP_REQUANT) return Requant.judge(t, openings);
        if (opcode == OP_RESCALE) return Rescale.judge(t, openings);
        if (opcode == OP_TABLE) return Table.judge(t, openings);
        if (opcode == OP_LOOKUP) return Lookup.judge(t, openings);
        if (opcode == OP_REDUCE) return Reduce.judge(t, openings);
        if (opcode == OP_SELECT) return Select.judge(t, openings);
        // A codec's tensor is judged whole.
        if (opcode == OP_CODEC) revert IJudge.WrongOpcode(t.out.index, OP_CODEC);
        revert UnknownOpcode(opcode);
    }

    function _float(Trial memory t, Opening[] calldata openings) private view returns (uint256) {
        uint256 head = t.record.head;
        (uint256 a, uint256 aCode) = Openings.openBroadcast(t, openings, 0);
        uint256 b = Openings.openIfNamed(t, openings, 1);
        uint256 c = Openings.openIfNamed(t, openings, 2);
        return t.floatJudge.compute(ProgramReader.variant(head), t.out.code, aCode, a, b, c);
    }
}
