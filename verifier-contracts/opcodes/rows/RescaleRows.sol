// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {Memory} from "../../libraries/Memory.sol";
import {Parameters} from "../../libraries/Parameters.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Values} from "../../libraries/Values.sol";
import {OP_RESCALE, RESCALE_CHANNEL, UnknownVariant} from "../../types/Program.sol";
import {Requant} from "../Requant.sol";
import {Rescale} from "../Rescale.sol";

/// @notice RESCALE of whole tensors.
library RescaleRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat) {
        if (head.variant() != RESCALE_CHANNEL) revert UnknownVariant(OP_RESCALE, head.variant());
        Flat a = Machines.operand(m, head, 0);
        (uint256 parameters, uint256 channels) = Machines.channelWords(m, head.operandOf(1));
        return rescale(out, a, parameters, channels);
    }

    /// @param out tensor without a pointer @param a s32 operand
    /// @param parameters memory of the parameter words @param channels 1 or a's last dim
    function rescale(Flat out, Flat a, uint256 parameters, uint256 channels)
        internal
        pure
        returns (Flat flat)
    {
        unchecked {
            flat = out.allocate();
            uint256 count = out.count();
            for (uint256 i = 0; i < count; ++i) {
                Parameters word = Parameters.wrap(Memory.load(parameters + 32 * (i % channels)));
                int256 acc = Values.wrap(int256(a.element(i)) + word.bias());
                flat.put(i, Rescale.rescale(acc, word));
            }
        }
    }
}
