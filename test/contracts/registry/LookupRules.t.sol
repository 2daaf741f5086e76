// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ProgramField as F, ProgramPart} from "../../../verifier-contracts/types/Program.sol";
import {ProgramBuilder as B} from "./ProgramBuilder.sol";
import {StepRulesContext} from "./StepRulesContext.sol";

/// @dev The rules of LOOKUP (docs/EXACT.md, section 3): good records, and records that break one rule.
contract LookupRulesTest is StepRulesContext {
    using B for B.Draft;

    function test_register_lookup_succeeds() public {
        good(record(0x030002, B.dims2(6, 6), IDS, LOOKUP, N, 0));
        good(record(0x030002, B.dims3(2, 3, 6), INT, LOOKUP, N, 0));
        good(record(0x030102, B.dims2(6, 4), IDS, ROWS, N, 0));
    }

    function test_register_lookupEach_succeeds() public {
        good(record(0x030202, B.dims3(2, 3, 4), INT, COLUMN, N, 0));
        good(record(0x030202, B.dims2(6, 1), IDS, COLUMN, N, 0));
    }

    function test_register_lookupEach_reverts() public {
        uint32[] memory dims = B.dims3(2, 3, 4);
        bad(F.TYPE, 0, record(0x030200, dims, INT, COLUMN, N, 0));
        bad(F.OPERAND_A, BYTE, record(0x030202, dims, BYTE, COLUMN, N, 0));
        bad(F.OPERAND_A, shape(dims), record(0x030202, B.dims2(6, 4), INT, COLUMN, N, 0));
        bad(F.OPERAND_B, LOOKUP, record(0x030202, dims, INT, LOOKUP, N, 0));
        bad(F.OPERAND_B, shape(B.dims2(10, 4)), record(0x030202, dims, INT, ROWS, N, 0));
        bad(F.OPERAND_B, shape(B.dims1(1)), record(0x030202, dims, INT, SCALAR, N, 0));
        bad(F.OPERAND_C, INT, record(0x030202, dims, INT, COLUMN, INT, 0));
        bad(F.K, 1, record(0x030202, dims, INT, COLUMN, N, 1));
    }

    function test_register_lookupEachExecution_reverts() public {
        rejectsExecution(record(0x030202, B.dims3(2, 3, 4), INT, COLUMN, N, 0));
    }

    function test_register_lookupBelow_succeeds() public {
        good(record(0x030302, B.dims3(2, 3, 4), INT, COLUMN, N, 0));
        good(record(0x030302, B.dims3(2, 3, 4), INT, COLUMN, BOOL, 0));
        good(record(0x030302, B.dims2(2, 1024), SCORES, COLUMN, COUNTS, 0));
    }

    function test_register_lookupBelow_reverts() public {
        uint32[] memory dims = B.dims3(2, 3, 4);
        bad(F.TYPE, 0, record(0x030300, dims, INT, COLUMN, BOOL, 0));
        bad(F.OPERAND_A, BYTE, record(0x030302, dims, BYTE, COLUMN, BOOL, 0));
        bad(F.OPERAND_A, shape(dims), record(0x030302, B.dims2(6, 4), INT, COLUMN, N, 0));
        bad(F.OPERAND_A, 1025, record(0x030302, B.dims2(2, 1025), WIDE, COLUMN, N, 0));
        bad(F.OPERAND_B, LOOKUP, record(0x030302, dims, INT, LOOKUP, BOOL, 0));
        bad(F.OPERAND_B, shape(B.dims2(10, 4)), record(0x030302, dims, INT, ROWS, BOOL, 0));
        bad(F.OPERAND_C, BYTE, record(0x030302, dims, INT, COLUMN, BYTE, 0));
        bad(F.OPERAND_C, SELF, record(0x030302, dims, INT, COLUMN, SELF, 0));
        bad(F.OPERAND_C, shape(dims), record(0x030302, B.dims2(6, 1), IDS, COLUMN, BOOL, 0));
        bad(F.OPERAND_C, 1, record(0x030302, dims, INT, COLUMN, ONE_COUNT, 0));
        bad(F.K, 1, record(0x030302, dims, INT, COLUMN, BOOL, 1));
    }

    function test_register_lookupBelowExecution_reverts() public {
        rejectsExecution(record(0x030302, B.dims3(2, 3, 4), INT, COLUMN, BOOL, 0));
    }

    function test_register_lookup_reverts() public {
        uint32[] memory d66 = B.dims2(6, 6);
        bad(F.VARIANT, 4, record(0x030402, d66, IDS, LOOKUP, N, 0));
        bad(F.TYPE, 0, record(0x030000, d66, IDS, LOOKUP, N, 0));
        bad(F.OPERAND_A, BYTE, record(0x030002, B.dims3(2, 3, 6), BYTE, LOOKUP, N, 0));
        bad(F.OPERAND_A, 1025, record(0x030002, B.dims2(2, 6), WIDE, LOOKUP, N, 0));
        bad(F.OPERAND_A, 6, record(0x030002, B.dims2(5, 6), IDS, LOOKUP, N, 0));
        bad(F.OPERAND_B, ROWS, record(0x030002, B.dims2(6, 4), IDS, ROWS, N, 0));
        bad(F.OPERAND_B, 6, record(0x030002, B.dims2(6, 5), IDS, LOOKUP, N, 0));
        bad(F.OPERAND_B, INT, record(0x030002, d66, IDS, INT, N, 0));
        bad(F.OPERAND_C, INT, record(0x030002, d66, IDS, LOOKUP, INT, 0));
        bad(F.K, 1, record(0x030002, d66, IDS, LOOKUP, N, 1));
        bad(F.OPERAND_A, 4, record(0x030102, B.dims3(2, 3, 4), INT, ROWS, N, 0));
        bad(F.OPERAND_B, LOOKUP, record(0x030101, d66, IDS, LOOKUP, N, 0));
        bad(F.OPERAND_B, shape(B.dims1(256)), record(0x030100, B.dims2(6, 256), IDS, MAP, N, 0));
        bad(F.OPERAND_B, 4, record(0x030102, B.dims2(6, 5), IDS, ROWS, N, 0));
        bad(F.TYPE, 3, record(0x030103, B.dims2(6, 4), IDS, ROWS, N, 0));
    }

    /// @dev Step 1 looks `j` ids a row up; weights are LOOKUP [10, 6], s32 [10, 4] and s32 [5, 2, 4].
    function _lookup(uint32 j, bytes3 code, uint16 table, uint32 last)
        private
        pure
        returns (B.Draft memory d)
    {
        d = B.start(3, 4096, 1);
        d.weight(3, 1, B.dims2(10, 6));
        d.weight(1, 2, B.dims2(10, 4));
        d.weight(1, 2, B.dims3(5, 2, 4));
        d.int16s(B.dims2(6, j), 0);
        d.step(code, B.dims2(6, last), 0, table, N, 0);
        d.int16s(B.dims1(1), 0);
    }

    function _badLookup(F field, uint256 value, B.Draft memory d) private {
        rejects(d.bytesOf(), ProgramPart.STEP, 1, field, value);
    }

    /// @dev A sum reads 16 rows at most, a gather one.
    function test_register_lookupIds_succeeds() public {
        accepts(_lookup(16, 0x030002, 0x8000, 6));
        accepts(_lookup(1, 0x030102, 0x8001, 4));
    }

    function test_register_lookupIds_reverts() public {
        _badLookup(F.OPERAND_A, 17, _lookup(17, 0x030002, 0x8000, 6));
        _badLookup(F.OPERAND_A, 2, _lookup(2, 0x030102, 0x8001, 4));
        _badLookup(F.OPERAND_B, shape(B.dims3(5, 2, 4)), _lookup(1, 0x030102, 0x8002, 4));
    }
}
