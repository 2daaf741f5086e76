// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ProgramField as F} from "../../../verifier-contracts/types/Program.sol";
import {ProgramBuilder as B} from "./ProgramBuilder.sol";
import {StepRulesContext} from "./StepRulesContext.sol";

/// @dev The rules of the opcodes that broadcast, and of MOVE.
contract ElementRulesTest is StepRulesContext {
    uint32[] private _d3 = B.dims3(2, 3, 4);

    function test_register_broadcast_succeeds() public {
        good(record(0x080002, _d3, INT, SCALAR, N, 0));
        good(record(0x080002, B.dims3(5, 6, 9), IDS, SCALAR, N, 0));
        good(record(0x090003, _d3, FLOAT, FLOATS, N, 0));
        uint32[] memory d4 = new uint32[](4);
        (d4[0], d4[1], d4[2], d4[3]) = (7, 2, 3, 4);
        good(record(0x080002, d4, INT, INT, N, 0));
    }

    function test_register_broadcast_reverts() public {
        bad(F.OPERAND_B, shape(B.dims2(10, 4)), record(0x080002, _d3, INT, ROWS, N, 0));
        bad(F.OPERAND_A, shape(_d3), record(0x080002, B.dims2(3, 4), INT, SCALAR, N, 0));
        // An operand's leading dim of 1 is a rank too many all the same.
        bad(F.OPERAND_A, shape(B.dims2(6, 1)), record(0x080002, B.dims1(1), IDS, SCALAR, N, 0));
        bad(F.OPERAND_A, shape(_d3), record(0x080002, B.dims3(2, 3, 1), INT, SCALAR, N, 0));
        bad(F.OPERAND_A, shape(_d3), record(0x0b0002, B.dims3(1, 3, 4), BOOL, SCALAR, INT, 0));
    }

    function test_register_arith_succeeds() public {
        good(record(0x080000, _d3, INT, BYTE, N, 0));
        good(record(0x080501, _d3, BOOL, INT, N, 0));
        good(record(0x080804, _d3, BYTE, BYTE, N, 0));
        good(record(0x080904, _d3, BYTE, N, N, 0));
    }

    function test_register_arith_reverts() public {
        bad(F.VARIANT, 11, record(0x080b02, _d3, INT, INT, N, 0));
        bad(F.OPERAND_A, FLOAT, record(0x080002, _d3, FLOAT, INT, N, 0));
        bad(F.OPERAND_B, FLOATS, record(0x080002, _d3, INT, FLOATS, N, 0));
        bad(F.OPERAND_B, INT, record(0x080902, _d3, INT, INT, N, 0));
        bad(F.OPERAND_B, N, record(0x080002, _d3, INT, N, N, 0));
        bad(F.OPERAND_C, INT, record(0x080002, _d3, INT, INT, INT, 0));
        bad(F.TYPE, 4, record(0x080004, _d3, INT, INT, N, 0));
        bad(F.TYPE, 3, record(0x080003, _d3, INT, INT, N, 0));
        bad(F.TYPE, 2, record(0x080602, _d3, INT, INT, N, 0));
        bad(F.TYPE, 3, record(0x080903, _d3, INT, N, N, 0));
        bad(F.K, 1, record(0x080002, _d3, INT, INT, N, 1));
    }

    function test_register_rotate_succeeds() public {
        good(record(0x080a02, _d3, INT, INT, N, 0));
        good(record(0x080a02, B.dims3(2, 10, 4), ROWS, ROWS, N, 31));
        good(record(0x080a00, _d3, INT, INT, N, 27));
        good(record(0x080a01, _d3, INT, INT, N, 27));
    }

    function test_register_rotate_reverts() public {
        bad(F.TYPE, 3, record(0x080a03, _d3, INT, INT, N, 0));
        bad(F.TYPE, 4, record(0x080a04, _d3, INT, INT, N, 0));
        bad(F.OPERAND_A, BYTE, record(0x080a02, _d3, BYTE, INT, N, 0));
        bad(F.OPERAND_B, FLOAT, record(0x080a02, _d3, INT, FLOAT, N, 0));
        bad(F.OPERAND_B, LOOKUP, record(0x080a02, _d3, INT, LOOKUP, N, 0));
        bad(F.OPERAND_B, N, record(0x080a02, _d3, INT, N, N, 0));
        bad(F.OPERAND_B, shape(B.dims2(10, 4)), record(0x080a02, _d3, INT, ROWS, N, 0));
        // The last dim is both operands', whatever broadcasts.
        bad(F.OPERAND_B, 1, record(0x080a02, _d3, INT, SCALAR, N, 0));
        bad(F.OPERAND_A, 1, record(0x080a02, B.dims2(6, 4), IDS, SCALAR, N, 0));
        bad(F.OPERAND_A, 1025, record(0x080a02, B.dims2(2, 1025), WIDE, WIDE, N, 0));
        bad(F.OPERAND_C, INT, record(0x080a02, _d3, INT, INT, INT, 0));
        bad(F.K, 32, record(0x080a02, _d3, INT, INT, N, 32));
    }

    function test_register_rotateExecution_reverts() public {
        rejectsExecution(record(0x080a02, _d3, INT, INT, N, 7));
    }

    function test_register_float_succeeds() public {
        for (uint24 variant = 0; variant < 15; ++variant) {
            uint24 output = variant >= 8 && variant <= 10 ? 4 : variant == 12 ? 4 : variant == 14 ? 1 : 3;
            bool one = variant == 4 || variant == 5 || variant == 11 || variant == 12;
            uint16 a = variant == 11 || variant == 13 ? BYTE : FLOAT;
            uint16 c = variant == 13 || variant == 14 ? SCALAR : N;
            good(record(bytes3(0x090000 | (variant << 8) | output), _d3, a, one ? N : FLOATS, c, 0));
        }
    }

    function test_register_float_reverts() public {
        bad(F.VARIANT, 15, record(0x090f03, _d3, FLOAT, FLOATS, N, 0));
        bad(F.OPERAND_A, INT, record(0x090003, _d3, INT, FLOATS, N, 0));
        bad(F.OPERAND_A, FLOAT, record(0x090b03, _d3, FLOAT, N, N, 0));
        bad(F.OPERAND_A, FLOAT, record(0x090d03, _d3, FLOAT, FLOATS, SCALAR, 0));
        bad(F.OPERAND_B, INT, record(0x090003, _d3, FLOAT, INT, N, 0));
        bad(F.OPERAND_B, FLOATS, record(0x090403, _d3, FLOAT, FLOATS, N, 0));
        bad(F.OPERAND_B, FLOATS, record(0x090503, _d3, FLOAT, FLOATS, N, 0));
        bad(F.OPERAND_B, FLOATS, record(0x090b03, _d3, INT, FLOATS, N, 0));
        bad(F.OPERAND_B, FLOATS, record(0x090c02, _d3, FLOAT, FLOATS, N, 0));
        bad(F.OPERAND_C, SCALAR, record(0x090003, _d3, FLOAT, FLOATS, SCALAR, 0));
        bad(F.OPERAND_C, FLOATS, record(0x090d03, _d3, INT, FLOATS, FLOATS, 0));
        bad(F.OPERAND_C, N, record(0x090e00, _d3, FLOAT, FLOATS, N, 0));
        bad(F.TYPE, 4, record(0x090704, _d3, FLOAT, FLOATS, N, 0));
        bad(F.TYPE, 3, record(0x090803, _d3, FLOAT, FLOATS, N, 0));
        bad(F.TYPE, 3, record(0x090c03, _d3, FLOAT, N, N, 0));
        bad(F.TYPE, 2, record(0x090d02, _d3, INT, FLOATS, SCALAR, 0));
        bad(F.TYPE, 2, record(0x090e02, _d3, FLOAT, FLOATS, SCALAR, 0));
        bad(F.K, 1, record(0x090003, _d3, FLOAT, FLOATS, N, 1));
    }

    function test_register_select_succeeds() public {
        good(record(0x0b0002, _d3, BOOL, INT, SCALAR, 0));
        good(record(0x0b0003, _d3, BOOL, FLOATS, FLOAT, 0));
    }

    function test_register_select_reverts() public {
        bad(F.VARIANT, 1, record(0x0b0102, _d3, BOOL, INT, SCALAR, 0));
        bad(F.OPERAND_A, BYTE, record(0x0b0002, _d3, BYTE, INT, SCALAR, 0));
        bad(F.OPERAND_B, BYTE, record(0x0b0002, _d3, BOOL, BYTE, SCALAR, 0));
        bad(F.OPERAND_C, FLOATS, record(0x0b0002, _d3, BOOL, INT, FLOATS, 0));
        bad(F.OPERAND_C, N, record(0x0b0002, _d3, BOOL, INT, N, 0));
        bad(F.K, 1, record(0x0b0002, _d3, BOOL, INT, SCALAR, 1));
    }

    bytes private _one = B.coordinate(1, 0, 0, 0, 0, 0);

    function _coordinates(bytes memory last) private view returns (bytes memory) {
        return bytes.concat(_one, _one, _one, last);
    }

    function _move(bytes3 code, uint16 a, uint16 b, uint16 c, uint32 k, bytes memory last)
        private
        view
        returns (bytes memory)
    {
        return record(code, _d3, a, b, c, k, _coordinates(last));
    }

    function test_register_move_succeeds() public {
        bytes memory flat = B.coordinate(24, 1, 2, -3, 1, -7);
        good(_move(0x020002, INT, N, N, 0xFFFFFFFF, flat));
        good(_move(0x020000, BYTE, N, N, 255, flat));
        good(_move(0x020000, BYTE, BYTE, N, 0, flat));
        good(_move(0x020003, FLOATS, FLOAT, N, 0, B.coordinate(4, 0, 0, 0, 0, 2 ** 31 - 1)));
        bytes memory four = bytes.concat(
            B.coordinate(2, 1, 0, 0, 0, 0),
            B.coordinate(3, 0, 0, -8_388_608, 2, -2 ** 31),
            B.coordinate(2, 1, 1, 1, 0, 0),
            B.coordinate(2, 8_388_607, 2, 0, 0, 0)
        );
        good(record(0x020002, _d3, INT, N, N, 5, four));
    }

    function test_register_move_reverts() public {
        bytes memory flat = B.coordinate(24, 1, 2, 0, 0, 0);
        bad(F.VARIANT, 1, _move(0x020102, INT, N, N, 0, flat));
        bad(F.OPERAND_A, INT, _move(0x020003, INT, N, N, 0, flat));
        bad(F.OPERAND_A, CHANNELS, _move(0x020000, CHANNELS, N, N, 0, flat));
        bad(F.OPERAND_B, FLOAT, _move(0x020002, INT, FLOAT, N, 0, flat));
        bad(F.OPERAND_B, shape(B.dims1(1)), _move(0x020002, INT, SCALAR, N, 0, flat));
        bad(F.OPERAND_C, INT, _move(0x020002, INT, INT, INT, 0, flat));
        bad(F.K, 256, _move(0x020000, BYTE, N, N, 256, flat));
        bad(F.K, 1, _move(0x020002, INT, INT, N, 1, flat));
        bad(F.COORDINATES, 23, _move(0x020002, INT, N, N, 0, B.coordinate(23, 1, 2, 0, 0, 0)));
        bad(F.COORDINATES, 0, _move(0x020002, INT, N, N, 0, B.coordinate(0, 1, 2, 0, 0, 0)));
        _badCoordinate(B.coordinate(24, 1, 3, 0, 0, 0));
        _badCoordinate(B.coordinate(24, 1, 2, 1, 3, 0));
        _badCoordinate(B.coordinate(24, 0, 2, 0, 0, 0));
        _badCoordinate(B.coordinate(24, 1, 2, 0, 1, 0));
        _badCoordinate(B.coordinate(24, 1, 255, 0, 0, 0));
    }

    function _badCoordinate(bytes memory last) private {
        bad(F.COORDINATES, uint256(uint128(bytes16(last))), _move(0x020002, INT, N, N, 0, last));
    }
}
