// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Transpose} from "../../libraries/Transpose.sol";

/// @notice Runs of elements: element j of run r is copied from source + r·runStep + j·step to
/// target + r·outStep + j·size. Steps are in bytes, those of the source two's complement.
/// @param size bytes of an element, 1 or 4 @param length elements of a run, at least 1 @param runs how many
struct Runs {
    uint256 size;
    uint256 length;
    uint256 step;
    uint256 runs;
    uint256 runStep;
    uint256 outStep;
}

/// @notice Copies runs of elements in memory. Nothing but the runs is written, whatever stands between or behind them.
library CopyRuns {
    /// @dev Rows and columns of the blocks in which words are transposed.
    uint256 private constant BLOCK = 8;

    function copy(Runs memory r, uint256 target, uint256 source) internal pure {
        if (r.step == r.size || r.length == 1) return _contiguous(r, target, source);
        if (r.size == 4 && r.runStep == 4 && r.length >= BLOCK && r.runs >= BLOCK) {
            return _transpose(r, target, source);
        }
        _strided(r, target, source);
    }

    function _contiguous(Runs memory r, uint256 target, uint256 source) private pure {
        unchecked {
            (uint256 size, uint256 runStep, uint256 outStep) = (r.length * r.size, r.runStep, r.outStep);
            uint256 runs = r.runs;
            assembly ("memory-safe") {
                for {} runs { runs := sub(runs, 1) } {
                    mcopy(target, source, size)
                    source := add(source, runStep)
                    target := add(target, outStep)
                }
            }
        }
    }

    function _strided(Runs memory r, uint256 target, uint256 source) private pure {
        unchecked {
            (uint256 size, uint256 step) = (r.size, r.step);
            uint256 length = r.length * size;
            for (uint256 run = 0; run < r.runs; ++run) {
                assembly ("memory-safe") {
                    // Each store spills 31 or 28 bytes that the next one overwrites; the last one's are put back.
                    let end := add(target, length)
                    let behind := mload(end)
                    let from := source
                    let place := target
                    for { let early := sub(end, size) } lt(place, early) {} {
                        mstore(place, mload(from))
                        from := add(from, step)
                        place := add(place, size)
                        mstore(place, mload(from))
                        from := add(from, step)
                        place := add(place, size)
                    }
                    if lt(place, end) { mstore(place, mload(from)) }
                    mstore(end, behind)
                }
                source += r.runStep;
                target += r.outStep;
            }
        }
    }

    /// @dev Words whose runs are the source's neighbours: columns become rows, in blocks of eight by eight. The last block
    /// of a run, and of the runs, may hold some that are copied already.
    function _transpose(Runs memory r, uint256 target, uint256 source) private pure {
        unchecked {
            (uint256 step, uint256 outStep) = (r.step, r.outStep);
            uint256 lastRun = r.runs - BLOCK;
            uint256 last = r.length - BLOCK;
            for (uint256 run = 0;; run = run + BLOCK > lastRun ? lastRun : run + BLOCK) {
                for (uint256 j = 0;; j = j + BLOCK > last ? last : j + BLOCK) {
                    Transpose.eight(
                        source + 4 * run + j * step, step, target + run * outStep + 4 * j, outStep
                    );
                    if (j == last) break;
                }
                if (run == lastRun) break;
            }
        }
    }
}
