// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Swar} from "../../libraries/Swar.sol";
import {Values} from "../../libraries/Values.sol";
import {OP_ARITH, TYPE_S32, UnknownVariant} from "../../types/Program.sol";
import {Arith} from "../Arith.sol";
import {Broadcast} from "./Broadcast.sol";

/// @notice ARITH of whole tensors.
library ArithRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, uint256 head, uint256 out) internal view returns (uint256 flat) {
        unchecked {
            uint256 variant = ProgramReader.variant(head);
            uint256 a = Machines.operand(m, head, 0);
            // 0 for a cast
            uint256 b = Machines.operand(m, head, 1);
            flat = Flat.allocate(out);
            uint256 free = Flat.mark();
            uint256 pa = Broadcast.expand(a, out);
            uint256 pb = b == 0 ? pa : Broadcast.expand(b, out);
            bool wide = Flat.code(a) == TYPE_S32 && (b == 0 || Flat.code(b) == TYPE_S32);
            if (wide && Flat.code(out) == TYPE_S32) {
                if (variant < Arith.MUL || variant == Arith.MIN || variant == Arith.MAX) {
                    uint256 target = Flat.pointer(flat);
                    Arith.lanes(variant, target, target + Flat.size(out), pa, pb);
                } else {
                    _s32(variant, Flat.pointer(flat), pa, pb, Flat.size(out));
                }
            } else if (wide && variant == Arith.CAST) {
                _cast(flat, pa);
            } else {
                _elements(variant, flat, (a & ~uint256(0xFFFFFFFF)) | pa, (b & ~uint256(0xFFFFFFFF)) | pb);
            }
            Flat.release(free);
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
                    mstore(out, shl(224, mul(shr(224, mload(a)), shr(224, mload(b)))))
                    a := add(a, 4)
                    b := add(b, 4)
                }
            }
        }
    }

    /// @dev s32 to bytes.
    function _cast(uint256 flat, uint256 a) private pure {
        unchecked {
            uint256 code = Flat.code(flat);
            uint256 out = Flat.pointer(flat);
            for (uint256 end = out + Flat.count(flat); out < end; ++out) {
                uint256 stored = Values.saturate(code, Values.wrap(int256(Flat.load(a) >> 224)));
                assembly ("memory-safe") {
                    mstore8(out, stored)
                }
                a += 4;
            }
        }
    }

    function _elements(uint256 variant, uint256 flat, uint256 a, uint256 b) private pure {
        unchecked {
            (uint256 code, uint256 aCode, uint256 bCode) = (Flat.code(flat), Flat.code(a), Flat.code(b));
            uint256 count = Flat.count(flat);
            bool isCast = variant == Arith.CAST;
            for (uint256 i = 0; i < count; ++i) {
                int256 x = Values.toInteger(aCode, Flat.element(a, i));
                int256 y = isCast ? int256(0) : Values.toInteger(bCode, Flat.element(b, i));
                Flat.put(flat, i, Arith.compute(variant, code, x, y));
            }
        }
    }
}
