// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ProgramField as F, ProgramPart} from "../../../verifier-contracts/types/Program.sol";
import {ProgramBuilder as B} from "./ProgramBuilder.sol";
import {StepRulesContext} from "./StepRulesContext.sol";

/// @dev The rules of docs/EXACT.md, sections 2 and 3: good records of each opcode, and records that break one rule.
contract StepRulesTest is StepRulesContext {
    using B for B.Draft;

    uint32[] private _d3 = B.dims3(2, 3, 4);
    uint32[] private _d24 = B.dims2(2, 4);

    function test_register_anyRecord_succeeds() public {
        good(record(0x080902, B.dims2(2 ** 22, 1), SCALAR, N, N, 0));
        // 2^21 rows of one word: 8 s32 each are the most elements in the fewest leaves.
        good(record(0x080902, B.dims2(2 ** 21 - 1, 8), SCALAR, N, N, 0));
    }

    function test_register_anyRecord_reverts() public {
        bad(F.OPCODE, 0, record(0x000002, _d3, N, N, N, 0));
        bad(F.OPCODE, 12, record(0x0c0002, _d3, N, N, N, 0));
        bad(F.TYPE, 5, record(0x080905, _d3, INT, N, N, 0));
        bad(F.RANK, 0, record(0x080902, new uint32[](0), INT, N, N, 0));
        bad(F.RANK, 7, record(0x080902, new uint32[](7), INT, N, N, 0));
        bad(F.DIMS, shape(B.dims3(2, 0, 4)), record(0x080902, B.dims3(2, 0, 4), INT, N, N, 0));
        bad(F.SIZE, 2 ** 24, record(0x080902, B.dims2(2 ** 21, 8), SCALAR, N, N, 0));
        bad(F.SIZE, 2 ** 23, record(0x080902, B.dims2(2 ** 22 + 1, 1), SCALAR, N, N, 0));
        // 2^160 elements do not wrap round.
        uint32[] memory huge = new uint32[](6);
        for (uint256 i = 0; i < 6; ++i) {
            huge[i] = 2 ** 31;
        }
        bad(F.SIZE, 2 ** 186, record(0x080902, huge, SCALAR, N, N, 0));
        bad(F.OPERAND_A, SELF, record(0x080902, _d3, SELF, N, N, 0));
        bad(F.OPERAND_A, SELF + 1, record(0x080902, _d3, SELF + 1, N, N, 0));
        bad(F.OPERAND_A, 0x7FFF, record(0x080902, _d3, 0x7FFF, N, N, 0));
        bad(F.OPERAND_A, NO_WEIGHT, record(0x080902, _d3, NO_WEIGHT, N, N, 0));
        bad(F.OPERAND_A, N, record(0x080902, _d3, N, N, N, 0));
        bad(F.OPERAND_A, DOT, record(0x080900, _d3, DOT, N, N, 0));
    }

    function test_register_unusedBytes_reverts() public {
        bytes memory tested = record(0x080902, _d3, INT, N, N, 0);
        for (uint256 i = 14; i < 128; i += i == 31 ? 13 : 1) {
            tested[i] = 0x01;
            uint256 value = 256 ** (31 - (i & 31));
            if (i < 32) bad(F.ZERO, value, tested);
            else if (i < 56) bad(F.DIMS, shape(_d3) | value, tested);
            else if (i < 64) bad(F.ZERO, value, tested);
            else bad(F.COORDINATES, value, tested);
            tested[i] = 0x00;
        }
    }

    function test_register_lanesCodec_succeeds() public {
        good(record(0x010302, B.dims2(64, 64), N, N, N, 0));
        good(record(0x010302, B.dims1(1), N, N, N, 4095));
        good(record(0x010302, B.dims2(512, 8), N, N, N, 0));
    }

    function test_register_lanesCodec_reverts() public {
        bad(F.VARIANT, 4, record(0x010402, _d3, N, N, N, 0));
        bad(F.TYPE, 0, record(0x010300, _d3, N, N, N, 0));
        bad(F.OPERAND_A, INT, record(0x010302, _d3, INT, N, N, 0));
        bad(F.OPERAND_B, MAP, record(0x010302, _d3, N, MAP, N, 0));
        bad(F.OPERAND_C, INT, record(0x010302, _d3, N, N, INT, 0));
        bad(F.K, 4073, record(0x010302, _d3, N, N, N, 4073));
        bad(F.K, 0xFFFFFFFF, record(0x010302, _d3, N, N, N, 0xFFFFFFFF));
        // 4,097 rows of one word are 8,192 leaves.
        bad(F.SIZE, 8192, record(0x010302, B.dims2(4097, 1), N, N, N, 0));
    }

    /// @dev Two steps, the last one of them the claimed output or what it has to be like.
    function _claimed(bytes3 first, uint32[] memory dims, bytes3 last, uint32[] memory lastDims)
        private
        pure
        returns (B.Draft memory d)
    {
        d = B.start(3, 4096, 1);
        d.step(first, dims, N, N, N, 0);
        d.step(last, lastDims, N, N, N, 0);
    }

    function test_register_claimed_succeeds() public {
        good(record(0x010502, B.dims1(1), N, N, N, 0));
        accepts(_claimed(0x010502, _d24, 0x010302, _d24));
        accepts(_claimed(0x010500, _d24, 0x010500, _d24));
        accepts(_claimed(0x010501, _d3, 0x010501, _d3));
    }

    function test_register_claimedExecution_reverts() public {
        address[] memory chunks = chunksOf(_claimed(0x010302, _d24, 0x010502, _d24).bytesOf());
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.StepNotExecutable.selector, 1));
        registry.register(chunks, 0, SELECTOR, 1 | BOND, 0);
        registry.register(chunks, 0, SELECTOR, BOND, 0);
    }

    function test_register_claimed_reverts() public {
        uint32[] memory one = B.dims1(1);
        bad(F.TYPE, 0, record(0x010500, one, N, N, N, 0));
        bad(F.TYPE, 3, record(0x010503, one, N, N, N, 0));
        bad(F.TYPE, 4, record(0x010504, one, N, N, N, 0));
        bad(F.DIMS, shape(B.dims2(1, 1)), record(0x010502, B.dims2(1, 1), N, N, N, 0));
        bad(F.DIMS, shape(B.dims1(2)), record(0x010502, B.dims1(2), N, N, N, 0));
        bad(F.SIZE, 8192, record(0x010502, B.dims2(4097, 1), N, N, N, 0));
        bad(F.OPERAND_A, INT, record(0x010502, one, INT, N, N, 0));
        bad(F.OPERAND_B, MAP, record(0x010502, one, N, MAP, N, 0));
        bad(F.OPERAND_C, INT, record(0x010502, one, N, N, INT, 0));
        bad(F.K, 1, record(0x010502, one, N, N, N, 1));
        bad(F.VARIANT, 6, record(0x010602, one, N, N, N, 0));
        // A last step of bool or f32 has no such step.
        rejects(_claimed(0x010504, one, 0x010504, one).bytesOf(), ProgramPart.STEP, 0, F.TYPE, 4);
    }

    /// @dev Two numbers do not broadcast to rows of four.
    function test_register_broadcastOfTwo_reverts() public {
        B.Draft memory d = B.start(3, 4096, 1);
        d.weight(1, 2, B.dims1(2));
        d.int16s(_d3, 0);
        d.step(0x080002, _d3, 0, 0x8000, N, 0);
        d.int16s(B.dims1(1), 0);
        rejects(d.bytesOf(), ProgramPart.STEP, 1, F.OPERAND_B, shape(B.dims1(2)));
    }

    function test_register_dot_succeeds() public {
        good(record(0x040002, _d24, LONG, DOT, N, 1));
        good(record(0x040100, B.dims3(1, 2, 4), LONG, DOT, N, 1));
        good(record(0x040201, B.dims1(4), LONG, DOT, N, 2));
    }

    function test_register_activations_succeeds() public {
        // One matrix of two rows for both rows, and one of one row for each.
        good(record(0x040302, B.dims2(2, 2), LONG, LONG, N, 2));
        good(record(0x040302, B.dims2(2, 1), LONG, LONG, N, 1));
        good(record(0x040302, B.dims3(1, 2, 2), LONGEST, LONGEST, N, 2));
    }

    function test_register_activations_reverts() public {
        uint32[] memory d22 = B.dims2(2, 2);
        bad(F.TYPE, 0, record(0x040300, d22, LONG, LONG, N, 2));
        bad(F.OPERAND_A, INT, record(0x040302, d22, INT, LONG, N, 2));
        bad(F.OPERAND_A, DOT, record(0x040302, d22, DOT, LONG, N, 2));
        bad(F.OPERAND_B, INT, record(0x040302, d22, LONG, INT, N, 2));
        bad(F.OPERAND_B, DOT, record(0x040302, d22, LONG, DOT, N, 2));
        bad(F.OPERAND_C, INT, record(0x040302, d22, LONG, LONG, INT, 2));
        bad(F.K, 0, record(0x040302, d22, LONG, LONG, N, 0));
        bad(F.K, 3, record(0x040302, d22, LONG, LONG, N, 3));
        bad(F.K, 4, record(0x040302, d22, LONG, LONG, N, 4));
        bad(F.OPERAND_A, 1025, record(0x040302, d22, TOO_LONG, TOO_LONG, N, 2));
        bad(F.OPERAND_A, 2, record(0x040302, B.dims2(4, 2), LONG, LONG, N, 4));
        bad(F.OPERAND_B, 1024, record(0x040302, d22, LONG, LONGEST, N, 2));
        bad(F.OPERAND_B, 2, record(0x040302, B.dims2(2, 3), LONG, LONG, N, 2));
        bad(F.OPERAND_B, 2, record(0x040302, d22, LONG, LONG, N, 1));
    }

    function test_register_activationsExecution_reverts() public {
        rejectsExecution(record(0x040302, B.dims2(2, 2), LONG, LONG, N, 2));
    }

    function test_register_dot_reverts() public {
        bad(F.VARIANT, 6, record(0x040602, _d24, LONG, DOT, N, 1));
        bad(F.TYPE, 0, record(0x040000, _d24, LONG, DOT, N, 1));
        bad(F.TYPE, 2, record(0x040102, _d24, LONG, DOT, N, 1));
        bad(F.TYPE, 4, record(0x040204, _d24, LONG, DOT, N, 1));
        bad(F.OPERAND_A, INT, record(0x040002, _d24, INT, DOT, N, 1));
        bad(F.OPERAND_A, 4, record(0x040002, B.dims2(6, 4), BYTE, DOT, N, 1));
        bad(F.OPERAND_A, 2, record(0x040002, B.dims2(3, 4), LONG, DOT, N, 1));
        bad(F.OPERAND_A, 2, record(0x040002, _d24, LONG, DOT, N, 2));
        bad(F.OPERAND_B, MAP, record(0x040002, _d24, LONG, MAP, N, 1));
        bad(F.OPERAND_B, LONG, record(0x040002, _d24, LONG, LONG, N, 1));
        bad(F.OPERAND_B, 4, record(0x040002, B.dims2(2, 5), LONG, DOT, N, 1));
        bad(F.OPERAND_B, 993, record(0x040002, _d24, LONG, LONG_DOT, N, 1));
        bad(F.OPERAND_B, 993, record(0x040100, _d24, LONG, LONG_DOT, N, 1));
        // Numbers of 16 bits can have as many.
        bad(F.OPERAND_A, 40, record(0x040402, _d24, LONG, LONG_DOT, N, 1));
        bad(F.OPERAND_C, INT, record(0x040002, _d24, LONG, DOT, INT, 1));
        bad(F.K, 0, record(0x040002, _d24, LONG, DOT, N, 0));
        bad(F.K, 3, record(0x040002, _d24, LONG, DOT, N, 3));
    }

    /// @dev Rows of 40 bytes are planes of 20 numbers.
    function test_register_planes_succeeds() public {
        good(record(0x040402, _d24, LONG, HALF, N, 1));
        good(record(0x040402, B.dims1(4), LONG, HALF, N, 2));
        good(record(0x040500, _d24, LONG, HALF, N, 1));
        good(record(0x040501, _d24, LONG, HALF, N, 1));
        good(record(0x040502, B.dims1(4), LONG, HALF, N, 2));
        good(record(0x060200, B.dims3(2, 3, 8), INT, CHANNELS, N, 0));
        good(record(0x060200, B.dims2(6, 8), INT, CHANNEL, N, 0));
        good(record(0x060200, B.dims2(6, 2), IDS, CHANNEL, N, 0));
        // Divisors for each row, factors, and what is added.
        good(record(0x060200, B.dims3(2, 3, 8), INT, CHANNELS, IDS, 7));
        good(record(0x060200, B.dims2(3, 16), INT, CHANNEL, THREE, 0xFFFFFFFF));
        good(record(0x060200, B.dims2(3, 16), INT, CHANNEL, IDS, 1));
        good(record(0x060200, B.dims3(2, 3, 8), INT, CHANNELS, SIX_BY_FOUR, 1));
        good(record(0x060200, B.dims3(2, 3, 8), INT, CHANNELS, SIX_BY_FOUR, 0));
        good(record(0x040502, B.dims2(6, 4), SIX_ROWS, HALF, SIX_BY_FOUR, 1));
        // Rows of other lengths than a's.
        good(record(0x060200, B.dims2(3, 16), INT, CHANNEL, N, 0));
        good(record(0x060200, B.dims1(48), INT, CHANNEL, N, 0));
    }

    function test_register_planesDot_reverts() public {
        bad(F.TYPE, 0, record(0x040400, _d24, LONG, HALF, N, 1));
        bad(F.OPERAND_A, INT, record(0x040402, _d24, INT, HALF, N, 1));
        bad(F.OPERAND_A, 40, record(0x040402, _d24, LONG, DOT, N, 1));
        bad(F.OPERAND_A, 40, record(0x040002, _d24, LONG, HALF, N, 1));
        bad(F.OPERAND_A, 2, record(0x040402, B.dims2(3, 4), LONG, HALF, N, 1));
        bad(F.OPERAND_B, MAP, record(0x040402, _d24, LONG, MAP, N, 1));
        bad(F.OPERAND_B, 4, record(0x040402, B.dims2(2, 5), LONG, HALF, N, 1));
        bad(F.OPERAND_C, INT, record(0x040402, _d24, LONG, HALF, INT, 1));
        bad(F.K, 0, record(0x040402, _d24, LONG, HALF, N, 0));
        bad(F.K, 3, record(0x040402, _d24, LONG, HALF, N, 3));
        bad(F.TYPE, 4, record(0x040504, _d24, LONG, HALF, N, 1));
        bad(F.OPERAND_A, INT, record(0x040502, _d24, INT, HALF, N, 1));
        bad(F.OPERAND_A, 40, record(0x040500, _d24, LONG, DOT, N, 1));
        // What is added is s32, and has the dims of an s32 output.
        bad(F.OPERAND_C, INT, record(0x040500, _d24, LONG, HALF, INT, 1));
        bad(F.OPERAND_C, BYTE, record(0x040502, _d24, LONG, HALF, BYTE, 1));
        bad(F.OPERAND_C, shape(_d3), record(0x040502, _d24, LONG, HALF, INT, 1));
        bad(F.OPERAND_C, shape(B.dims1(1)), record(0x040502, _d24, LONG, HALF, SCALAR, 1));
    }

    function test_register_planes_reverts() public {
        uint32[] memory d8 = B.dims3(2, 3, 8);
        bad(F.TYPE, 1, record(0x060201, d8, INT, CHANNELS, N, 0));
        bad(F.TYPE, 2, record(0x060202, d8, INT, CHANNELS, N, 0));
        bad(F.OPERAND_A, BYTE, record(0x060200, d8, BYTE, CHANNELS, N, 0));
        bad(F.DIMS, 3, record(0x060200, B.dims2(16, 3), INT, CHANNEL, N, 0));
        bad(F.OPERAND_A, 24, record(0x060200, _d3, INT, CHANNELS, N, 0));
        bad(F.OPERAND_A, 24, record(0x060200, B.dims2(5, 8), INT, CHANNELS, N, 0));
        bad(F.OPERAND_B, 4, record(0x060200, B.dims2(3, 16), INT, CHANNELS, N, 0));
        bad(F.OPERAND_B, 4, record(0x060200, B.dims2(6, 2), IDS, CHANNELS, N, 0));
        bad(F.OPERAND_B, ROWS, record(0x060200, d8, INT, ROWS, N, 0));
        // Factors are one a number, divisors as many for each row, which part it equally.
        bad(F.OPERAND_C, 6, record(0x060200, d8, INT, CHANNELS, IDS, 0));
        bad(F.OPERAND_C, 5, record(0x060200, d8, INT, CHANNELS, COLUMN, 1));
        bad(F.OPERAND_C, 3, record(0x060200, d8, INT, CHANNELS, THREE, 1));
        bad(F.OPERAND_C, 40, record(0x060200, B.dims2(8, 6), INT, CHANNEL, ROWS, 1));
        bad(F.OPERAND_C, BYTE, record(0x060200, d8, INT, CHANNELS, BYTE, 1));
        bad(F.K, 7, record(0x060200, d8, INT, CHANNELS, N, 7));
    }

    function test_register_planesExecution_reverts() public {
        bytes[3] memory tested = [
            record(0x040402, _d24, LONG, HALF, N, 1),
            record(0x040500, _d24, LONG, HALF, N, 1),
            record(0x060200, B.dims3(2, 3, 8), INT, CHANNELS, N, 0)
        ];
        for (uint256 i = 0; i < 3; ++i) {
            rejectsExecution(tested[i]);
        }
    }

    function test_register_channelwise_succeeds() public {
        good(record(0x050100, _d3, INT, CHANNELS, N, 0));
        good(record(0x050201, _d3, INT, CHANNEL, N, 0));
        good(record(0x060002, _d3, INT, CHANNELS, N, 0));
    }

    function test_register_channelwise_reverts() public {
        bad(F.VARIANT, 0, record(0x050000, _d3, INT, CHANNELS, N, 0));
        bad(F.VARIANT, 3, record(0x050300, _d3, INT, CHANNELS, N, 0));
        bad(F.VARIANT, 3, record(0x060302, _d3, INT, CHANNELS, N, 0));
        bad(F.TYPE, 2, record(0x050102, _d3, INT, CHANNELS, N, 0));
        bad(F.TYPE, 0, record(0x060000, _d3, INT, CHANNELS, N, 0));
        bad(F.OPERAND_A, BYTE, record(0x050100, _d3, BYTE, CHANNELS, N, 0));
        bad(F.OPERAND_A, shape(_d3), record(0x050100, B.dims2(6, 4), INT, CHANNELS, N, 0));
        bad(F.OPERAND_B, 4, record(0x050100, B.dims2(6, 1), IDS, CHANNELS, N, 0));
        bad(F.OPERAND_B, ROWS, record(0x060002, _d3, INT, ROWS, N, 0));
        bad(F.OPERAND_C, INT, record(0x060002, _d3, INT, CHANNELS, INT, 0));
        bad(F.K, 7, record(0x050100, _d3, INT, CHANNELS, N, 7));
    }

    function test_register_ratio_succeeds() public {
        good(record(0x060102, _d3, INT, IDS, N, 1));
        good(record(0x060100, _d3, BYTE, IDS, N, 0xFFFFFFFF));
        good(record(0x060101, _d3, BOOL, IDS, N, 7));
        good(record(0x060102, B.dims1(256), MAP, SCALAR, N, 1));
    }

    function test_register_ratioExecution_reverts() public {
        rejectsExecution(record(0x060102, _d3, INT, IDS, N, 7));
    }

    function test_register_ratio_reverts() public {
        bad(F.TYPE, 3, record(0x060103, _d3, INT, IDS, N, 1));
        bad(F.TYPE, 4, record(0x060104, _d3, INT, IDS, N, 1));
        bad(F.OPERAND_A, FLOAT, record(0x060102, _d3, FLOAT, IDS, N, 1));
        bad(F.OPERAND_A, shape(_d3), record(0x060102, B.dims2(6, 4), INT, IDS, N, 1));
        bad(F.OPERAND_B, BYTE, record(0x060102, _d3, INT, BYTE, N, 1));
        bad(F.OPERAND_B, 24, record(0x060102, _d3, INT, INT, N, 1));
        bad(F.OPERAND_B, 1, record(0x060102, _d3, INT, SCALAR, N, 1));
        bad(F.OPERAND_B, CHANNELS, record(0x060102, _d3, INT, CHANNELS, N, 1));
        bad(F.OPERAND_C, INT, record(0x060102, _d3, INT, IDS, INT, 1));
        bad(F.K, 0, record(0x060102, _d3, INT, IDS, N, 0));
    }

    function test_register_table_succeeds() public {
        good(record(0x070001, _d3, BYTE, MAP, N, 0));
        good(record(0x070004, _d3, BOOL, MAP, N, 0));
    }

    function test_register_table_reverts() public {
        bad(F.VARIANT, 1, record(0x070100, _d3, BYTE, MAP, N, 0));
        bad(F.TYPE, 2, record(0x070002, _d3, BYTE, MAP, N, 0));
        bad(F.OPERAND_A, INT, record(0x070000, _d3, INT, MAP, N, 0));
        bad(F.OPERAND_A, shape(_d3), record(0x070000, B.dims2(6, 4), BYTE, MAP, N, 0));
        bad(F.OPERAND_B, shape(B.dims1(1)), record(0x070000, _d3, BYTE, SCALAR, N, 0));
        bad(F.OPERAND_B, BYTE, record(0x070000, _d3, BYTE, BYTE, N, 0));
        bad(F.OPERAND_C, MAP, record(0x070000, _d3, BYTE, MAP, MAP, 0));
        bad(F.K, 1, record(0x070000, _d3, BYTE, MAP, N, 1));
    }

    function test_register_reduce_succeeds() public {
        good(record(0x0a0002, B.dims2(2, 3), INT, N, N, 0));
        good(record(0x0a0100, B.dims3(2, 3, 1), BYTE, N, N, 0));
        good(record(0x0a0204, B.dims1(6), BOOL, N, N, 0));
        good(record(0x0a0002, B.dims1(2), LONGEST, N, N, 0));
    }

    function test_register_reduce_reverts() public {
        bad(F.VARIANT, 4, record(0x0a0402, B.dims1(6), INT, N, N, 0));
        bad(F.TYPE, 0, record(0x0a0000, B.dims1(6), BYTE, N, N, 0));
        bad(F.TYPE, 2, record(0x0a0102, B.dims1(6), BYTE, N, N, 0));
        bad(F.OPERAND_A, FLOAT, record(0x0a0103, B.dims1(6), FLOAT, N, N, 0));
        bad(F.OPERAND_A, 6, record(0x0a0002, B.dims1(5), INT, N, N, 0));
        bad(F.OPERAND_A, 1025, record(0x0a0002, B.dims1(2), WIDE, N, N, 0));
        bad(F.OPERAND_A, 1025, record(0x0a0002, B.dims1(2), TOO_LONG, N, N, 0));
        bad(F.OPERAND_B, INT, record(0x0a0002, B.dims1(6), INT, INT, N, 0));
        bad(F.OPERAND_C, INT, record(0x0a0002, B.dims1(6), INT, N, INT, 0));
        bad(F.K, 1, record(0x0a0002, B.dims1(6), INT, N, N, 1));
    }

    function test_register_norm_succeeds() public {
        good(record(0x0a0302, B.dims2(2, 3), INT, N, N, 0));
        good(record(0x0a0302, B.dims1(2), WIDE, N, N, 0xFFFFFFFF));
        good(record(0x0a0302, B.dims1(1), LONGEST_NORM, N, N, 1));
    }

    function test_register_normExecution_reverts() public {
        rejectsExecution(record(0x0a0302, B.dims1(6), INT, N, N, 7));
    }

    function test_register_norm_reverts() public {
        bad(F.TYPE, 0, record(0x0a0300, B.dims1(6), BYTE, N, N, 0));
        bad(F.OPERAND_A, FLOAT, record(0x0a0302, B.dims1(6), FLOAT, N, N, 0));
        bad(F.OPERAND_A, 6, record(0x0a0302, B.dims1(5), INT, N, N, 0));
        bad(F.OPERAND_A, 8193, record(0x0a0302, B.dims1(1), TOO_LONG_NORM, N, N, 0));
        bad(F.OPERAND_B, INT, record(0x0a0302, B.dims1(6), INT, INT, N, 0));
        bad(F.OPERAND_C, INT, record(0x0a0302, B.dims1(6), INT, N, INT, 0));
    }
}
