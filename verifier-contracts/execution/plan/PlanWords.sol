// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32, Memory} from "../../libraries/Memory.sol";
import {CopyRuns, Runs} from "../../opcodes/rows/CopyRuns.sol";
import {
    A,
    ARITH_A_STEP,
    ARITH_B_STEP,
    ARITH_SIZE,
    B,
    COPY_ELEMENT_STEP,
    COPY_OUT_STEP,
    COPY_RUNS,
    COPY_SIZE,
    COPY_STEP,
    Instruction,
    MAP_COUNT,
    OUT,
    SELECT_A_STEP,
    SELECT_B_STEP,
    SELECT_COUNT,
    SELECT_OTHER,
    SELECT_OTHER_STEP,
    U24,
    U8,
    VARIANT
} from "./Instruction.sol";

/// @notice Instructions of a plan that copy, add and choose; each decodes its own (Instruction). Results are stored in
/// ascending order: what one store spills is overwritten by the next, or is room behind the tensor.
library PlanWords {
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;
    uint256 private constant SIZES = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;

    /// @notice ARITH add (variant 0), sub (1), min (3) and max (4) of s32, eight elements at a time, as in Swar.
    /// @dev Steps are 32, or 0 where the operand is one element.
    function lanes(Instruction i) internal pure {
        assembly ("memory-safe") {
            let out := and(shr(OUT, i), U24)
            let a := and(shr(A, i), U24)
            let b := and(shr(B, i), U24)
            let end := add(out, and(shr(ARITH_SIZE, i), U24))
            let aStep := and(shr(ARITH_A_STEP, i), U8)
            let bStep := and(shr(ARITH_B_STEP, i), U8)
            if iszero(aStep) {
                mstore(0, mul(shr(FIRST_U32, mload(a)), ONES))
                a := 0
            }
            if iszero(bStep) {
                mstore(0x20, mul(shr(FIRST_U32, mload(b)), ONES))
                b := 0x20
            }
            switch and(shr(VARIANT, i), U8)
            case 0 {
                if and(aStep, bStep) {
                    // Four words a turn while there are as many.
                    for {} gt(sub(end, out), 0x7F) {} {
                        let x := mload(a)
                        let y := mload(b)
                        mstore(out, xor(add(and(x, SIZES), and(y, SIZES)), and(xor(x, y), SIGNS)))
                        x := mload(add(a, 0x20))
                        y := mload(add(b, 0x20))
                        mstore(add(out, 0x20), xor(add(and(x, SIZES), and(y, SIZES)), and(xor(x, y), SIGNS)))
                        x := mload(add(a, 0x40))
                        y := mload(add(b, 0x40))
                        mstore(add(out, 0x40), xor(add(and(x, SIZES), and(y, SIZES)), and(xor(x, y), SIGNS)))
                        x := mload(add(a, 0x60))
                        y := mload(add(b, 0x60))
                        mstore(add(out, 0x60), xor(add(and(x, SIZES), and(y, SIZES)), and(xor(x, y), SIGNS)))
                        a := add(a, 0x80)
                        b := add(b, 0x80)
                        out := add(out, 0x80)
                    }
                }
                for {} lt(out, end) { out := add(out, 0x20) } {
                    let x := mload(a)
                    let y := mload(b)
                    mstore(out, xor(add(and(x, SIZES), and(y, SIZES)), and(xor(x, y), SIGNS)))
                    a := add(a, aStep)
                    b := add(b, bStep)
                }
            }
            case 1 {
                for {} lt(out, end) { out := add(out, 0x20) } {
                    let x := mload(a)
                    let y := mload(b)
                    mstore(out, xor(sub(or(x, SIGNS), and(y, SIZES)), and(not(xor(x, y)), SIGNS)))
                    a := add(a, aStep)
                    b := add(b, bStep)
                }
            }
            default {
                // A minimum is the maximum of the complements.
                let flip := sub(eq(and(shr(VARIANT, i), U8), 4), 1)
                if iszero(aStep) {
                    a := b
                    aStep := bStep
                    b := 0
                    bStep := 0
                }
                switch bStep
                case 0 {
                    let y := xor(mload(b), flip)
                    let size := and(y, SIZES)
                    for {} lt(out, end) { out := add(out, 0x20) } {
                        let x := xor(mload(a), flip)
                        let differ := xor(x, y)
                        let bits := sub(or(x, SIGNS), size)
                        bits := and(xor(bits, and(xor(bits, y), differ)), SIGNS)
                        mstore(out, xor(xor(y, and(differ, sub(shl(1, bits), shr(31, bits)))), flip))
                        a := add(a, aStep)
                    }
                }
                default {
                    for {} lt(out, end) { out := add(out, 0x20) } {
                        let x := xor(mload(a), flip)
                        let y := xor(mload(b), flip)
                        let differ := xor(x, y)
                        let bits := sub(or(x, SIGNS), and(y, SIZES))
                        bits := and(xor(bits, and(xor(bits, y), differ)), SIGNS)
                        mstore(out, xor(xor(y, and(differ, sub(shl(1, bits), shr(31, bits)))), flip))
                        a := add(a, aStep)
                        b := add(b, bStep)
                    }
                }
            }
        }
    }

    /// @notice ARITH mul (variant 2), div (5), lt (6), le (7) and eq (8) of s32, element by element;
    /// steps are 4 or 0.
    function product(Instruction i) internal pure {
        assembly ("memory-safe") {
            let out := and(shr(OUT, i), U24)
            let a := and(shr(A, i), U24)
            let b := and(shr(B, i), U24)
            let end := add(out, and(shr(ARITH_SIZE, i), U24))
            let aStep := and(shr(ARITH_A_STEP, i), U8)
            let bStep := and(shr(ARITH_B_STEP, i), U8)
            switch and(shr(VARIANT, i), U8)
            case 2 {
                for {} lt(out, end) { out := add(out, 4) } {
                    mstore(out, mul(and(mload(a), shl(FIRST_U32, 0xFFFFFFFF)), shr(FIRST_U32, mload(b))))
                    a := add(a, aStep)
                    b := add(b, bStep)
                }
            }
            case 5 {
                // By the same power of two, eight at a time, as in Swar; b may be one element.
                let y := 0
                let d := 1
                let mask := 0
                for {} and(lt(out, end), gt(aStep, 0)) { out := add(out, 0x20) } {
                    if or(iszero(mask), iszero(or(iszero(bStep), eq(y, mload(b))))) {
                        y := mul(shr(FIRST_U32, mload(b)), ONES)
                        d := shr(FIRST_U32, y)
                        if or(and(d, sub(d, 1)), iszero(lt(sub(d, 1), 0x7FFFFFFF))) { break }
                        if iszero(or(iszero(bStep), eq(y, mload(b)))) { break }
                        mask := mul(ONES, div(0xFFFFFFFF, d))
                    }
                    let x := mload(a)
                    let signs := and(x, SIGNS)
                    x := xor(add(and(x, SIZES), mul(shr(31, signs), sub(d, 1))), signs)
                    signs := and(x, SIGNS)
                    mstore(out, or(and(div(x, d), mask), sub(shl(1, signs), div(signs, d))))
                    a := add(a, 0x20)
                    b := add(b, shl(3, bStep))
                }
                for {} lt(out, end) { out := add(out, 4) } {
                    let divisor := sar(FIRST_U32, mload(b))
                    mstore(out, shl(FIRST_U32, mul(sgt(divisor, 0), sdiv(sar(FIRST_U32, mload(a)), divisor))))
                    a := add(a, aStep)
                    b := add(b, bStep)
                }
            }
            default {
                let variant := and(shr(VARIANT, i), U8)
                for {} lt(out, end) { out := add(out, 1) } {
                    let x := sar(FIRST_U32, mload(a))
                    let y := sar(FIRST_U32, mload(b))
                    // Less counts for lt and le, equal for le and eq.
                    mstore8(out, or(mul(slt(x, y), lt(variant, 8)), mul(eq(x, y), gt(variant, 6))))
                    a := add(a, aStep)
                    b := add(b, bStep)
                }
            }
        }
    }

    /// @notice Runs of bytes.
    function copy(Instruction i) internal pure {
        assembly ("memory-safe") {
            let out := and(shr(OUT, i), U24)
            let a := and(shr(A, i), U24)
            let size := and(shr(COPY_SIZE, i), U24)
            mcopy(out, a, size)
            let runs := sub(and(shr(COPY_RUNS, i), U24), 1)
            if runs {
                let step := signextend(2, shr(COPY_STEP, i))
                let outStep := and(shr(COPY_OUT_STEP, i), U24)
                for {} runs { runs := sub(runs, 1) } {
                    a := add(a, step)
                    out := add(out, outStep)
                    mcopy(out, a, size)
                }
            }
        }
    }

    /// @notice Runs of elements that stand apart.
    function strided(Instruction i) internal pure {
        uint256 free = Memory.mark();
        Runs memory r;
        r.size = i.variant();
        r.length = i.u24(COPY_SIZE);
        r.step = i.s24(COPY_ELEMENT_STEP);
        r.runs = i.u24(COPY_RUNS);
        r.runStep = i.s24(COPY_STEP);
        r.outStep = i.u24(COPY_OUT_STEP);
        CopyRuns.copy(r, i.out(), i.a());
        Memory.release(free);
    }

    /// @notice ARITH cast of s32 to u8 (variant 0), s8 (1) and bool (4).
    function cast(Instruction i) internal pure {
        assembly ("memory-safe") {
            let out := and(shr(OUT, i), U24)
            let a := and(shr(A, i), U24)
            let end := add(out, and(shr(MAP_COUNT, i), U24))
            let code := and(shr(VARIANT, i), U8)
            switch eq(code, 4)
            case 1 {
                for {} lt(out, end) { out := add(out, 1) } {
                    mstore8(out, iszero(iszero(shr(FIRST_U32, mload(a)))))
                    a := add(a, 4)
                }
            }
            default {
                // A stored s8 is its value + 128.
                let offset := shl(7, code)
                for {} lt(out, end) { out := add(out, 1) } {
                    let value := add(sar(FIRST_U32, mload(a)), offset)
                    if gt(value, 255) { value := mul(255, sgt(value, 0)) }
                    mstore8(out, value)
                    a := add(a, 4)
                }
            }
        }
    }

    /// @notice SELECT: a is the condition, b where it is true.
    function select(Instruction i) internal pure {
        assembly ("memory-safe") {
            let out := and(shr(OUT, i), U24)
            let a := and(shr(A, i), U24)
            let b := and(shr(B, i), U24)
            let c := and(shr(SELECT_OTHER, i), U24)
            let bytesOf := and(shr(VARIANT, i), U8)
            let end := add(out, mul(bytesOf, and(shr(SELECT_COUNT, i), U24)))
            for {} lt(out, end) { out := add(out, bytesOf) } {
                let from := c
                if byte(0, mload(a)) { from := b }
                mstore(out, mload(from))
                a := add(a, and(shr(SELECT_A_STEP, i), U8))
                b := add(b, and(shr(SELECT_B_STEP, i), U8))
                c := add(c, and(shr(SELECT_OTHER_STEP, i), U8))
            }
        }
    }
}
