// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LAYOUT_LOOKUP, LAYOUT_PLAIN} from "../../../verifier-contracts/types/Program.sol";
import {Dice, Dices} from "./Dice.sol";
import {MakeElements} from "./MakeElements.sol";
import {Case, Cases} from "./RecordCase.sol";

/// @notice Random records of LOOKUP.
library MakeLookup {
    using Dices for Dice;

    function make(Case memory c) internal pure {
        unchecked {
            c.variant = c.dice.below(4);
            if (c.variant == 2) return _each(c);
            if (c.variant == 3) return _below(c);
            bool sum = c.variant == 0;
            uint256 width = sum ? c.dice.range(1, c.dice.once(3) ? 16 : 3) : 1;
            uint256 columns = c.dice.once(20) ? 1024 - c.dice.below(2) : c.dice.dim(130);
            uint256 tableRows = c.dice.dim(columns > 200 ? 8 : 40);
            uint256 code = sum ? 2 : c.dice.below(5);
            uint256 rank = c.dice.range(1, 6);
            uint256 most = 1 + MakeElements.size(c.dice) / columns;
            uint256 outer = rank == 1 ? 0 : c.dice.shape(rank - 1, most);
            Cases.output(c, code, rank, outer | columns << (256 - 32 * rank));
            _ids(c, c.count / columns, width, tableRows);
            _table(c, tableRows, columns);
        }
    }

    /// @dev An element of a table for each id, of dims of any rank.
    function _each(Case memory c) private pure {
        unchecked {
            uint256 rank = c.dice.range(1, 6);
            Cases.output(c, c.dice.below(5), rank, c.dice.shape(rank, MakeElements.size(c.dice)));
            _numbersAndEntries(c);
        }
    }

    /// @dev An element of a table for each distance, of rows of up to 1,024 numbers; three in four have a mask.
    function _below(Case memory c) private pure {
        unchecked {
            uint256 rank = c.dice.range(1, 6);
            uint256 length = c.dice.once(20) ? 1024 - c.dice.below(2) : c.dice.dim(c.dice.once(3) ? 200 : 20);
            uint256 most = MakeElements.size(c.dice) / length + 1;
            uint256 outer = rank == 1 ? 0 : c.dice.shape(rank - 1, most);
            Cases.output(c, c.dice.below(5), rank, outer | length << (256 - 32 * rank));
            _numbersAndEntries(c);
            if (c.dice.once(4)) return;
            (uint256 own, uint256 shape) = MakeElements.spreadShape(c);
            uint256 axis = 256 - 32 * own;
            MakeElements.plain(c, 2, 4, own, (shape & ~(uint256(0xFFFFFFFF) << axis)) | length << axis);
            bytes memory counts = c.operands[2].data;
            // Rows of which few places count, or none.
            if (c.dice.once(2)) return;
            for (uint256 i = 0; i < counts.length; ++i) {
                if (!c.dice.once(8)) counts[i] = 0;
            }
        }
    }

    /// @dev Operand a has the output's dims; a table of one element, a short one, and now and then one of 16 bits.
    function _numbersAndEntries(Case memory c) private pure {
        unchecked {
            uint256 rows = c.dice.once(5) ? 1 : c.dice.once(60) ? 65_536 : c.dice.dim(300);
            bytes memory numbers = _idBytes(c.dice, c.count, rows);
            uint256 place = c.dice.once(3) ? LAYOUT_PLAIN : Cases.STEP;
            Cases.operand(c, 0, place, 2, c.rank, c.shape, numbers);
            bytes memory entries = c.dice.tensorBytes(c.code, rows);
            Cases.operand(c, 1, LAYOUT_PLAIN, c.code, 2, rows << 224 | 1 << 192, entries);
        }
    }

    function _table(Case memory c, uint256 rows, uint256 columns) private pure {
        unchecked {
            uint256 shape = rows << 224 | columns << 192;
            if (c.variant == 0) {
                bytes memory data = c.dice.tensorBytes(0, rows * 32 * ((columns + 31) / 32));
                Cases.operand(c, 1, LAYOUT_LOOKUP, 1, 2, shape, data);
            } else {
                Cases.operand(
                    c, 1, LAYOUT_PLAIN, c.code, 2, shape, c.dice.tensorBytes(c.code, rows * columns)
                );
            }
        }
    }

    function _ids(Case memory c, uint256 rows, uint256 width, uint256 tableRows) private pure {
        unchecked {
            // The input that they are read from has 64 KB at most.
            if (rows * width > 16_000) width = 16_000 / rows;
            bytes memory ids = _idBytes(c.dice, rows * width, tableRows);
            uint256 code = c.dice.once(3) ? LAYOUT_PLAIN : Cases.STEP;
            Cases.operand(c, 0, code, 2, 2, rows << 224 | width << 192, ids);
        }
    }

    function _idBytes(Dice memory dice, uint256 count, uint256 tableRows)
        private
        pure
        returns (bytes memory ids)
    {
        unchecked {
            ids = new bytes(4 * count + 28);
            uint256 style = dice.below(4);
            for (uint256 i = 0; i < count; ++i) {
                uint256 id = dice.below(tableRows);
                // Behind the table's last row, negative and huge ones; rows of zeros; all the same.
                if (style == 1 && dice.once(3)) id = Dices.hostileInteger(dice.next());
                if (style == 1 && dice.once(3)) id = tableRows - 1 + dice.below(3);
                if (style == 2 && dice.once(2)) id = 0;
                if (style == 3) id = tableRows - 1;
                Cases.write(ids, 4 * i, id << 224);
            }
            assembly ("memory-safe") {
                mstore(ids, sub(mload(ids), 28))
            }
        }
    }
}
