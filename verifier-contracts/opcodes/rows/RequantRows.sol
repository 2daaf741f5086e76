// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../../interfaces/IFloatJudge.sol";
import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {FIRST_U32, Memory} from "../../libraries/Memory.sol";
import {
    PARAMETER_ADDEND,
    PARAMETER_BIAS,
    PARAMETER_LOWER,
    PARAMETER_MULTIPLIER,
    PARAMETER_SHIFT,
    PARAMETER_SHIFT_BITS,
    PARAMETER_UPPER,
    PARAMETER_ZERO_POINT,
    Parameters
} from "../../libraries/Parameters.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Values} from "../../libraries/Values.sol";
import {OP_REQUANT, REQUANT_BINARY32, REQUANT_INTEGER, UnknownVariant} from "../../types/Program.sol";
import {Requant} from "../Requant.sol";

/// @notice REQUANT of whole tensors.
library RequantRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat) {
        Flat a = Machines.operand(m, head, 0);
        (uint256 parameters, uint256 channels) = Machines.channelWords(m, head.operandOf(1));
        return requantize(m.floatJudge, head.variant(), out, a, parameters, channels);
    }

    /// @param form REQUANT_INTEGER or REQUANT_BINARY32 @param out tensor without a pointer @param a s32 operand
    /// @param parameters memory of the parameter words @param channels 1 or a's last dim
    function requantize(
        IFloatJudge floatJudge,
        uint256 form,
        Flat out,
        Flat a,
        uint256 parameters,
        uint256 channels
    ) internal view returns (Flat flat) {
        unchecked {
            if (form == REQUANT_BINARY32) {
                uint256 sums = _biased(a, parameters, channels);
                return binary32(floatJudge, out, sums, parameters, 32 * channels, 32);
            }
            if (form != REQUANT_INTEGER) revert UnknownVariant(OP_REQUANT, form);
            flat = out.allocate();
            for (uint256 channel = 0; channel < channels; ++channel) {
                Parameters word = Parameters.wrap(Memory.load(parameters + 32 * channel));
                _channel(flat.pointer() + channel, a.pointer() + 4 * channel, out.count(), channels, word);
            }
        }
    }

    /// @dev Every `step`-th element, as Requant.scale and Requant.clamp. @param count of all elements
    function _channel(uint256 out, uint256 a, uint256 count, uint256 step, Parameters parameters)
        private
        pure
    {
        assembly ("memory-safe") {
            let bias := sar(PARAMETER_BIAS, parameters)
            let multiplier := and(shr(PARAMETER_MULTIPLIER, parameters), 0xFFFFFFFF)
            let addend := shr(PARAMETER_ADDEND, parameters)
            let shift := and(shr(PARAMETER_SHIFT, parameters), PARAMETER_SHIFT_BITS)
            let zeroPoint := and(shr(PARAMETER_ZERO_POINT, parameters), 0xFF)
            let lower := and(shr(PARAMETER_LOWER, parameters), 0xFF)
            parameters := and(shr(PARAMETER_UPPER, parameters), 0xFF)
            for { let end := add(out, count) } lt(out, end) { out := add(out, step) } {
                let value := mul(signextend(3, add(sar(FIRST_U32, mload(a)), bias)), multiplier)
                value := add(sar(shift, signextend(7, add(value, addend))), zeroPoint)
                if slt(value, lower) { value := lower }
                if sgt(value, parameters) { value := parameters }
                mstore8(out, value)
                a := add(a, shl(2, step))
            }
        }
    }

    /// @dev Memory of `wrap(a + bias′)`.
    function _biased(Flat a, uint256 parameters, uint256 channels) private pure returns (uint256) {
        unchecked {
            uint256 count = a.count();
            Flat sums = a.moved(Memory.reserve(4 * count));
            for (uint256 i = 0; i < count; ++i) {
                int256 bias = Parameters.wrap(Memory.load(parameters + 32 * (i % channels))).bias();
                sums.put(i, Values.storeS32(int256(a.element(i)) + bias));
            }
            return sums.pointer();
        }
    }

    /// @notice The binary32 form, in one call.
    /// @param accs memory of s32 elements, bias′ in them @param parameters memory of the first parameter word
    /// @param period bytes after which the parameter words start again @param stride bytes from one to the next
    function binary32(
        IFloatJudge floatJudge,
        Flat out,
        uint256 accs,
        uint256 parameters,
        uint256 period,
        uint256 stride
    ) internal view returns (Flat flat) {
        unchecked {
            uint256 count = out.count();
            bytes memory sums = new bytes(4 * count);
            bytes memory words = new bytes(period / stride * 32);
            assembly ("memory-safe") {
                mcopy(add(sums, 0x20), accs, shl(2, count))
                let target := add(words, 0x20)
                for { let end := add(parameters, period) } lt(parameters, end) {
                    parameters := add(parameters, stride)
                } {
                    mstore(target, mload(parameters))
                    target := add(target, 0x20)
                }
            }
            bytes memory stored = floatJudge.requantizeAll(sums, words);
            assembly ("memory-safe") {
                flat := or(out, add(stored, 0x20))
            }
            Memory.reserve(0);
        }
    }
}
