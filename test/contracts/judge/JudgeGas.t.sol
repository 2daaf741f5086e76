// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {TraceFixture} from "./TraceFixture.sol";

/// @dev Gas of the judge in a model of 16 steps and 8 weight tensors. With --isolate -vv each number printed is a
/// whole cold transaction, calldata included; without, it lacks the 21,000, the calldata and the cold accesses.
contract JudgeGasTest is TraceFixture {
    using B for B.Draft;

    uint16 private constant N = B.NONE;
    uint16 private constant A = 0;
    uint16 private constant OUT = 1;
    uint16 private constant CHANNELS = 0x8000;
    uint16 private constant MAP = 0x8001;
    uint16 private constant TABLE = 0x8002;
    uint16 private constant DOT = 0x8003;
    uint16 private constant ENTRIES = 0x8004;
    uint16 private constant COUNTS = 0x8005;

    event log_named_uint(string key, uint256 val);

    /// @dev Step 0 is a raw tensor [16, columns], step 1 the judged one [16, 64], the others are one word each.
    function _program(
        uint32 k,
        bytes3 aCode,
        uint32 columns,
        bytes3 code,
        uint16 b,
        uint16 c,
        bytes memory coordinates
    ) private {
        B.Draft memory d = B.start(4, 65_536, 3);
        d.weight(4, 0, B.dims1(64));
        commit(weightTensors, 64, 1);
        d.weight(1, 0, B.dims1(256));
        commit(weightTensors, 1, 8);
        d.weight(3, 1, B.dims2(64, 64));
        commit(weightTensors, 64, 2);
        d.weight(2, 0, B.dims2(64, k));
        commit(weightTensors, 64, (k + 31) / 32 + 1);
        d.weight(1, 0, B.dims2(1024, 1));
        commit(weightTensors, 1024, 1);
        d.weight(1, 4, B.dims1(64));
        commit(weightTensors, 1, 2);
        for (uint256 i = 6; i < 8; ++i) {
            d.weight(1, 0, B.dims1(32));
            commit(weightTensors, 1, 1);
        }
        commitStep(d, aCode, B.dims2(16, columns), N, N, N, 0);
        bool reduces = code[0] == 0x0a;
        // A ratio's divisors are its own numbers, one a row.
        bool isRatio = code[0] == 0x06 && code[1] == 0x01;
        uint32[] memory dims = reduces ? B.dims1(16) : B.dims2(16, isRatio ? 1 : 64);
        commitStep(d, code, dims, A, b, c, code[0] == 0x04 || isRatio ? 1 : 0, coordinates);
        for (uint256 i = 2; i < 16; ++i) {
            commitStep(d, 0x080900, B.dims1(32), 0x8007, N, N, 0);
        }
        registerCommitted(d);
    }

    function _program(bytes3 aCode, uint32 columns, bytes3 code, uint16 b, uint16 c) private {
        _program(40, aCode, columns, code, b, c, new bytes(64));
    }

    function _measure(string memory name, Opening[] memory list, uint256 limit) private {
        // A CALL, not Solidity's STATICCALL for views: only calls are transactions of their own with --isolate.
        (bool ok,) =
            address(judge).call(abi.encodeCall(judge.judgeElement, (modelId, traceRoot, OUT, 0, list)));
        assertTrue(ok);
        uint256 used = vm.snapshotGasLastCall("judge", name);
        emit log_named_uint(name, used);
        assertLt(used, limit, name);
    }

    function _dot(uint32 k, uint256 limit) private {
        _program(k, 0x010400, k, 0x040100, DOT, N, new bytes(64));
        _measure(
            string.concat("dot ", vm.toString(k)),
            openings(wordOf(OUT, 0, 0), rowOf(A, 0), rowOf(DOT, 0)),
            limit
        );
    }

    function test_judgeElement_gasDot64_succeeds() public {
        _dot(64, 90_000);
    }

    function test_judgeElement_gasDot256_succeeds() public {
        _dot(256, 110_000);
    }

    function test_judgeElement_gasDot512_succeeds() public {
        _dot(512, 140_000);
    }

    function test_judgeElement_gasDot768_succeeds() public {
        _dot(768, 165_000);
    }

    function test_judgeElement_gasDot992_succeeds() public {
        _dot(992, 190_000);
    }

    function _one() private view returns (Opening[] memory) {
        return openings(wordOf(OUT, 0, 0), wordOf(A, 0, 0));
    }

    function _two(uint16 b) private view returns (Opening[] memory) {
        return openings(wordOf(OUT, 0, 0), wordOf(A, 0, 0), wordOf(b, 0, 0));
    }

    function test_judgeElement_gasMove_succeeds() public {
        bytes memory one = B.coordinate(1, 0, 0, 0, 0, 0);
        bytes memory same =
            bytes.concat(one, one, B.coordinate(16, 1, 0, 0, 0, 0), B.coordinate(64, 1, 1, 0, 0, 0));
        _program(40, 0x010402, 64, 0x020002, N, N, same);
        _measure("move", _one(), 90_000);
    }

    function test_judgeElement_gasLookup_succeeds() public {
        _program(0x010402, 16, 0x030002, TABLE, N);
        for (uint256 i = 0; i < 16; ++i) {
            setU32(A, 0, i, uint32(i + 1));
        }
        commitRoots();
        Opening[] memory list = new Opening[](18);
        (list[0], list[1]) = (wordOf(OUT, 0, 0), rowOf(A, 0));
        for (uint256 i = 0; i < 16; ++i) {
            list[i + 2] = wordOf(TABLE, i + 1, 0);
        }
        _measure("lookup of 16", list, 360_000);
    }

    function test_judgeElement_gasLookupEach_succeeds() public {
        _program(0x010402, 64, 0x030200, ENTRIES, N);
        setU32(A, 0, 0, 1000);
        commitRoots();
        Opening memory entry = wordOf(ENTRIES, 1000, 0);
        _measure("lookup each of 1024", openings(wordOf(OUT, 0, 0), wordOf(A, 0, 0), entry), 90_000);
    }

    /// @dev The first of 64 numbers is the largest that counts: of the mask's noise its byte is not 0.
    function test_judgeElement_gasLookupBelow_succeeds() public {
        _program(0x010402, 64, 0x030300, ENTRIES, COUNTS);
        setU32(A, 0, 0, 0x7FFFFFFF);
        commitRoots();
        Opening[] memory list =
            openings(wordOf(OUT, 0, 0), rowOf(A, 0), rowOf(COUNTS, 0), wordOf(ENTRIES, 0, 0));
        _measure("lookup below, 64 of 1024", list, 130_000);
    }

    function test_judgeElement_gasRequant_succeeds() public {
        _program(0x010402, 64, 0x050100, CHANNELS, N);
        _measure("requant integer", _two(CHANNELS), 90_000);
    }

    function test_judgeElement_gasRequantBinary32_succeeds() public {
        _program(0x010402, 64, 0x050200, CHANNELS, N);
        _measure("requant binary32", _two(CHANNELS), 100_000);
    }

    function test_judgeElement_gasRescale_succeeds() public {
        _program(0x010402, 64, 0x060002, CHANNELS, N);
        _measure("rescale", _two(CHANNELS), 90_000);
    }

    function test_judgeElement_gasRatio_succeeds() public {
        _program(0x010402, 1, 0x060102, A, N);
        _measure("ratio", _two(A), 90_000);
    }

    function test_judgeElement_gasTable_succeeds() public {
        _program(0x010400, 64, 0x070000, MAP, N);
        uint256 word = byteOf(A, 0, 0) / 32;
        _measure("table", openings(wordOf(OUT, 0, 0), wordOf(A, 0, 0), wordOf(MAP, 0, word)), 90_000);
    }

    function test_judgeElement_gasArith_succeeds() public {
        _program(0x010402, 64, 0x080002, A, N);
        _measure("arith", _two(A), 90_000);
    }

    function test_judgeElement_gasRotate_succeeds() public {
        _program(0x010402, 64, 0x080a02, A, N);
        _measure("rotate", _two(A), 90_000);
    }

    function test_judgeElement_gasFloat_succeeds() public {
        _program(0x010403, 64, 0x090303, A, N);
        _measure("float div", _two(A), 100_000);
    }

    function test_judgeElement_gasReduce_succeeds() public {
        _program(0x010400, 1024, 0x0a0200, N, N);
        _measure("reduce 1024 bytes", openings(wordOf(OUT, 0, 0), rowOf(A, 0)), 190_000);
    }

    function test_judgeElement_gasReduceNumbers_succeeds() public {
        _program(0x010402, 1024, 0x0a0202, N, N);
        _measure("reduce 1024 numbers", openings(wordOf(OUT, 0, 0), rowOf(A, 0)), 360_000);
    }

    function test_judgeElement_gasNorm_succeeds() public {
        _program(0x010402, 576, 0x0a0302, N, N);
        _measure("norm 576 numbers", openings(wordOf(OUT, 0, 0), rowOf(A, 0)), 300_000);
    }

    function test_judgeElement_gasSelect_succeeds() public {
        _program(0x010404, 64, 0x0b0004, A, A);
        Opening memory a = wordOf(A, 0, 0);
        _measure("select", openings(wordOf(OUT, 0, 0), a, a, a), 110_000);
    }
}
