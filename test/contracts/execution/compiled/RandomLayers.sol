// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LayerCase, LayerFixture} from "./LayerFixture.sol";

/// @notice Layers and activations of a seed.
abstract contract RandomLayers is LayerFixture {
    /// @dev Styles of weight bytes.
    uint256 internal constant TRAINED = 0;
    uint256 internal constant ANY = 1;
    uint256 internal constant EXTREME = 2;
    uint256 internal constant SPARSE = 3;
    uint256 internal constant CONSTANT = 4;
    uint256 internal constant STYLES = 5;

    function random(uint256 seed, uint256 i) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, i)));
    }

    /// @notice Fills the layer's words. Rows differ in style and in how hostile their parameters are, if `hostile`;
    /// else they are as import writes them. Bytes beyond K are anything: the commitment does not say that they are 0.
    function fill(LayerCase memory l, uint256 seed, bool hostile) internal pure {
        uint256 perRow = rowWords(l);
        l.words = new bytes32[](l.rows * perRow);
        for (uint256 n = 0; n < l.rows; ++n) {
            uint256 r = random(seed, n);
            uint256 offset = hostile ? offsetOf(r) : 128;
            uint256 style = hostile ? (r >> 16) % STYLES : TRAINED;
            for (uint256 w = 0; w + 1 < perRow; ++w) {
                l.words[n * perRow + w] = bytes32(wordOf(random(r, w), style, offset));
            }
            uint256 parameters =
                hostile ? hostileWord(random(r, 1000)) : gentleWord(random(r, 1000), l.length);
            parameters &= ~(uint256(0xFFFF) << 48);
            l.words[(n + 1) * perRow - 1] = bytes32(parameters | (offset << 48));
        }
    }

    function offsetOf(uint256 r) internal pure returns (uint256) {
        uint16[8] memory usual = [uint16(128), 128, 0, 255, 256, 65_535, 127, 129];
        return r & 1 == 0 ? usual[(r >> 1) % 8] : (r >> 1) & 2 == 0 ? (r >> 32) & 0xFF : (r >> 32) & 0xFFFF;
    }

    function wordOf(uint256 r, uint256 style, uint256 offset) internal pure returns (uint256 word) {
        if (style == ANY) return r;
        for (uint256 i = 0; i < 32; ++i) {
            uint256 x = (r >> (8 * i)) & 0xFF;
            if (style == TRAINED) x = 128 + x / 4 - 32;
            else if (style == EXTREME) x = x & 1 == 0 ? 0 : 255;
            else if (style == CONSTANT) x = 255;
            else if (r & 3 != 0 || x > 30) x = offset & 0xFF;
            word = (word << 8) | x;
        }
    }

    /// @notice Parameters as import writes them: an M, B and S that bring the sum into a byte.
    function gentleWord(uint256 r, uint256 length) internal pure returns (uint256) {
        int32 bias = int32(int256(r % 20_001)) - 10_000;
        uint256 shift = 20;
        uint256 m = ((1 << shift) * 30) / (length * 1000) + (r >> 32) % 100;
        if ((r >> 40) & 1 == 1) (m, shift) = (1, 9 + (r >> 44) % 4);
        bool relu = (r >> 50) & 1 == 1;
        return uint256(
            bytes32(
                abi.encodePacked(
                    bias,
                    uint32(m),
                    int64(int256(1) << (shift - 1)),
                    uint8(shift),
                    uint32(0),
                    uint8(relu ? 0 : 128),
                    uint8(0),
                    uint8(255),
                    uint16(128),
                    bytes6(0)
                )
            )
        );
    }

    /// @notice Any bytes; often extreme ones, often a shift that leaves something to see, clamps that cross.
    function hostileWord(uint256 r) internal pure returns (uint256 word) {
        word = random(r, 1);
        if (r & 3 == 0) word = (word << 32 >> 32) | (((r >> 8) & 1 == 0 ? 0x7fffffff : 0x80000000) << 224);
        if ((r >> 2) & 3 == 0) word |= uint256(0xFFFFFFFF) << 192;
        if ((r >> 2) & 3 == 1) word &= ~(uint256(0xFFFFFFFE) << 192);
        if ((r >> 4) & 3 == 0) {
            word = (word & ~(uint256(type(uint64).max) << 128)) | (uint256(1 << 63) << 128);
        }
        if ((r >> 4) & 3 == 1) word |= uint256(0x7fffffffffffffff) << 128;
        if ((r >> 6) & 3 == 0) word = (word & ~(uint256(0xFF) << 120)) | ((40 + (r >> 80) % 24) << 120);
        // Wide open clamps, half of the time.
        if ((r >> 9) & 1 == 0) word = (word & ~(uint256(0xFFFF) << 64)) | (uint256(0x00FF) << 64);
    }

    function activationsOf(LayerCase memory l, uint256 seed) internal pure returns (bytes memory a) {
        a = new bytes(uint256(l.length) * l.groups * l.outputs);
        uint256 style = seed % 5;
        for (uint256 i = 0; i < a.length; ++i) {
            uint256 r = random(seed, i);
            if (style == 0) r = 255;
            else if (style == 1) r = 0;
            else if (style == 2) r = r & 1 == 0 ? 0 : 255;
            a[i] = bytes1(uint8(r));
        }
    }
}
