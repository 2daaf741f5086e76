// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {Transpose} from "../../../verifier-contracts/libraries/Transpose.sol";
import {CopyRuns, Runs} from "../../../verifier-contracts/opcodes/rows/CopyRuns.sol";
import {Test} from "../support/Test.sol";

contract TransposeTest is Test {
    /// @dev Room on both sides of what is copied.
    uint256 private constant AROUND = 64;

    function _fill(uint256 place, uint256 size, uint256 seed) private pure {
        for (uint256 i = 0; i < size; i += 32) {
            bytes32 word = keccak256(abi.encode(seed, i));
            assembly ("memory-safe") {
                mstore(add(place, i), word)
            }
        }
    }

    function _copyOf(uint256 place, uint256 size) private pure returns (uint256 copy) {
        copy = Memory.reserve(size);
        assembly ("memory-safe") {
            mcopy(copy, place, size)
        }
    }

    function _assertSame(uint256 place, uint256 expected, uint256 size) private pure {
        for (uint256 i = 0; i < size; i += 32) {
            assertEq(Memory.load(place + i), Memory.load(expected + i));
        }
    }

    /// @dev Element by element; nothing else is written.
    function _run(Runs memory r, uint256 target, uint256 source) private pure {
        unchecked {
            for (uint256 run = 0; run < r.runs; ++run) {
                for (uint256 j = 0; j < r.length; ++j) {
                    uint256 from = source + run * r.runStep + j * r.step;
                    uint256 to = target + run * r.outStep + j * r.size;
                    for (uint256 k = 0; k < r.size; ++k) {
                        assembly ("memory-safe") {
                            mstore8(add(to, k), byte(0, mload(add(from, k))))
                        }
                    }
                }
            }
        }
    }

    function testFuzz_eight_equalsLanes_succeeds(uint256 seed, uint256 gap, bool isBack) public pure {
        gap = 32 + bound(gap, 0, 64);
        uint256 source = Memory.reserve(8 * 96);
        uint256 target = Memory.reserve(8 * 96 + 2 * AROUND) + AROUND;
        _fill(source, 8 * 96, seed);
        _fill(target - AROUND, 8 * 96 + 2 * AROUND, ~seed);
        uint256 expected = _copyOf(target - AROUND, 8 * 96 + 2 * AROUND);
        uint256 first = isBack ? source + 7 * gap : source;
        uint256 step = gap;
        unchecked {
            if (isBack) step = 0 - gap;
        }
        _run(Runs(4, 8, step, 8, 4, 128 - gap), expected + AROUND, first);
        Transpose.eight(first, step, target, 128 - gap);
        _assertSame(target - AROUND, expected, 8 * 96 + 2 * AROUND);
    }

    /// @dev Runs of all kinds between neighbours that stay: elements side by side, apart, backward or the same ones, and
    /// those that are transposed in blocks.
    function testFuzz_copy_equalsBytes_succeeds(uint256 seed, uint8 runs, uint8 length, bool isByte)
        public
        pure
    {
        Runs memory r;
        r.size = isByte ? 1 : 4;
        r.runs = 1 + runs % 20;
        r.length = 1 + length % 20;
        uint256 extent = r.size * r.length;
        uint256 style = seed % 4;
        r.outStep = extent + r.size * (seed % 3);
        uint256 source = Memory.reserve(16384) + 8192;
        _fill(source - 8192, 16384, seed);
        unchecked {
            // Columns of a matrix that become rows, its order turned or not.
            r.runStep = r.size;
            r.step = r.size * r.runs;
            if (style == 1) r.step = 0 - r.step;
            if (style == 2) {
                (r.runStep, r.step) = (seed % 5 * r.size - 2 * r.size, seed % 7 * r.size - 3 * r.size);
            }
            if (style == 3) (r.runStep, r.step) = (extent + r.size * (seed % 2), r.size);
        }
        uint256 room = (r.runs * r.outStep + 2 * AROUND + 31) & ~uint256(31);
        uint256 target = Memory.reserve(room) + AROUND;
        _fill(target - AROUND, room, ~seed);
        uint256 expected = _copyOf(target - AROUND, room);
        _run(r, expected + AROUND, source);
        CopyRuns.copy(r, target, source);
        _assertSame(target - AROUND, expected, room);
    }
}
