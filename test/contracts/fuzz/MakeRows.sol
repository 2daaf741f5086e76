// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LAYOUT_CHANNEL, LAYOUT_DOT} from "../../../verifier-contracts/types/Program.sol";
import {Dice, Dices} from "./Dice.sol";
import {MakeElements} from "./MakeElements.sol";
import {Case, Cases} from "./RecordCase.sol";

/// @notice Random records of DOT, REQUANT and RESCALE, which read rows of weights.
library MakeRows {
    using Dices for Dice;

    function dot(Case memory c) internal pure {
        unchecked {
            c.variant = c.dice.below(6);
            bool isPlanes = c.variant >= 4;
            if (c.variant == 3) return _dotOfActivations(c);
            uint256 longest = isPlanes ? 2016 : 992;
            uint256 length =
                c.dice.once(40) ? longest - c.dice.below(2) : c.dice.dim(c.dice.once(3) ? 200 : 40);
            uint256 groups = c.dice.once(2) ? 1 : c.dice.range(1, 5);
            // Half of them have so few products that they are planned.
            bool isSmall = c.dice.once(2);
            uint256 outputs = groups * c.dice.dim(length > 100 || isSmall ? 6 : 40);
            c.attribute = groups;
            uint256 rank = c.dice.range(1, 6);
            uint256 most = (length > 100 ? 60 : length > 40 ? 400 : 1600) / outputs + 1;
            if (isSmall) most = 256 / ((length + 31) / 32) / outputs + 1;
            // Rows of planes are twice as long, and calldata hold them.
            if (isPlanes) most = most / 2 + 1;
            uint256 outer = rank == 1 ? 0 : c.dice.shape(rank - 1, most);
            bool isSums = c.variant == 0 || c.variant == 4 || (c.variant == 5 && c.dice.once(2));
            Cases.output(c, isSums ? 2 : c.dice.below(2), rank, outer | outputs << (256 - 32 * rank));
            // Rows of planes are of bytes without a sign, and twice as long.
            if (isPlanes) _activations(c, 0, c.count / outputs * groups, 2 * length, 1);
            else _activations(c, 0, c.count / outputs * groups, length, 2);
            _weights(c, outputs, length);
            if (c.variant == 5 && c.code == 2 && c.dice.once(2)) MakeElements.plain(c, 2, 2, rank, c.shape);
        }
    }

    /// @dev One for each number, in dims of a or in one.
    function _factors(Case memory c) private pure {
        (uint256 rank, uint256 shape) = (c.operands[0].rank, c.operands[0].shape);
        if (c.dice.once(2)) (rank, shape) = (1, c.operands[0].count << 224);
        MakeElements.plain(c, 2, 2, rank, shape);
    }

    /// @dev Words of a row hold anything, beyond its elements too: nobody vouches for them.
    function _weights(Case memory c, uint256 outputs, uint256 length) private pure {
        unchecked {
            bytes memory weights = c.dice.tensorBytes(0, outputs * (32 * ((length + 31) / 32) + 32));
            uint256 step = 32 * ((length + 31) / 32) + 32;
            for (uint256 row = 0; row < outputs; ++row) {
                Cases.write(weights, row * step + step - 32, parameters(c.dice));
            }
            Cases.operand(c, 1, LAYOUT_DOT, 0, 2, outputs << 224 | length << 192, weights);
            if (!c.dice.once(4)) _clean(c, weights, outputs, length, step);
        }
    }

    /// @dev Rows of a, of which so many as the attribute says share a matrix of b.
    function _dotOfActivations(Case memory c) private pure {
        unchecked {
            uint256 length = c.dice.once(10) ? 1024 - c.dice.below(2) : c.dice.dim(c.dice.once(3) ? 200 : 40);
            uint256 outputs = c.dice.dim(length > 100 ? 6 : 20);
            uint256 rank = c.dice.range(1, 6);
            uint256 outer = rank == 1 ? 0 : c.dice.shape(rank - 1, (length > 100 ? 24 : 240) / outputs + 1);
            Cases.output(c, 2, rank, outer | outputs << (256 - 32 * rank));
            uint256 rows = c.count / outputs;
            c.attribute = rows / c.dice.range(1, rows);
            while (rows % c.attribute != 0) --c.attribute;
            _activations(c, 0, rows, length, 2);
            _activations(c, 1, rows / c.attribute * outputs, length, 2);
        }
    }

    /// @dev Rows of activations; as many axes as the dice say. @param types 1: u8, 2: s8 as well
    function _activations(Case memory c, uint256 position, uint256 rows, uint256 length, uint256 types)
        private
        pure
    {
        uint256 shape = rows << 224 | length << 192;
        uint256 rank = 2;
        if (rows == 1 && c.dice.once(2)) (rank, shape) = (1, length << 224);
        else if (c.dice.once(3)) (rank, shape) = (4, 1 << 224 | rows << 192 | 1 << 160 | length << 128);
        MakeElements.plain(c, position, c.dice.below(types), rank, shape);
    }

    /// @dev Zeros beyond a row's elements, as import writes them: element 32w + j is byte 31 − j of word w.
    function _clean(Case memory, bytes memory weights, uint256 outputs, uint256 length, uint256 step)
        private
        pure
    {
        unchecked {
            uint256 unused = (32 - length % 32) % 32;
            for (uint256 row = 0; row < outputs; ++row) {
                uint256 place = row * step + step - 64;
                for (uint256 j = 0; j < unused; ++j) {
                    weights[place + j] = 0;
                }
            }
        }
    }

    /// @notice A parameter word: bias s32, M u32, B s64, S u8, scale f32, zero point, clamps u8, weight offset u16, zeros.
    function parameters(Dice memory d) internal pure returns (uint256 word) {
        unchecked {
            word = d.next();
            uint256 style = d.below(4);
            if (style == 0) return word;
            uint256 shift = style == 1 ? d.below(64) : d.range(8, 30);
            uint256 multiplier = style == 1 ? word >> 224 : d.range(1, 1 << (shift > 8 ? shift - 7 : 1));
            uint256 bias = style == 1 ? word >> 192 : uint256(d.range(0, 4000) - 2000);
            uint256 addend = style == 1 ? word >> 128 : (128 << shift) + (1 << shift) / 2;
            uint256 scale =
                style == 1 ? Dices.hostileFloat(word) : ((112 + d.below(20)) << 23) | (word & 0x7FFFFF);
            uint256 zeroPoint = style == 3 ? d.pick(hex"00018040ff", 5) : 128;
            uint256 clamps = style == 3 ? uint16(word >> 32) : 255;
            if (style == 3) addend = d.range(0, 1 << shift);
            word = (bias << 224) | (uint256(uint32(multiplier)) << 192) | (uint256(uint64(addend)) << 128);
            word |= (shift << 120) | (scale << 88) | (zeroPoint << 80) | (clamps << 64);
            word |= d.pick(hex"0080ff", 3) << 48;
            if (d.once(8)) word |= d.next() & 0xFFFFFFFFFFFF;
        }
    }

    function channelwise(Case memory c, bool isRescale) internal pure {
        unchecked {
            if (isRescale && c.dice.once(2)) return MakeElements.ratio(c);
            bool isPlanes = isRescale && c.dice.once(2);
            c.variant = isPlanes ? 2 : isRescale ? 0 : c.dice.range(1, 2);
            uint256 rank = c.dice.range(1, 6);
            uint256 shape = c.dice.shape(rank, MakeElements.size(c.dice));
            MakeElements.plain(c, 0, 2, rank, shape);
            uint256 length = c.operands[0].last;
            uint256 channels = c.dice.once(3) ? 1 : length;
            // Rows of planes are of numbers of any dims, and twice as long.
            if (isPlanes) {
                uint256 rows = c.operands[0].count / length;
                if (c.dice.once(3)) MakeElements.plain(c, 0, 2, 2, length << 224 | rows << 192);
                shape += length << (256 - 32 * rank);
            }
            Cases.output(c, isPlanes ? 0 : isRescale ? 2 : c.dice.below(2), rank, shape);
            bytes memory words = new bytes(32 * channels);
            for (uint256 i = 0; i < channels; ++i) {
                Cases.write(words, 32 * i, parameters(c.dice));
            }
            Cases.operand(c, 1, LAYOUT_CHANNEL, 0, 1, channels << 224, words);
            if (!isPlanes || c.dice.once(2)) return;
            if (c.dice.once(2)) return _factors(c);
            uint256 parts = length;
            while (length % parts != 0 || c.dice.once(2)) parts = c.dice.range(1, length);
            MakeElements.rowDivisors(c, 2, parts);
            c.attribute = MakeElements.multiplier(c.dice);
        }
    }
}
