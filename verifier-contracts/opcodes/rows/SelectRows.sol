// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Broadcast} from "./Broadcast.sol";

/// @notice SELECT of whole tensors.
library SelectRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, uint256 head, uint256 out) internal view returns (uint256) {
        uint256 a = Machines.operand(m, head, 0);
        uint256 b = Machines.operand(m, head, 1);
        return select(out, a, b, Machines.operand(m, head, 2));
    }

    /// @param out tensor without a pointer @param a condition @param b where it is true @param c where it is not
    function select(uint256 out, uint256 a, uint256 b, uint256 c) internal pure returns (uint256 flat) {
        flat = Flat.allocate(out);
        uint256 free = Flat.mark();
        uint256 condition = Broadcast.expand(a, out);
        uint256 yes = Broadcast.expand(b, out);
        uint256 no = Broadcast.expand(c, out);
        uint256 target = Flat.pointer(flat);
        uint256 size = Flat.size(out);
        uint256 bytesOf = Shapes.elementBytes(Flat.code(out));
        assembly ("memory-safe") {
            // Stores in ascending order: what one spills is overwritten by the next, or is room behind the tensor.
            for { let i := 0 } lt(i, size) { i := add(i, bytesOf) } {
                let from := no
                if byte(0, mload(condition)) { from := yes }
                mstore(add(target, i), mload(add(from, i)))
                condition := add(condition, 1)
            }
        }
        Flat.release(free);
    }
}
