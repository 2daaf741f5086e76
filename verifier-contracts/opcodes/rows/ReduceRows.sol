// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Reduce} from "../Reduce.sol";

/// @notice REDUCE of whole tensors.
library ReduceRows {
    /// @param variant 0 sum, 1 min, 2 max @param out tensor without a pointer @param a operand
    function run(uint256 variant, uint256 out, uint256 a) internal pure returns (uint256 flat) {
        unchecked {
            flat = Flat.allocate(out);
            uint256 count = Flat.last(a);
            uint256 code = Flat.code(a);
            uint256 rowBytes = count * Shapes.elementBytes(code);
            uint256 row = Flat.pointer(a);
            uint256 rows = Flat.count(out);
            for (uint256 i = 0; i < rows; ++i) {
                Flat.put(flat, i, Reduce.reduce(variant, code, row, count));
                row += rowBytes;
            }
        }
    }
}
