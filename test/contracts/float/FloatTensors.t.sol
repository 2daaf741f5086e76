// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {FloatJudge} from "verifier-contracts/FloatJudge.sol";
import {Parameters} from "verifier-contracts/libraries/Parameters.sol";
import {Shapes} from "verifier-contracts/libraries/Shapes.sol";
import {Values} from "verifier-contracts/libraries/Values.sol";
import {Requant} from "verifier-contracts/opcodes/Requant.sol";
import {TYPE_BOOL, TYPE_F32, TYPE_S32, TYPE_S8, TYPE_U8} from "verifier-contracts/types/Program.sol";

/// @notice Whole tensors give what their elements give one by one.
contract FloatTensorsTest is Test {
    uint256 private constant MAX = 5;
    uint256 private constant TOFLOAT = 11;
    uint256 private constant TOINT = 12;
    uint256 private constant DEQUANT = 13;
    uint256 private constant QUANT = 14;

    struct Form {
        uint256 variant;
        uint256 outputType;
        uint256 aType;
        uint256 operands;
    }

    FloatJudge private judge;

    function setUp() public {
        judge = new FloatJudge();
    }

    /// @dev One, two and three operands; elements of one and of four bytes; counts down to none.
    function testFuzz_computeAll_equalsCompute_succeeds(uint256 seed, uint256 count) public view {
        count = bound(count, 0, 5);
        _check(Form(MAX, TYPE_F32, TYPE_F32, 2), count, seed);
        _check(Form(TOFLOAT, TYPE_F32, TYPE_U8, 1), count, seed);
        _check(Form(TOINT, TYPE_S32, TYPE_F32, 1), count, seed);
        _check(Form(TOINT, TYPE_BOOL, TYPE_F32, 1), count, seed);
        _check(Form(DEQUANT, TYPE_F32, TYPE_S8, 3), count, seed);
        _check(Form(DEQUANT, TYPE_F32, TYPE_S32, 2), count, seed);
        _check(Form(QUANT, TYPE_U8, TYPE_F32, 3), count, seed);
    }

    /// @dev Element i has channel i mod the number of parameter words.
    function testFuzz_requantizeAll_equalsRequantize_succeeds(uint256 seed, uint256 count, uint256 channels)
        public
        view
    {
        count = bound(count, 0, 5);
        channels = bound(channels, 1, 7);
        bytes memory accs = _random(seed, 4 * count);
        bytes memory parameters = _random(~seed, 32 * channels);
        bytes memory stored = judge.requantizeAll(accs, parameters);
        assertEq(stored.length, count);
        for (uint256 i = 0; i < count; ++i) {
            Parameters word = Parameters.wrap(_load(parameters, 32 * (i % channels), 32));
            int256 acc = Values.wrap(int256(_load(accs, 4 * i, 4)));
            int256 q = judge.requantize(acc, word.scaleBits());
            assertEq(uint8(stored[i]), uint8(uint256(Requant.clamp(q, word))));
        }
    }

    function _check(Form memory form, uint256 count, uint256 seed) private view {
        uint256 aBytes = Shapes.elementBytes(form.aType);
        bytes memory data = _random(seed, count * (aBytes + 4 * (form.operands - 1)));
        bytes memory expected;
        for (uint256 i = 0; i < count; ++i) {
            uint256 element = judge.compute(
                form.variant,
                form.outputType,
                form.aType,
                _load(data, aBytes * i, aBytes),
                _word(data, aBytes * count, i),
                _word(data, (aBytes + 4) * count, i)
            );
            expected = Shapes.elementBytes(form.outputType) == 4
                ? bytes.concat(expected, bytes4(uint32(element)))
                : bytes.concat(expected, bytes1(uint8(element)));
        }
        assertEq(judge.computeAll(form.variant, form.outputType, form.aType, count, data), expected);
    }

    /// @dev Element i of the operand that starts at an offset, 0 where the data end before it.
    function _word(bytes memory data, uint256 offset, uint256 i) private pure returns (uint256) {
        return data.length > offset ? _load(data, offset + 4 * i, 4) : 0;
    }

    function _random(uint256 seed, uint256 length) private pure returns (bytes memory data) {
        data = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            data[i] = bytes1(uint8(uint256(keccak256(abi.encode(seed, i)))));
        }
    }

    function _load(bytes memory data, uint256 offset, uint256 size) private pure returns (uint256 value) {
        for (uint256 i = 0; i < size; ++i) {
            value = (value << 8) | uint8(data[offset + i]);
        }
    }
}
