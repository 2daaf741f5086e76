// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Values} from "../libraries/Values.sol";
import {Tensor} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice LOOKUP: sums of table rows, or one row picked (docs/EXACT.md, section 3).
library Lookup {
    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        Tensor memory ids = Openings.operand(t, 0);
        Tensor memory table = Openings.operand(t, 1);
        if (ProgramReader.variant(t.record.head) == 0) return _sum(t, openings, ids, table);
        unchecked {
            uint256 row = t.element / t.out.last;
            uint256 id = clampId(Openings.openElement(t, openings, ids, row), table.rows);
            return Openings.openElement(t, openings, table, id * table.last + t.element % t.out.last);
        }
    }

    function _sum(Trial memory t, Opening[] calldata openings, Tensor memory ids, Tensor memory table)
        private
        pure
        returns (uint256)
    {
        unchecked {
            uint256 column = t.element % t.out.last;
            uint256 row = Openings.openRow(t, openings, ids, t.element / t.out.last);
            int256 sum = 0;
            for (uint256 i = 0; i < ids.last; ++i) {
                uint256 id = clampId(idAt(row, i), table.rows);
                if (id != 0) {
                    sum += value(Openings.openWord(t, openings, table, id, column >> 5), column & 31);
                }
            }
            return Values.storeS32(sum);
        }
    }

    /// @notice The id number i of a row in memory, stored.
    function idAt(uint256 row, uint256 i) internal pure returns (uint256 id) {
        assembly ("memory-safe") {
            id := shr(224, mload(add(row, shl(2, i))))
        }
    }

    /// @notice The table row that a stored id names. @param rows V
    function clampId(uint256 stored, uint256 rows) internal pure returns (uint256) {
        unchecked {
            return uint256(Values.clamp(Values.wrap(int256(stored)), 0, int256(rows) - 1));
        }
    }

    /// @notice Element `column` of a lane-interleaved word: number 8r + t is at byte 4t + 3 − r, stored + 128.
    function value(uint256 word, uint256 column) internal pure returns (int256) {
        unchecked {
            uint256 position = 4 * (column & 7) + 3 - (column >> 3);
            return int256((word >> (248 - 8 * position)) & 0xFF) - 128;
        }
    }
}
