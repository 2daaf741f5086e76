// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {Memory} from "../../libraries/Memory.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Broadcast} from "./Broadcast.sol";

/// @notice SELECT of whole tensors.
library SelectRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat) {
        Flat a = Machines.operand(m, head, 0);
        Flat b = Machines.operand(m, head, 1);
        return select(out, a, b, Machines.operand(m, head, 2));
    }

    /// @param out tensor without a pointer @param a condition @param b where it is true @param c where it is not
    function select(Flat out, Flat a, Flat b, Flat c) internal pure returns (Flat flat) {
        flat = out.allocate();
        uint256 free = Memory.mark();
        uint256 condition = Broadcast.expand(a, out);
        uint256 yes = Broadcast.expand(b, out);
        uint256 no = Broadcast.expand(c, out);
        uint256 target = flat.pointer();
        uint256 size = out.size();
        uint256 bytesOf = Shapes.elementBytes(out.code());
        assembly ("memory-safe") {
            // Stores in ascending order: what one spills is overwritten by the next, or is room behind the tensor.
            for { let i := 0 } lt(i, size) { i := add(i, bytesOf) } {
                let from := no
                if byte(0, mload(condition)) { from := yes }
                mstore(add(target, i), mload(add(from, i)))
                condition := add(condition, 1)
            }
        }
        Memory.release(free);
    }
}
