// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {
    ARITH_A_STEP,
    ARITH_B_STEP,
    ARITH_SIZE,
    Instruction,
    MAP_COUNT,
    SELECT_A_STEP,
    SELECT_B_STEP,
    SELECT_COUNT,
    SELECT_OTHER,
    SELECT_OTHER_STEP,
    instruction
} from "../../../verifier-contracts/execution/plan/Instruction.sol";
import {Plan} from "../../../verifier-contracts/execution/plan/Plan.sol";
import {PlanWords} from "../../../verifier-contracts/execution/plan/PlanWords.sol";
import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {Arith} from "../../../verifier-contracts/opcodes/Arith.sol";
import {
    ARITH_ADD,
    ARITH_CAST,
    ARITH_DIV,
    ARITH_EQ,
    ARITH_MAX,
    ARITH_MIN,
    ARITH_MUL,
    ARITH_SUB,
    TYPE_BOOL,
    TYPE_S32,
    TYPE_S8,
    TYPE_U8
} from "../../../verifier-contracts/types/Program.sol";
import {Dice, Dices} from "../fuzz/Dice.sol";
import {Test} from "../support/Test.sol";

/// @notice Instructions of a plan that compute several elements a word, against the element function, in every form of
/// the operands: as many elements as the result, or one.
contract PlanWordsTest is Test {
    using Dices for Dice;

    uint256 private constant MOST = 45;
    uint256 private constant WORDS = 8;
    /// @dev What stands before and behind the result.
    uint256 private constant PATTERN = 0xA5;

    /// @dev An operand in memory. @param step bytes from one element to the next, 0 if there is one element
    struct Row {
        uint256 pointer;
        uint256 width;
        uint256 step;
    }

    function testFuzz_lanes_equalsElements_succeeds(uint256 seed) public pure {
        Dice memory d = Dice(seed);
        uint256[4] memory variants = [ARITH_ADD, ARITH_SUB, ARITH_MIN, ARITH_MAX];
        _arith(d, Plan.INT16S, variants[d.below(4)], _integers(d, d.range(1, MOST)));
    }

    function testFuzz_product_equalsElements_succeeds(uint256 seed) public pure {
        Dice memory d = Dice(seed);
        uint256 variant = d.once(2) ? ARITH_MUL : d.range(ARITH_DIV + 1, ARITH_EQ);
        _arith(d, Plan.PRODUCT, variant, _integers(d, d.range(1, MOST)));
    }

    /// @dev By one divisor, by powers of two that change within a word, by numbers that are no divisor; dividends next to multiples.
    function testFuzz_divide_equalsElements_succeeds(uint256 seed) public pure {
        Dice memory d = Dice(seed);
        uint256 count = d.range(1, MOST);
        uint32[] memory divisors = new uint32[](count);
        uint32[] memory dividends = new uint32[](count);
        uint32 first = _divisor(d);
        uint256 every = d.range(1, 20);
        for (uint256 i = 0; i < count; ++i) {
            divisors[i] = d.once(every) && every < 15 ? _divisor(d) : first;
            int256 multiple = int256(int32(divisors[i])) * int32(uint32(d.next()) >> d.below(32));
            // forge-lint: disable-next-line(unsafe-typecast)
            dividends[i] = uint32(uint256((d.once(2) ? multiple : -multiple) + int256(d.below(3)) - 1));
        }
        uint256 single = count == 1 ? 2 : d.below(3);
        Row memory a = _row(d, dividends, 4, single == 0);
        _run(Plan.PRODUCT, ARITH_DIV, a, _row(d, divisors, 4, single == 1), count);
    }

    function testFuzz_cast_equalsElements_succeeds(uint256 seed) public pure {
        Dice memory d = Dice(seed);
        uint256[3] memory types = [TYPE_U8, TYPE_S8, TYPE_BOOL];
        uint256 code = types[d.below(3)];
        uint32[] memory values = _integers(d, d.range(1, MOST));
        for (uint256 i = 0; i < values.length; ++i) {
            // forge-lint: disable-next-line(unsafe-typecast)
            if (d.once(2)) values[i] = uint32(uint256(int256(d.below(600)) - 300));
        }
        Row memory a = _row(d, values, 4, false);
        uint256 out = _room(values.length);
        Instruction made = instruction(Plan.CAST, code, out, a.pointer, 0).with(MAP_COUNT, values.length);
        PlanWords.cast(made);
        for (uint256 j = 0; j < values.length; ++j) {
            assertEq(_read(out + j, 1), Arith.compute(ARITH_CAST, code, int32(values[j]), 0), "cast");
        }
        _checkAround(out, values.length);
    }

    function testFuzz_select_equalsElements_succeeds(uint256 seed) public pure {
        Dice memory d = Dice(seed);
        uint256 count = d.range(1, MOST);
        uint256 width = d.once(2) ? 1 : 4;
        uint32[] memory conditions = new uint32[](count);
        for (uint256 i = 0; i < count; ++i) {
            // forge-lint: disable-next-line(unsafe-typecast)
            conditions[i] = uint32(d.below(2) * (1 + d.below(255)));
        }
        Row memory a = _row(d, conditions, 1, d.once(4));
        Row memory b = _row(d, _integers(d, count), width, d.once(4));
        Row memory c = _row(d, _integers(d, count), width, d.once(4));
        uint256 out = _room(count * width);
        Instruction made = instruction(Plan.SELECT, width, out, a.pointer, b.pointer);
        made = made.with(SELECT_OTHER, c.pointer).with(SELECT_COUNT, count).with(SELECT_A_STEP, a.step);
        PlanWords.select(made.with(SELECT_B_STEP, b.step).with(SELECT_OTHER_STEP, c.step));
        for (uint256 j = 0; j < count; ++j) {
            Row memory chosen = _at(a, j) != 0 ? b : c;
            assertEq(_read(out + j * width, width), _at(chosen, j), "select");
        }
        _checkAround(out, count * width);
    }

    function _arith(Dice memory d, uint256 operation, uint256 variant, uint32[] memory values) private pure {
        uint32[] memory others = _integers(d, values.length);
        for (uint256 i = 0; i < others.length; ++i) {
            // forge-lint: disable-next-line(unsafe-typecast)
            if (d.once(3)) others[i] = uint32(uint256(int256(uint256(values[i]) + d.below(3)) - 1));
        }
        uint256 single = values.length == 1 ? 2 : d.below(3);
        Row memory a = _row(d, values, 4, single == 0);
        _run(operation, variant, a, _row(d, others, 4, single == 1), values.length);
    }

    function _run(uint256 operation, uint256 variant, Row memory a, Row memory b, uint256 count)
        private
        pure
    {
        uint256 code = variant > ARITH_DIV ? TYPE_BOOL : TYPE_S32;
        uint256 width = code == TYPE_S32 ? 4 : 1;
        uint256 out = _room(count * width);
        Instruction i = instruction(operation, variant, out, a.pointer, b.pointer);
        uint256 scale = operation == Plan.INT16S ? WORDS : 1;
        i = i.with(ARITH_SIZE, count * width).with(ARITH_A_STEP, scale * a.step);
        i = i.with(ARITH_B_STEP, scale * b.step);
        if (operation == Plan.INT16S) PlanWords.lanes(i);
        else PlanWords.product(i);
        for (uint256 j = 0; j < count; ++j) {
            // forge-lint: disable-next-line(unsafe-typecast)
            (int256 x, int256 y) = (int32(uint32(_at(a, j))), int32(uint32(_at(b, j))));
            uint256 expected = Arith.compute(variant, code, x, y);
            assertEq(_read(out + j * width, width), expected, "arith");
        }
        _checkAround(out, count * width);
    }

    /// @dev Numbers near 0 and near the ends, and any.
    function _integers(Dice memory d, uint256 count) private pure returns (uint32[] memory values) {
        values = new uint32[](count);
        for (uint256 i = 0; i < count; ++i) {
            values[i] = Dices.hostileInteger(d.next());
        }
    }

    function _divisor(Dice memory d) private pure returns (uint32) {
        // forge-lint: disable-next-line(unsafe-typecast)
        return d.once(3) ? Dices.hostileInteger(d.next()) : uint32(1 << d.below(32));
    }

    /// @dev With noise behind the elements, as far as kernels read.
    function _row(Dice memory d, uint32[] memory values, uint256 width, bool isSingle)
        private
        pure
        returns (Row memory)
    {
        uint256 count = isSingle ? 1 : values.length;
        uint256 pointer = Memory.reserve(width * count + 64);
        for (uint256 i = 0; i < count; ++i) {
            _store(pointer + width * i, uint256(values[i]) << (256 - 8 * width));
        }
        _store(pointer + width * count, d.next());
        return Row(pointer, width, isSingle ? 0 : width);
    }

    /// @dev Room for a result with a word behind it that stores may spill into.
    function _room(uint256 size) private pure returns (uint256 out) {
        out = Memory.reserve(size + 96) + 32;
        for (uint256 place = out - 32; place < out + size + 64; place += 32) {
            _store(place, PATTERN * (type(uint256).max / 0xFF));
        }
    }

    function _checkAround(uint256 out, uint256 size) private pure {
        uint256 pattern = PATTERN * (type(uint256).max / 0xFF);
        assertEq(Memory.load(out - 32), pattern, "before");
        assertEq(Memory.load(out + size + 32), pattern, "behind");
    }

    function _at(Row memory row, uint256 i) private pure returns (uint256) {
        return _read(row.pointer + row.step * i, row.width);
    }

    function _read(uint256 place, uint256 width) private pure returns (uint256) {
        return Memory.load(place) >> (256 - 8 * width);
    }

    function _store(uint256 place, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(place, word)
        }
    }
}
