// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Values} from "../../libraries/Values.sol";
import {Requant} from "../Requant.sol";
import {Rescale} from "../Rescale.sol";

/// @notice RESCALE of whole tensors.
library RescaleRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, uint256 head, uint256 out) internal view returns (uint256) {
        uint256 a = Machines.operand(m, head, 0);
        (uint256 parameters, uint256 channels) = Machines.channelWords(m, ProgramReader.operandOf(head, 1));
        return rescale(out, a, parameters, channels);
    }

    /// @param out tensor without a pointer @param a s32 operand
    /// @param parameters memory of the parameter words @param channels 1 or a's last dim
    function rescale(uint256 out, uint256 a, uint256 parameters, uint256 channels)
        internal
        pure
        returns (uint256 flat)
    {
        unchecked {
            flat = Flat.allocate(out);
            uint256 count = Flat.count(out);
            for (uint256 i = 0; i < count; ++i) {
                uint256 word = Flat.load(parameters + 32 * (i % channels));
                int256 acc = Values.wrap(int256(Flat.element(a, i)) + Requant.bias(word));
                Flat.put(flat, i, Rescale.rescale(acc, word));
            }
        }
    }
}
