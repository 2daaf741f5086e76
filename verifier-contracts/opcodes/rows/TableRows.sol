// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";

/// @notice TABLE of whole tensors.
library TableRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat) {
        return table(out, Machines.operand(m, head, 0), Machines.operand(m, head, 1));
    }

    /// @param out tensor without a pointer @param a operand of bytes @param map 256 bytes
    function table(Flat out, Flat a, Flat map) internal pure returns (Flat flat) {
        flat = out.allocate();
        (uint256 target, uint256 source, uint256 from) = (flat.pointer(), a.pointer(), map.pointer());
        uint256 count = out.count();
        assembly ("memory-safe") {
            for { let end := add(target, count) } lt(target, end) { target := add(target, 1) } {
                mstore8(target, byte(0, mload(add(from, byte(0, mload(source))))))
                source := add(source, 1)
            }
        }
    }
}
