// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Dice, Dices} from "./Dice.sol";
import {MakeElements} from "./MakeElements.sol";
import {Draw, MoveLines} from "./MoveLines.sol";
import {Case, Cases} from "./RecordCase.sol";

/// @notice Random records of MOVE: each coordinate gets up to two axes of the output, in any order, so that they are
/// reshapes, transposes, repeats, reversals, slices, pads and windows, and what none of these words says.
library MakeMove {
    using Dices for Dice;

    uint256 private constant FREE = 4;

    function make(Case memory c) internal pure {
        unchecked {
            Draw memory w;
            w.room = MakeElements.size(c.dice);
            w.sourceRoom = 4000;
            w.style = c.dice.below(8);
            bool isMatrix = c.dice.once(4);
            uint256 rank = isMatrix ? c.dice.range(2, 4) : c.dice.range(1, 6);
            if (!isMatrix) _assign(c, w, rank);
            for (uint256 j = 0; j < 4; ++j) {
                uint256 coordinate =
                    isMatrix ? MoveLines.transposed(c, w, rank, j) : MoveLines.coordinate(c, w, rank, j);
                if (j < 2) c.coordinates01 |= coordinate << (128 - 128 * j);
                else c.coordinates23 |= coordinate << (384 - 128 * j);
            }
            uint256 shape = 0;
            for (uint256 axis = 0; axis < rank; ++axis) {
                if (w.dims[axis] == 0) {
                    w.dims[axis] = c.dice.once(3) ? 1 : c.dice.dim(w.room < 70 ? w.room : 70);
                    if (w.dims[axis] > 1) c.stride |= 1;
                    w.room = w.room / w.dims[axis];
                }
                shape |= w.dims[axis] << (224 - 32 * axis);
            }
            uint256 code = c.dice.pick(hex"0202020001030400", 8);
            Cases.output(c, code, rank, shape);
            _source(c, w, code);
            if (c.dice.once(3)) MakeElements.plain(c, 1, code, rank, shape);
            else c.attribute = c.dice.next() >> (Cases.bytesOf(code) == 4 ? 224 : 248);
        }
    }

    /// @dev Axes go to coordinates in order, in the opposite one, or at random; some to none.
    function _assign(Case memory c, Draw memory w, uint256 rank) private pure {
        unchecked {
            uint256[5] memory taken;
            uint256 order = c.dice.below(3);
            for (uint256 axis = 0; axis < rank; ++axis) {
                uint256 j = c.dice.below(4);
                if (order == 0) j = axis * 4 / (rank < 4 ? 4 : rank);
                if (order == 1) j = 3 - axis * 4 / (rank < 4 ? 4 : rank);
                if (taken[j] == 2 || c.dice.once(12)) j = FREE;
                w.owner[axis] = j;
                taken[j]++;
            }
        }
    }

    /// @dev The source under the view's dims, all in one axis, or in two.
    function _source(Case memory c, Draw memory w, uint256 code) private pure {
        unchecked {
            uint256 v = w.views[0] * w.views[1];
            uint256 u = w.views[2] * w.views[3];
            uint256 style = c.dice.below(3);
            if (style == 0) return MakeElements.plain(c, 0, code, 1, v * u << 224);
            if (style == 1) return MakeElements.plain(c, 0, code, 2, v << 224 | u << 192);
            uint256 shape = w.views[0] << 224 | w.views[1] << 192 | w.views[2] << 160 | w.views[3] << 128;
            MakeElements.plain(c, 0, code, 4, shape);
        }
    }
}
