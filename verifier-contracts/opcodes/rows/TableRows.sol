// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";

/// @notice TABLE of whole tensors.
library TableRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, uint256 head, uint256 out) internal view returns (uint256) {
        return table(out, Machines.operand(m, head, 0), Machines.operand(m, head, 1));
    }

    /// @param out tensor without a pointer @param a operand of bytes @param map 256 bytes
    function table(uint256 out, uint256 a, uint256 map) internal pure returns (uint256 flat) {
        flat = Flat.allocate(out);
        (uint256 target, uint256 source, uint256 from) =
            (Flat.pointer(flat), Flat.pointer(a), Flat.pointer(map));
        uint256 count = Flat.count(out);
        assembly ("memory-safe") {
            for { let end := add(target, count) } lt(target, end) { target := add(target, 1) } {
                mstore8(target, byte(0, mload(add(from, byte(0, mload(source))))))
                source := add(source, 1)
            }
        }
    }
}
