// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {FloatJudge} from "verifier-contracts/FloatJudge.sol";
import {Binary32} from "verifier-contracts/libraries/Binary32.sol";
import {TYPE_BOOL, TYPE_F32, TYPE_S32, TYPE_U8} from "verifier-contracts/types/Program.sol";

/// @notice Every operation on every triple of test/vectors/binary32.json, which tools/make-float-vectors.ts wrote
/// with Math.fround; through the judge's own entries.
contract Binary32VectorsTest is Test {
    /// @dev Fewer than this would not cover the patterns that the vectors are made of.
    uint256 private constant LEAST = 4000;

    FloatJudge private judge;
    string private path;

    function setUp() public {
        judge = new FloatJudge();
        bool large = vm.envOr("FLOAT_VECTORS_BUILD", uint256(0)) == 1;
        path = large ? "build/binary32.json" : "test/vectors/binary32.json";
    }

    function test_compute_vectorsAdd_succeeds() public view {
        _run("add", 0, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsSub_succeeds() public view {
        _run("sub", 1, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsMul_succeeds() public view {
        _run("mul", 2, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsDiv_succeeds() public view {
        _run("div", 3, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsSqrt_succeeds() public view {
        _run("sqrt", 4, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsRound_succeeds() public view {
        _run("round", 5, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsMin_succeeds() public view {
        _run("min", 6, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsMax_succeeds() public view {
        _run("max", 7, TYPE_F32, TYPE_F32);
    }

    function test_compute_vectorsLt_succeeds() public view {
        _run("lt", 8, TYPE_BOOL, TYPE_F32);
    }

    function test_compute_vectorsLe_succeeds() public view {
        _run("le", 9, TYPE_BOOL, TYPE_F32);
    }

    function test_compute_vectorsEq_succeeds() public view {
        _run("eq", 10, TYPE_BOOL, TYPE_F32);
    }

    function test_compute_vectorsTofloat_succeeds() public view {
        _run("tofloat", 11, TYPE_F32, TYPE_S32);
    }

    function test_compute_vectorsToint_succeeds() public view {
        _run("toint", 12, TYPE_S32, TYPE_F32);
    }

    function test_compute_vectorsDequant_succeeds() public view {
        _run("dequant", 13, TYPE_F32, TYPE_S32);
    }

    function test_compute_vectorsQuant_succeeds() public view {
        _run("quant", 14, TYPE_U8, TYPE_F32);
    }

    function test_requantize_vectors_succeeds() public view {
        (bytes memory triples, bytes memory results) = _read("requantize");
        for (uint256 i = 0; 4 * i < results.length; ++i) {
            int256 acc = int32(uint32(_word(triples, 3 * i)));
            int256 q = judge.requantize(acc, _word(triples, 3 * i + 1));
            assertEq(q, int32(uint32(_word(results, i))), vm.toString(i));
        }
    }

    function test_nearest_vectors_succeeds() public view {
        (bytes memory triples, bytes memory results) = _read("nearest");
        for (uint256 i = 0; 4 * i < results.length; ++i) {
            int256 q = Binary32.nearest(_word(triples, 3 * i));
            assertEq(q, int32(uint32(_word(results, i))), vm.toString(i));
        }
    }

    function _run(string memory name, uint256 variant, uint256 outputType, uint256 aType) private view {
        (bytes memory triples, bytes memory results) = _read(name);
        for (uint256 i = 0; 4 * i < results.length; ++i) {
            (uint256 a, uint256 b) = (_word(triples, 3 * i), _word(triples, 3 * i + 1));
            uint256 stored = judge.compute(variant, outputType, aType, a, b, _word(triples, 3 * i + 2));
            if (stored != _word(results, i)) assertEq(stored, _word(results, i), vm.toString(i));
        }
    }

    function _read(string memory name) private view returns (bytes memory triples, bytes memory results) {
        string memory json = vm.readFile(path);
        triples = vm.parseJsonBytes(json, ".operands");
        results = vm.parseJsonBytes(json, string.concat(".results.", name));
        assertGe(results.length / 4, LEAST, "too few vectors");
        assertEq(results.length * 3, triples.length, "results and operands");
    }

    function _word(bytes memory data, uint256 index) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := shr(224, mload(add(add(data, 0x20), shl(2, index))))
        }
    }
}
