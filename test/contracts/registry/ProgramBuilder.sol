// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Writes program bytes (docs/EXACT.md, section 2), right or wrong ones, with no code of the contracts.
library ProgramBuilder {
    struct Draft {
        uint8 inputCodec;
        uint8 outputCodec;
        uint32 inputSize;
        uint256 weights;
        uint256 steps;
        bytes descriptors;
        bytes records;
    }

    uint16 internal constant NONE = 0xFFFF;
    uint16 internal constant W0 = 0x8000;
    uint16 internal constant W1 = 0x8001;

    function start(uint8 inputCodec, uint32 inputSize, uint8 outputCodec)
        internal
        pure
        returns (Draft memory d)
    {
        (d.inputCodec, d.inputSize, d.outputCodec) = (inputCodec, inputSize, outputCodec);
    }

    function bytesOf(Draft memory d) internal pure returns (bytes memory) {
        return bytes.concat(
            "ASY1",
            abi.encodePacked(uint16(d.weights), uint16(d.steps), d.inputCodec, d.outputCodec, d.inputSize),
            new bytes(18),
            d.descriptors,
            d.records
        );
    }

    function weight(Draft memory d, uint8 layout_, uint8 code, uint32[] memory dims) internal pure {
        d.descriptors = bytes.concat(
            d.descriptors,
            abi.encodePacked(layout_, code, uint8(dims.length), uint8(0)),
            shapeBytes(dims),
            new bytes(4)
        );
        d.weights++;
    }

    function step(
        Draft memory d,
        bytes3 opcodeVariantType,
        uint32[] memory dims,
        uint16 a,
        uint16 b,
        uint16 c,
        uint32 k
    ) internal pure {
        step(d, opcodeVariantType, dims, a, b, c, k, new bytes(64));
    }

    function step(
        Draft memory d,
        bytes3 opcodeVariantType,
        uint32[] memory dims,
        uint16 a,
        uint16 b,
        uint16 c,
        uint32 k,
        bytes memory coordinates
    ) internal pure {
        d.records = bytes.concat(
            d.records,
            abi.encodePacked(opcodeVariantType, uint8(dims.length), a, b, c, k),
            new bytes(18),
            shapeBytes(dims),
            new bytes(8),
            coordinates
        );
        d.steps++;
    }

    /// @notice An int16s input: s32 codec step of these dims from number k on.
    function int16s(Draft memory d, uint32[] memory dims, uint32 k) internal pure {
        step(d, 0x010302, dims, NONE, NONE, NONE, k);
    }

    function coordinate(uint32 view_, int24 a, uint8 p, int24 b, uint8 q, int32 c)
        internal
        pure
        returns (bytes memory)
    {
        return abi.encodePacked(view_, c, a, b, p, q);
    }

    function dims1(uint32 x) internal pure returns (uint32[] memory dims) {
        dims = new uint32[](1);
        dims[0] = x;
    }

    function dims2(uint32 x, uint32 y) internal pure returns (uint32[] memory dims) {
        dims = new uint32[](2);
        (dims[0], dims[1]) = (x, y);
    }

    function dims3(uint32 x, uint32 y, uint32 z) internal pure returns (uint32[] memory dims) {
        dims = new uint32[](3);
        (dims[0], dims[1], dims[2]) = (x, y, z);
    }

    function shapeBytes(uint32[] memory dims) internal pure returns (bytes memory all) {
        for (uint256 i = 0; i < 6; ++i) {
            all = bytes.concat(all, bytes4(i < dims.length ? dims[i] : 0));
        }
    }
}
