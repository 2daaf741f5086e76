// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Parameters} from "../../../verifier-contracts/libraries/Parameters.sol";
import {Dot} from "../../../verifier-contracts/opcodes/Dot.sol";
import {DotActivations} from "../../../verifier-contracts/opcodes/DotActivations.sol";
import {Requant} from "../../../verifier-contracts/opcodes/Requant.sol";
import {Rescale} from "../../../verifier-contracts/opcodes/Rescale.sol";
import {Test} from "../support/Test.sol";

contract DotTest is Test {
    function _word(
        int32 bias,
        uint32 m,
        int64 b,
        uint8 s,
        uint8 zeroPoint,
        uint8 lower,
        uint8 upper,
        uint16 o
    ) private pure returns (uint256) {
        return uint256(
            bytes32(abi.encodePacked(bias, m, b, s, uint32(0), zeroPoint, lower, upper, o, bytes6(0)))
        );
    }

    function _accumulate(bytes memory activations, uint256 length, bytes memory weights)
        private
        pure
        returns (int256 acc, Parameters parameters)
    {
        uint256 a;
        uint256 w;
        assembly {
            a := add(activations, 32)
            w := add(weights, 32)
        }
        return Dot.accumulate(a, length, w);
    }

    /// @dev acc = (1·10 + 2·20 + 3·30) − 5·(1 + 2 + 3) − 1000 = 140 − 30 − 1000.
    function test_accumulate_byHand_succeeds() public pure {
        bytes memory a = bytes.concat(hex"010203", new bytes(29));
        bytes memory w = bytes.concat(new bytes(29), hex"1e140a", bytes32(_word(-1000, 0, 0, 0, 0, 0, 0, 5)));
        (int256 acc, Parameters parameters) = _accumulate(a, 3, w);
        assertEq(acc, -890);
        assertEq(Parameters.unwrap(parameters), _word(-1000, 0, 0, 0, 0, 0, 0, 5));
    }

    /// @dev 992 products of 255·255, the most that one row has.
    function test_accumulate_longest_succeeds() public pure {
        bytes memory a = new bytes(992);
        bytes memory w = new bytes(1024);
        for (uint256 i = 0; i < 992; ++i) {
            (a[i], w[i]) = (0xff, 0xff);
        }
        (int256 acc,) = _accumulate(a, 992, w);
        assertEq(acc, 992 * 255 * 255);
        // bias′ = 2^31 − 1 on top wraps.
        w[992] = 0x7f;
        (w[993], w[994], w[995]) = (0xff, 0xff, 0xff);
        (acc,) = _accumulate(a, 992, w);
        assertEq(acc, int256(992 * 255 * 255) + 2 ** 31 - 1 - 2 ** 32);
    }

    /// @dev Bytes beyond the row, in activations and weights, are anything.
    function testFuzz_accumulate_equalsLoop_succeeds(uint256 seed, uint256 length) public pure {
        length = bound(length, 1, 992);
        uint256 words = (length + 31) / 32;
        bytes memory a = new bytes(32 * words);
        bytes memory w = new bytes(32 * words + 32);
        for (uint256 i = 0; i < w.length; ++i) {
            bytes32 random = keccak256(abi.encode(seed, i));
            // Extremes often.
            bytes1 value = uint8(random[2]) < 64 ? bytes1(0xff) : random[0];
            if (i < a.length) a[i] = uint8(random[3]) < 64 ? bytes1(0xff) : random[1];
            w[i] = value;
        }
        (int256 acc, Parameters parameters) = _accumulate(a, length, w);
        int256 expected = int256(int32(uint32(Parameters.unwrap(parameters) >> 224)));
        int256 offset = int256(uint256(uint16(Parameters.unwrap(parameters) >> 48)));
        for (uint256 i = 0; i < length; ++i) {
            uint256 word = i / 32;
            int256 weight = int256(uint256(uint8(w[32 * word + 31 - i % 32])));
            expected += int256(uint256(uint8(a[i]))) * (weight - offset);
        }
        assertEq(acc, int256(int32(uint32(uint256(expected)))));
    }

    function test_activationRow_byHand_succeeds() public pure {
        // N = 6, G = 3: outputs 0, 1 read row 0 of their three, 2, 3 row 1, 4, 5 row 2.
        uint8[12] memory rows = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
        for (uint256 e = 0; e < 12; ++e) {
            assertEq(Dot.activationRow(e, 6, 3), rows[e]);
        }
    }

    function test_scale_byHand_succeeds() public pure {
        assertEq(Requant.scale(100, Parameters.wrap(_word(0, 3, 7, 4, 0, 0, 0, 0))), 19);
        // −300 + 7 = −293, shifted by 4 rounds down to −19.
        assertEq(Requant.scale(-100, Parameters.wrap(_word(0, 3, 7, 4, 0, 0, 0, 0))), -19);
        // S = 68 is 4.
        assertEq(Requant.scale(100, Parameters.wrap(_word(0, 3, 7, 68, 0, 0, 0, 0))), 19);
        // 2^31 · −1 · … wraps past 2^63: acc·M = −2^31·(2^32 − 1), B = −2^63 gives a positive sum.
        int256 sum = -int256(2 ** 31) * int256(2 ** 32 - 1) + 2 ** 63;
        assertEq(
            Requant.scale(
                -2 ** 31, Parameters.wrap(_word(0, type(uint32).max, type(int64).min, 0, 0, 0, 0, 0))
            ),
            sum
        );
    }

    function testFuzz_scale_equalsInt64_succeeds(int32 acc, uint256 parameters) public pure {
        int64 product;
        unchecked {
            product = int64(acc) * int64(uint64(uint32(parameters >> 192))) + int64(uint64(parameters >> 128));
        }
        uint256 shift = uint8(parameters >> 120) % 64;
        assertEq(Requant.scale(acc, Parameters.wrap(parameters)), product >> shift);
        assertEq(Rescale.rescale(acc, Parameters.wrap(parameters)), uint32(uint64(product >> shift)));
    }

    function test_clamp_byHand_succeeds() public pure {
        assertEq(Requant.clamp(19, Parameters.wrap(_word(0, 0, 0, 0, 128, 0, 255, 0))), 147);
        assertEq(Requant.clamp(200, Parameters.wrap(_word(0, 0, 0, 0, 128, 0, 255, 0))), 255);
        assertEq(Requant.clamp(-129, Parameters.wrap(_word(0, 0, 0, 0, 128, 0, 255, 0))), 0);
        assertEq(Requant.clamp(-129, Parameters.wrap(_word(0, 0, 0, 0, 128, 10, 20, 0))), 10);
        // Crossed bounds: the upper one comes last.
        assertEq(Requant.clamp(50, Parameters.wrap(_word(0, 0, 0, 0, 0, 200, 20, 0))), 20);
        assertEq(Requant.clamp(type(int64).max, Parameters.wrap(_word(0, 0, 0, 0, 255, 0, 255, 0))), 255);
        assertEq(Requant.clamp(type(int64).min, Parameters.wrap(_word(0, 0, 0, 0, 255, 3, 255, 0))), 3);
    }

    /// @dev Bytes beyond the rows are anything.
    function testFuzz_activations_equalsLoop_succeeds(
        uint256 seed,
        uint256 length,
        bool aSigned,
        bool bSigned
    ) public pure {
        length = bound(length, 1, 1024);
        _compareActivations(_noise(seed, length), _noise(~seed, length), length, aSigned, bSigned);
    }

    /// @dev Both ends of each type, at the longest row and around words' ends.
    function test_activations_edges_succeeds() public pure {
        uint256[8] memory lengths = [uint256(1), 31, 32, 33, 63, 64, 1023, 1024];
        for (uint256 i = 0; i < 8 * 16; ++i) {
            bytes memory a = _filled(i & 1 == 0 ? bytes1(0) : bytes1(0xff), lengths[i / 16]);
            bytes memory b = _filled(i & 2 == 0 ? bytes1(0) : bytes1(0xff), lengths[i / 16]);
            _compareActivations(a, b, lengths[i / 16], i & 4 == 0, i & 8 == 0);
        }
    }

    function _filled(bytes1 fill, uint256 length) private pure returns (bytes memory row) {
        row = new bytes((length + 31) / 32 * 32);
        for (uint256 i = 0; i < row.length; ++i) {
            // Behind the row what would add the most.
            row[i] = i < length ? fill : bytes1(0xff);
        }
    }

    function _noise(uint256 seed, uint256 length) private pure returns (bytes memory row) {
        row = new bytes((length + 31) / 32 * 32);
        for (uint256 i = 0; i < row.length; ++i) {
            row[i] = bytes1(uint8(uint256(keccak256(abi.encode(seed, i / 32))) >> (8 * (i % 32))));
        }
    }

    function _compareActivations(bytes memory a, bytes memory b, uint256 length, bool aSigned, bool bSigned)
        private
        pure
    {
        (int256 aZero, int256 bZero) = (aSigned ? int256(128) : int256(0), bSigned ? int256(128) : int256(0));
        int256 sum = 0;
        for (uint256 i = 0; i < length; ++i) {
            sum += (int256(uint256(uint8(a[i]))) - aZero) * (int256(uint256(uint8(b[i]))) - bZero);
        }
        uint256 left;
        uint256 right;
        assembly {
            left := add(a, 32)
            right := add(b, 32)
        }
        uint256 stored = DotActivations.products(left, uint256(aZero), right, uint256(bZero), length);
        assertEq(stored, uint32(int32(sum)));
    }
}
