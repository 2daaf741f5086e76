// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../../../../verifier-contracts/types/Types.sol";
import {LayerCase} from "./LayerFixture.sol";
import {RandomLayers} from "./RandomLayers.sol";

/// @notice Compiled layers against the judge's kernels.
contract CompiledLayersTest is RandomLayers {
    event log_named_uint(string key, uint256 val);

    function _layer(uint32 length, uint32 rows, uint32 groups, uint32 outputs, uint8 variant)
        private
        pure
        returns (LayerCase memory l)
    {
        (l.length, l.rows, l.groups, l.outputs, l.variant) = (length, rows, groups, outputs, variant);
    }

    /// @return compared outputs
    function _check(LayerCase memory l, uint256 seed, bool hostile, uint256 inputs)
        private
        returns (uint256 compared)
    {
        fill(l, seed, hostile);
        ModelId modelId = compile(l);
        for (uint256 i = 0; i < inputs; ++i) {
            compared += compare(modelId, l, activationsOf(l, 5 * seed + i));
        }
    }

    /// @dev Lengths around a slice (30), a word (32), a block (150), and the longest row.
    function test_run_everyLength_succeeds() public {
        uint16[28] memory lengths = [
            1,
            2,
            3,
            4,
            29,
            30,
            31,
            32,
            33,
            59,
            60,
            61,
            62,
            63,
            64,
            89,
            91,
            119,
            149,
            150,
            151,
            152,
            153,
            180,
            256,
            300,
            512,
            992
        ];
        uint256 compared;
        for (uint256 i = 0; i < lengths.length; ++i) {
            for (uint8 variant = 0; variant < 2; ++variant) {
                LayerCase memory l = _layer(lengths[i], 5, 1, 1, variant);
                compared += _check(l, 100 + i, true, 5);
                compared += _check(l, 200 + i, false, 5);
            }
        }
        assertEq(compared, 28 * 2 * 2 * 5 * 5);
    }

    function test_run_manyHostileRows_succeeds() public {
        uint256 compared = _check(_layer(40, 150, 1, 3, 1), 1, true, 5);
        compared += _check(_layer(200, 60, 1, 2, 1), 2, true, 5);
        compared += _check(_layer(400, 40, 1, 2, 0), 3, true, 5);
        compared += _check(_layer(7, 300, 1, 6, 1), 4, true, 5);
        assertGe(compared, 10_000);
    }

    /// @dev Depthwise, groups that share a part, groups that a part's end cuts, several output rows each.
    function test_run_groups_succeeds() public {
        uint256 compared = _check(_layer(9, 12, 12, 7, 1), 1, true, 5);
        compared += _check(_layer(33, 40, 4, 2, 0), 2, true, 5);
        compared += _check(_layer(151, 66, 3, 2, 1), 3, true, 5);
        compared += _check(_layer(350, 34, 2, 2, 1), 4, false, 5);
        assertEq(compared, 5 * (84 + 80 + 132 + 68));
    }

    /// forge-config: default.fuzz.runs = 200
    function testFuzz_run_equalsJudge_succeeds(uint256 seed) public {
        uint32 groups = uint32(1 + random(seed, 0) % 3);
        uint32 length = uint32(1 + ((random(seed, 1) % 992) >> (random(seed, 2) % 8)));
        uint32 rows = groups * uint32(1 + random(seed, 3) % 4);
        uint32 outputs = uint32(1 + random(seed, 4) % 2);
        LayerCase memory l = _layer(length, rows, groups, outputs, uint8(random(seed, 5) % 2));
        l.code = uint8(random(seed, 6) % 2);
        _check(l, seed >> 3, random(seed, 7) % 4 != 0, 2);
    }

    /// @dev Rows with a single weight off the offset, at each place of two slices and a part: PUSHes of every length.
    function test_run_singleWeights_succeeds() public {
        LayerCase memory l = _layer(67, 67, 1, 1, 0);
        fill(l, 1, false);
        uint256 perRow = rowWords(l);
        uint8[4] memory stored = [127, 129, 0, 255];
        for (uint256 round = 0; round < stored.length; ++round) {
            for (uint256 n = 0; n < l.rows; ++n) {
                for (uint256 w = 0; w + 1 < perRow; ++w) {
                    l.words[n * perRow + w] = bytes32(uint256(0x80) * (type(uint256).max / 0xFF));
                }
                uint256 change = uint256(stored[round] ^ 0x80) << (8 * (n % 32));
                l.words[n * perRow + n / 32] ^= bytes32(change);
            }
            assertEq(compare(compile(l), l, activationsOf(l, 3 + round)), l.rows);
        }
    }

    /// @dev The sum of a lane at its limit: 255 · 32,896 < 2^23 is narrow, one unit more is wide.
    function test_run_laneLimit_succeeds() public {
        LayerCase memory l = _layer(258, 4, 1, 1, 0);
        for (uint256 n = 0; n < 4; ++n) {
            // 32,896 = 257 · 128: o = 0 and weights of 128; rows 1 and 3 have one more, rows 2 and 3 are negative.
            fill(l, 7, false);
        }
        uint256 perRow = rowWords(l);
        for (uint256 n = 0; n < 4; ++n) {
            bool negative = n >= 2;
            for (uint256 i = 0; i < 258; ++i) {
                uint256 size = i == 257 ? n & 1 : 128;
                uint256 stored = negative ? 200 - size : size;
                uint256 place = n * perRow + i / 32;
                uint256 shift = 8 * (i % 32);
                uint256 word = uint256(l.words[place]) & ~(uint256(0xFF) << shift);
                l.words[place] = bytes32(word | (stored << shift));
            }
            l.words[(n + 1) * perRow - 1] = bytes32((negative ? uint256(200) : 0) << 48);
        }
        ModelId modelId = compile(l);
        bytes memory full = activationsOf(l, 0);
        assertEq(compare(modelId, l, full), 4);
        bytes memory output = runCompiled(modelId, l, full);
        int32[4] memory sums = [int32(255 * 32_896), 255 * 32_897, -255 * 32_896, -255 * 32_897];
        assertEq(output, abi.encodePacked(sums[0], sums[1], sums[2], sums[3]));
    }

    /// @dev Whole parts of rows that take the most code: their length never passes a contract's limit.
    /// forge-config: default.fuzz.runs = 40
    function testFuzz_build_longestCode_succeeds(uint256 seed) public {
        uint32 length = uint32(1 + ((random(seed, 1) % 992) >> (random(seed, 2) % 10)));
        uint256 perRow = 75 + 14 * ((length + 149) / 150) + 34 * ((length + 9) / 10);
        uint32 rows = uint32(24_576 / perRow + 2) & ~uint32(1);
        uint32 groups = [1, 2, rows / 2, rows][random(seed, 3) % 4];
        LayerCase memory l = _layer(length, rows, groups, 1, uint8(random(seed, 4) % 4 == 0 ? 0 : 1));
        _longest(l);
        ModelId modelId = registerLayer(l);
        (, uint256 partRows) = builder.stepParts(modelId, STEP);
        address part = buildPart(modelId, l, 0, partRows);
        emit log_named_uint("bytes", part.code.length);
        assertLe(part.code.length, 24_576);
        (bool success, bytes memory output) = part.staticcall(activationsOf(l, seed));
        assertTrue(success);
        assertEq(output.length, partRows * width(l));
    }

    /// @dev Lane words of 30 bytes, o above a byte, no small constant: bias′ −1, M and B as large as can be, S 63,
    /// zero point 0, clamps 1 and 255.
    function _longest(LayerCase memory l) private pure {
        uint256 perRow = rowWords(l);
        l.words = new bytes32[](l.rows * perRow);
        bytes memory parameters = abi.encodePacked(
            int32(-1),
            type(uint32).max,
            int64(-1),
            uint8(63),
            uint32(0),
            hex"0001ff",
            uint16(0xFFFF),
            bytes6(0)
        );
        for (uint256 i = 0; i < l.words.length; ++i) {
            l.words[i] = i % perRow + 1 == perRow ? bytes32(parameters) : bytes32(0);
        }
    }
}
