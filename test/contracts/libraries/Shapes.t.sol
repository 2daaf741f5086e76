// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Shapes} from "../../../verifier-contracts/libraries/Shapes.sol";
import {Values} from "../../../verifier-contracts/libraries/Values.sol";
import {LAYOUT_PLAIN, Tensor} from "../../../verifier-contracts/types/Program.sol";
import {Test} from "../support/Test.sol";

contract ShapesTest is Test {
    function testFuzz_ceilLog2_leastPower_succeeds(uint32 x) public pure {
        if (x == 0) x = 1;
        uint256 n = Shapes.ceilLog2(x);
        assertLe(x, 2 ** n);
        assertTrue(n == 0 || 2 ** (n - 1) < x);
    }

    function test_ceilLog2_edges_succeeds() public pure {
        for (uint256 n = 0; n < 32; ++n) {
            assertEq(Shapes.ceilLog2(2 ** n), n);
            assertEq(Shapes.ceilLog2(2 ** n + 1), n + 1);
            if (n > 1) assertEq(Shapes.ceilLog2(2 ** n - 1), n);
        }
    }

    function test_rowWords_byLayout_succeeds() public pure {
        assertEq(Shapes.rowWords(1, 0, 32), 1);
        assertEq(Shapes.rowWords(1, 4, 33), 2);
        assertEq(Shapes.rowWords(1, 2, 8), 1);
        assertEq(Shapes.rowWords(1, 3, 9), 2);
        assertEq(Shapes.rowWords(2, 0, 1), 2);
        assertEq(Shapes.rowWords(2, 0, 992), 32);
        assertEq(Shapes.rowWords(3, 1, 33), 2);
        assertEq(Shapes.rowWords(4, 0, 1), 1);
    }

    function test_tensor_channelRows_succeeds() public pure {
        Tensor memory t = Shapes.tensor(4, 0, 1, uint256(5) << 224);
        assertEq(t.rows, 5);
        assertEq(t.words, 1);
        assertEq(t.height, 3);
    }

    /// @dev Compares with indices written out axis by axis.
    function testFuzz_broadcast_equalsIndices_succeeds(uint256 seed, uint256 rank, uint256 xRank)
        public
        pure
    {
        rank = bound(rank, 1, 6);
        xRank = bound(xRank, 1, rank);
        uint256[6] memory dims;
        uint256[6] memory xDims;
        uint256 shape;
        uint256 xShape;
        uint256 count = 1;
        for (uint256 i = 0; i < rank; ++i) {
            dims[i] = 1 + uint256(keccak256(abi.encode(seed, i))) % 4;
            shape |= dims[i] << (224 - 32 * i);
            count *= dims[i];
            if (i + xRank < rank) continue;
            uint256 j = i + xRank - rank;
            xDims[j] = uint256(keccak256(abi.encode(seed, i, "x"))) % 2 == 0 ? 1 : dims[i];
            xShape |= xDims[j] << (224 - 32 * j);
        }
        Tensor memory out = Shapes.tensor(LAYOUT_PLAIN, 0, rank, shape);
        Tensor memory x = Shapes.tensor(LAYOUT_PLAIN, 0, xRank, xShape);
        for (uint256 element = 0; element < count; ++element) {
            uint256[6] memory indices;
            uint256 rest = element;
            for (uint256 i = rank; i > 0; --i) {
                indices[i - 1] = rest % dims[i - 1];
                rest /= dims[i - 1];
            }
            uint256 expected = 0;
            for (uint256 j = 0; j < xRank; ++j) {
                expected = expected * xDims[j] + (xDims[j] == 1 ? 0 : indices[j + rank - xRank]);
            }
            assertEq(Shapes.broadcast(out, x, element), expected);
        }
    }

    function test_toInteger_byType_succeeds() public pure {
        assertEq(Values.toInteger(0, 255), 255);
        assertEq(Values.toInteger(1, 0), -128);
        assertEq(Values.toInteger(1, 255), 127);
        assertEq(Values.toInteger(2, 0x80000000), -2 ** 31);
        assertEq(Values.toInteger(2, 0xFFFFFFFF), -1);
        assertEq(Values.toInteger(4, 7), 7);
    }

    function test_saturate_byType_succeeds() public pure {
        assertEq(Values.saturate(0, -1), 0);
        assertEq(Values.saturate(0, 256), 255);
        assertEq(Values.saturate(1, -129), 0);
        assertEq(Values.saturate(1, -128), 0);
        assertEq(Values.saturate(1, 3), 131);
        assertEq(Values.saturate(1, 200), 255);
        assertEq(Values.saturate(2, -1), 0xFFFFFFFF);
        assertEq(Values.saturate(2, 2 ** 31), 0x7FFFFFFF);
        assertEq(Values.saturate(2, -2 ** 31 - 1), 0x80000000);
        assertEq(Values.saturate(4, -5), 1);
        assertEq(Values.saturate(4, 0), 0);
    }
}
