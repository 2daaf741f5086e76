// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../../interfaces/IFloatJudge.sol";
import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Values} from "../../libraries/Values.sol";
import {OP_REQUANT, REQUANT_BINARY32, REQUANT_INTEGER, UnknownVariant} from "../../types/Program.sol";
import {Requant} from "../Requant.sol";

/// @notice REQUANT of whole tensors.
library RequantRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, uint256 head, uint256 out) internal view returns (uint256) {
        uint256 a = Machines.operand(m, head, 0);
        (uint256 parameters, uint256 channels) = Machines.channelWords(m, ProgramReader.operandOf(head, 1));
        return requantize(m.floatJudge, ProgramReader.variant(head), out, a, parameters, channels);
    }

    /// @param form REQUANT_INTEGER or REQUANT_BINARY32 @param out tensor without a pointer @param a s32 operand
    /// @param parameters memory of the parameter words @param channels 1 or a's last dim
    function requantize(
        IFloatJudge floatJudge,
        uint256 form,
        uint256 out,
        uint256 a,
        uint256 parameters,
        uint256 channels
    ) internal view returns (uint256 flat) {
        unchecked {
            if (form == REQUANT_BINARY32) {
                uint256 sums = _biased(a, parameters, channels);
                return binary32(floatJudge, out, sums, parameters, 32 * channels, 32);
            }
            if (form != REQUANT_INTEGER) revert UnknownVariant(OP_REQUANT, form);
            flat = Flat.allocate(out);
            for (uint256 channel = 0; channel < channels; ++channel) {
                uint256 word = Flat.load(parameters + 32 * channel);
                _channel(
                    Flat.pointer(flat) + channel,
                    Flat.pointer(a) + 4 * channel,
                    Flat.count(out),
                    channels,
                    word
                );
            }
        }
    }

    /// @dev Every `step`-th element, as Requant.scale and Requant.clamp. @param count of all elements
    function _channel(uint256 out, uint256 a, uint256 count, uint256 step, uint256 parameters) private pure {
        assembly ("memory-safe") {
            let bias := sar(224, parameters)
            let multiplier := and(shr(192, parameters), 0xFFFFFFFF)
            let addend := shr(128, parameters)
            let shift := and(shr(120, parameters), 63)
            let zeroPoint := and(shr(80, parameters), 0xFF)
            let lower := and(shr(72, parameters), 0xFF)
            parameters := and(shr(64, parameters), 0xFF)
            for { let end := add(out, count) } lt(out, end) { out := add(out, step) } {
                let value := mul(signextend(3, add(sar(224, mload(a)), bias)), multiplier)
                value := add(sar(shift, signextend(7, add(value, addend))), zeroPoint)
                if slt(value, lower) { value := lower }
                if sgt(value, parameters) { value := parameters }
                mstore8(out, value)
                a := add(a, shl(2, step))
            }
        }
    }

    /// @dev Memory of `wrap(a + bias′)`.
    function _biased(uint256 a, uint256 parameters, uint256 channels) private pure returns (uint256) {
        unchecked {
            uint256 count = Flat.count(a);
            uint256 sums = (a & ~uint256(0xFFFFFFFF)) | Flat.reserve(4 * count);
            for (uint256 i = 0; i < count; ++i) {
                int256 bias = Requant.bias(Flat.load(parameters + 32 * (i % channels)));
                Flat.put(sums, i, Values.storeS32(int256(Flat.element(a, i)) + bias));
            }
            return Flat.pointer(sums);
        }
    }

    /// @notice The binary32 form, in one call.
    /// @param accs memory of s32 elements, bias′ in them @param parameters memory of the first parameter word
    /// @param period bytes after which the parameter words start again @param stride bytes from one to the next
    function binary32(
        IFloatJudge floatJudge,
        uint256 out,
        uint256 accs,
        uint256 parameters,
        uint256 period,
        uint256 stride
    ) internal view returns (uint256 flat) {
        unchecked {
            uint256 count = Flat.count(out);
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
            Flat.reserve(0);
        }
    }
}
