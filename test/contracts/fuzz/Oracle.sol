// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Elements} from "../../../verifier-contracts/generated/Elements.sol";
import {IFloatJudge} from "../../../verifier-contracts/interfaces/IFloatJudge.sol";
import {Descriptor} from "../../../verifier-contracts/libraries/Descriptor.sol";
import {Flat} from "../../../verifier-contracts/libraries/Flat.sol";
import {HeldTensors} from "../../../verifier-contracts/libraries/HeldTensors.sol";
import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {Trial} from "../../../verifier-contracts/libraries/Openings.sol";
import {RecordHead} from "../../../verifier-contracts/libraries/RecordHead.sol";
import {Shapes} from "../../../verifier-contracts/libraries/Shapes.sol";
import {LAYOUT_PLAIN, NONE, Tensor, WEIGHT} from "../../../verifier-contracts/types/Program.sol";
import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {Engines} from "./Engines.sol";
import {Laid} from "./Laid.sol";
import {Naive} from "./Naive.sol";
import {Case, Operand} from "./RecordCase.sol";

/// @notice Compares a tensor with the element function that the judge calls, element by element, and with the plainest
/// loops.
library Oracle {
    /// @dev Steps of loops that a record's plain elements may take; beyond, every n-th element is computed.
    uint256 private constant NAIVE_STEPS = 128;
    /// @dev The same where nothing but the plainest loops compares.
    uint256 private constant JUDGE_STEPS = 512;

    /// @notice Thrown for an element of another value than the judge's.
    error ElementDiffers(uint256 element, uint256 kernel, uint256 judge);
    /// @notice Thrown for an element of another value than the plainest loop's.
    error NaiveDiffers(uint256 element, uint256 kernel, uint256 naive);

    /// @notice Of a record that no interpreter runs: the judge's elements alone, with the plainest loops.
    /// @param arena memory of the operands
    function compareJudge(
        Case memory c,
        Laid memory l,
        address[] memory chunks,
        IFloatJudge judge,
        uint256 arena
    ) internal view {
        unchecked {
            Trial memory t = _trial(c, l, chunks, judge, arena);
            uint256 every = c.count * Naive.cost(c) / JUDGE_STEPS + 1;
            uint256 free = Memory.mark();
            for (uint256 i = c.dice.state % every % c.count; i < c.count; i += every) {
                t.element = i;
                _compareNaive(c, i, Elements.compute(t, _noOpenings()));
                Memory.release(free);
            }
        }
    }

    /// @param flat the kernel's tensor @param arena memory of the operands
    function compare(
        Case memory c,
        Laid memory l,
        address[] memory chunks,
        IFloatJudge judge,
        Flat flat,
        uint256 arena
    ) internal view {
        unchecked {
            Trial memory t = _trial(c, l, chunks, judge, arena);
            uint256 every = c.count * Naive.cost(c) / NAIVE_STEPS + 1;
            uint256 first = c.dice.state % every;
            uint256 free = Memory.mark();
            for (uint256 i = 0; i < c.count; ++i) {
                t.element = i;
                uint256 right = Elements.compute(t, _noOpenings());
                uint256 kernel = flat.element(i);
                if (kernel != right) revert ElementDiffers(i, kernel, right);
                if (i % every == first) _compareNaive(c, i, kernel);
                // What an element allocates is nobody's behind it.
                Memory.release(free);
            }
        }
    }

    /// @dev Operands are held in memory or published.
    function _noOpenings() private pure returns (Opening[] calldata none) {
        assembly ("memory-safe") {
            none.offset := 0
            none.length := 0
        }
    }

    function _compareNaive(Case memory c, uint256 i, uint256 kernel) private pure {
        uint256 naive = Naive.element(c, i);
        if (Naive.knows(naive) && kernel != naive) revert NaiveDiffers(i, kernel, naive);
    }

    function _trial(Case memory c, Laid memory l, address[] memory chunks, IFloatJudge judge, uint256 arena)
        private
        pure
        returns (Trial memory t)
    {
        t.word = ModelWord.wrap(l.word);
        t.floatJudge = judge;
        uint256 record = Engines.recordOf(l);
        t.record.head = RecordHead.wrap(Memory.load(record));
        t.record.shape = Memory.load(record + 32);
        t.record.coordinates01 = Memory.load(record + 64);
        t.record.coordinates23 = Memory.load(record + 96);
        t.out = Shapes.tensor(LAYOUT_PLAIN, c.code, c.rank, c.shape);
        t.out.index = l.steps;
        t.store = chunks;
        t.held = new Tensor[](3);
        uint256 descriptors = Engines.recordsOf(l) - 32 * l.weights;
        for (uint256 i = 0; i < 3; ++i) {
            uint256 index = l.index[i];
            if (index == NONE) continue;
            if (index < WEIGHT) {
                Operand memory x = c.operands[i];
                t.held[i] = Shapes.tensor(LAYOUT_PLAIN, x.code, x.rank, x.shape);
                HeldTensors.holdMemory(t.held[i], arena + l.places[i]);
            } else {
                uint256 descriptor = Memory.load(descriptors + 32 * (index - WEIGHT));
                (t.held[i],) = HeldTensors.published(Descriptor.wrap(descriptor), l.prefix + l.offsets[i]);
            }
        }
    }
}
