// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Dice, Dices} from "./Dice.sol";
import {Case} from "./RecordCase.sol";

/// @param dims of the output @param owner the coordinate that an axis belongs to, FREE if none does
/// @param room elements that the output may still have, and the source
struct Draw {
    uint256[6] dims;
    uint256[6] owner;
    uint256 room;
    uint256 sourceRoom;
    uint256 style;
    uint256[4] views;
}

/// @param v the view's dim @param shift c of the coordinate
struct Line {
    uint256 v;
    int256 shift;
    int256 a;
    int256 b;
    uint256 p;
    uint256 q;
}

/// @notice Coordinates of random MOVE records. Each function makes one, number j, and says the dims of the axes in it.
library MoveLines {
    using Dices for Dice;

    function coordinate(Case memory c, Draw memory w, uint256 rank, uint256 j)
        internal
        pure
        returns (uint256)
    {
        unchecked {
            uint256 p = rank;
            uint256 q = rank;
            for (uint256 axis = 0; axis < rank; ++axis) {
                if (w.owner[axis] == j) (p, q) = (axis, p);
            }
            if (p == rank) return _constant(c, w, j);
            if (q == rank) return _single(c, w, j, p);
            if (c.dice.once(2)) (p, q) = (q, p);
            return _double(c, w, j, p, q);
        }
    }

    /// @dev The last two axes change places, with a pad around the rows now and then; axes before them stay.
    function transposed(Case memory c, Draw memory w, uint256 rank, uint256 j)
        internal
        pure
        returns (uint256)
    {
        unchecked {
            Line memory l;
            (l.v, l.a) = (1, 0);
            if (j >= rank) return _pack(c, w, j, l);
            l.a = c.dice.once(10) ? int256(-1) : int256(1);
            // Coordinate rank − 2 is the last axis, and the other way about.
            l.p = j + 2 == rank ? j + 1 : j + 1 == rank ? j - 1 : j;
            bool isRow = j + 1 == rank;
            uint256 most = j + 2 < rank ? 3 : isRow ? 40 : 20;
            l.v = c.dice.range(isRow ? 7 : 1, most);
            w.dims[l.p] = l.v;
            if (l.a < 0) l.shift = int256(l.v) - 1;
            if (isRow && c.dice.once(2)) {
                uint256 before = c.dice.once(2) ? c.dice.below(3) : 0;
                w.dims[l.p] += before + c.dice.below(3);
                l.shift -= l.a * int256(before);
            }
            return _pack(c, w, j, l);
        }
    }

    /// @dev No axis: view dim 1, or one index of more, at times one that is outside.
    function _constant(Case memory c, Draw memory w, uint256 j) private pure returns (uint256) {
        unchecked {
            Line memory l;
            l.v = c.dice.once(8) ? c.dice.dim(_least(w.sourceRoom, 8)) : 1;
            l.shift = l.v == 1 && !c.dice.once(60) ? int256(0) : int256(c.dice.below(l.v + 1));
            return _pack(c, w, j, l);
        }
    }

    function _single(Case memory c, Draw memory w, uint256 j, uint256 p) private pure returns (uint256) {
        unchecked {
            Line memory l;
            l.p = p;
            uint256 n = _dim(c, w, p);
            uint256 style = w.style < 3 ? c.dice.below(3) : c.dice.below(12);
            (l.v, l.a) = (n, 1);
            if (style < 3) {
                // As it stands, or reversed.
                if (style == 1 && c.dice.once(2)) (l.shift, l.a) = (int256(n) - 1, -1);
                return _pack(c, w, j, l);
            }
            l.a = int256(c.dice.range(1, 3));
            if (c.dice.once(12)) l.a = 0;
            uint256 reach = uint256(l.a) * (n - 1);
            // A slice, with what is left before and behind it.
            l.shift = int256(c.dice.below(4));
            l.v = reach + 1 + uint256(l.shift) + c.dice.below(3);
            if (c.dice.once(4)) (l.shift, l.a) = (l.shift + int256(reach), -l.a);
            // A pad before, behind or on both sides; seldom the box is empty, or begins far away.
            if (style > 7) {
                l.shift -= int256(c.dice.below(6));
                uint256 less = c.dice.below(6);
                l.v = l.v > less ? l.v - less : 1;
            }
            if (c.dice.once(40)) l.shift = int256(c.dice.range(0, 1 << 31)) - (1 << 30);
            return _pack(c, w, j, l);
        }
    }

    /// @dev A split of one axis into two, or windows with steps, dilation and pads.
    function _double(Case memory c, Draw memory w, uint256 j, uint256 p, uint256 q)
        private
        pure
        returns (uint256)
    {
        unchecked {
            Line memory l;
            (l.p, l.q) = (p, q);
            uint256 m = _dim(c, w, p);
            uint256 n = _dim(c, w, q);
            if (w.style < 4 && m * n <= w.sourceRoom) {
                (l.v, l.a, l.b) = (m * n, int256(n), 1);
                return _pack(c, w, j, l);
            }
            l.a = int256(c.dice.range(0, 3)) - (c.dice.once(4) ? int256(3) : int256(0));
            l.b = int256(c.dice.range(1, 2)) * (c.dice.once(5) ? int256(-1) : int256(1));
            int256 pad = c.dice.once(2) ? int256(c.dice.below(4)) : int256(0);
            l.shift = -pad;
            int256 reach = l.a * (int256(m) - 1);
            if (reach < 0) (l.shift, reach) = (l.shift - reach, -reach);
            l.v = uint256(reach) + 1;
            reach = l.b * (int256(n) - 1);
            if (reach < 0) (l.shift, reach) = (l.shift - reach, -reach);
            l.v += uint256(reach);
            l.v = l.v > uint256(2 * pad) ? l.v - uint256(2 * pad) : 1;
            return _pack(c, w, j, l);
        }
    }

    function _least(uint256 x, uint256 y) private pure returns (uint256) {
        return x < y ? x : y;
    }

    function _dim(Case memory c, Draw memory w, uint256 axis) private pure returns (uint256 n) {
        n = c.dice.dim(_least(_least(w.room, w.sourceRoom), 130));
        w.dims[axis] = n;
        unchecked {
            w.room /= n;
        }
    }

    /// @dev Cuts the view to the room that the source has; an axis whose factor is 0 is named as 0.
    function _pack(Case memory c, Draw memory w, uint256 j, Line memory l)
        private
        pure
        returns (uint256 word)
    {
        unchecked {
            l.v = _least(l.v, w.sourceRoom);
            w.sourceRoom /= l.v;
            w.views[j] = l.v;
            if (l.a == 0) l.p = 0;
            if (l.b == 0) l.q = 0;
            if (l.a > 0 || l.b > 0) c.stride |= 2;
            if (l.a < 0 || l.b < 0) c.stride |= 4;
            word = l.v << 96 | uint256(uint32(uint256(l.shift))) << 64 | uint256(uint24(uint256(l.a))) << 40;
            return word | uint256(uint24(uint256(l.b))) << 16 | l.p << 8 | l.q;
        }
    }
}
