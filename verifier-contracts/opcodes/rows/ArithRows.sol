// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {FIRST_U32, Memory} from "../../libraries/Memory.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Swar} from "../../libraries/Swar.sol";
import {Values} from "../../libraries/Values.sol";
import {OP_ARITH, TYPE_S32, UnknownVariant} from "../../types/Program.sol";
import {Arith} from "../Arith.sol";
import {Broadcast} from "./Broadcast.sol";

/// @notice ARITH of whole tensors.
library ArithRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat flat) {
        unchecked {
            uint256 variant = head.variant();
            Flat a = Machines.operand(m, head, 0);
            // NO_FLAT for a cast
            Flat b = Machines.operand(m, head, 1);
            flat = out.allocate();
            uint256 free = Memory.mark();
            uint256 pa = Broadcast.expand(a, out);
            uint256 pb = b.isNone() ? pa : Broadcast.expand(b, out);
            bool wide = a.code() == TYPE_S32 && (b.isNone() || b.code() == TYPE_S32);
            if (wide && out.code() == TYPE_S32) {
                if (variant < Arith.MUL || variant == Arith.MIN || variant == Arith.MAX) {
                    uint256 target = flat.pointer();
                    Arith.lanes(variant, target, target + out.size(), pa, pb);
                } else {
                    _s32(variant, flat.pointer(), pa, pb, out.size());
                }
            } else if (wide && variant == Arith.CAST) {
                _cast(flat, pa);
            } else {
                _elements(variant, flat, a.moved(pa), b.moved(pb));
            }
            Memory.release(free);
        }
    }

    /// @dev mul, div and cast of s32 to s32.
    function _s32(uint256 variant, uint256 out, uint256 a, uint256 b, uint256 size) private pure {
        if (variant == Arith.DIV) return Swar.divide(out, out + size, a, b);
        bool isCast = variant == Arith.CAST;
        if (!isCast && variant != Arith.MUL) revert UnknownVariant(OP_ARITH, variant);
        assembly ("memory-safe") {
            switch isCast
            case 1 { mcopy(out, a, size) }
            default {
                for { let end := add(out, size) } lt(out, end) { out := add(out, 4) } {
                    mstore(out, shl(FIRST_U32, mul(shr(FIRST_U32, mload(a)), shr(FIRST_U32, mload(b)))))
                    a := add(a, 4)
                    b := add(b, 4)
                }
            }
        }
    }

    /// @dev s32 to bytes.
    function _cast(Flat flat, uint256 a) private pure {
        unchecked {
            uint256 code = flat.code();
            uint256 out = flat.pointer();
            for (uint256 end = out + flat.count(); out < end; ++out) {
                uint256 stored = Values.saturate(code, Values.wrap(int256(Memory.load(a) >> FIRST_U32)));
                assembly ("memory-safe") {
                    mstore8(out, stored)
                }
                a += 4;
            }
        }
    }

    function _elements(uint256 variant, Flat flat, Flat a, Flat b) private pure {
        unchecked {
            (uint256 code, uint256 aCode, uint256 bCode) = (flat.code(), a.code(), b.code());
            uint256 count = flat.count();
            bool isCast = variant == Arith.CAST;
            for (uint256 i = 0; i < count; ++i) {
                int256 x = Values.toInteger(aCode, a.element(i));
                int256 y = isCast ? int256(0) : Values.toInteger(bCode, b.element(i));
                flat.put(i, Arith.compute(variant, code, x, y));
            }
        }
    }
}
