// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ProgramField as F, ProgramPart} from "../../../verifier-contracts/types/Program.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "./ProgramBuilder.sol";
import {RegistryTest} from "./RegistryTest.sol";

/// @dev The rules of docs/EXACT.md, sections 2 and 5, on header, weight descriptors, codec steps and outputs.
contract ProgramRulesTest is RegistryTest {
    using B for B.Draft;

    function _bytes() private pure returns (bytes memory) {
        B.Draft memory d = B.start(3, 100, 1);
        d.int16s(B.dims2(3, 5), 7);
        return d.bytesOf();
    }

    function _badHeader(F field, uint256 value, bytes memory program) private {
        rejects(program, ProgramPart.HEADER, 0, field, value);
    }

    function test_register_header_reverts() public {
        bytes memory program = _bytes();
        _badHeader(F.LENGTH, 31, this.slice(program, 0, 31));
        _badHeader(F.LENGTH, 159, this.slice(program, 0, 159));
        _badHeader(F.LENGTH, 161, bytes.concat(program, hex"00"));
        _badHeader(F.MAGIC, 0x42535931, _with(0, 0x42));
        _badHeader(F.WEIGHTS, 0x1100, _with(4, 0x11));
        _badHeader(F.STEPS, 0, _with(7, 0));
        _badHeader(F.STEPS, 0, this.slice(_with(7, 0), 0, 32));
        _badHeader(F.WEIGHTS, 2049, _manyWeights(2049));
        _badHeader(F.INPUT_CODEC, 0, _with(8, 0));
        _badHeader(F.INPUT_CODEC, 5, _with(8, 5));
        _badHeader(F.OUTPUT_CODEC, 0, _with(9, 0));
        _badHeader(F.OUTPUT_CODEC, 4, _with(9, 4));
        for (uint256 i = 14; i < 32; ++i) {
            _badHeader(F.ZERO, 256 ** (31 - i), _with(i, 1));
        }
        _badHeader(F.ZERO, 1 << 143, _with(14, 0x80));
    }

    /// @dev One step, and so many weight tensors of one element.
    function _manyWeights(uint16 count) private pure returns (bytes memory program) {
        B.Draft memory one = B.start(3, 100, 1);
        one.weight(1, 2, B.dims1(1));
        bytes memory all = one.descriptors;
        while (all.length < 32 * uint256(count)) {
            all = bytes.concat(all, all);
        }
        assembly ("memory-safe") {
            mstore(all, mul(32, count))
        }
        B.Draft memory d = B.start(3, 100, 1);
        d.int16s(B.dims2(3, 5), 7);
        (d.descriptors, d.weights) = (all, count);
        return d.bytesOf();
    }

    function test_register_mostWeights_succeeds() public {
        ModelId modelId = register(_manyWeights(2048), bytes32(uint256(1)));
        assertEq(registry.modelWord(modelId) >> 48 & 0xffff, 2048);
    }

    function _with(uint256 offset, uint8 value) private pure returns (bytes memory program) {
        program = _bytes();
        program[offset] = bytes1(value);
    }

    function _size(uint8 codec, uint32 size) private pure returns (bytes memory) {
        B.Draft memory d = B.start(codec, size, 1);
        d.weight(1, 2, B.dims1(1));
        d.step(0x080902, B.dims1(1), B.W0, B.NONE, B.NONE, 0);
        return d.bytesOf();
    }

    function test_register_inputSize_succeeds() public {
        uint32[2][5] memory limits =
            [[uint32(0), 0], [uint32(1), 4096], [uint32(2), 256], [uint32(1), 4096], [uint32(1), 65_536]];
        for (uint8 codec = 1; codec <= 4; ++codec) {
            for (uint256 i = 0; i < 2; ++i) {
                ModelId modelId = register(_size(codec, limits[codec][i]), bytes32(uint256(1)));
                assertEq(
                    registry.modelWord(modelId) >> 160, (uint256(limits[codec][i]) << 16) | 0x0100 | codec
                );
            }
        }
    }

    function test_register_inputSize_reverts() public {
        uint32[2][5] memory outside =
            [[uint32(0), 0], [uint32(0), 4097], [uint32(1), 257], [uint32(0), 4097], [uint32(0), 65_537]];
        for (uint8 codec = 1; codec <= 4; ++codec) {
            for (uint256 i = 0; i < 2; ++i) {
                _badHeader(F.INPUT_SIZE, outside[codec][i], _size(codec, outside[codec][i]));
            }
        }
    }

    function test_register_maxCalldata_succeeds() public {
        assertEq(_maxCalldata(1, 33), 4 + 64 + 64);
        assertEq(_maxCalldata(2, 61), 4 + 96 + 3 * 32 * 62);
        assertEq(_maxCalldata(3, 17), 4 + 64 + 64);
        assertEq(_maxCalldata(4, 32), 4 + 64 + 32);
    }

    function _maxCalldata(uint8 codec, uint32 size) private returns (uint256) {
        return uint32(registry.modelWord(register(_size(codec, size), bytes32(uint256(1)))) >> 96);
    }

    function _weight(uint8 layout_, uint8 code, uint32[] memory dims)
        private
        pure
        returns (B.Draft memory d)
    {
        d = B.start(3, 100, 1);
        d.weight(1, 2, B.dims1(1));
        d.weight(layout_, code, dims);
        d.int16s(B.dims2(3, 5), 7);
    }

    function test_register_weight_succeeds() public {
        accepts(_weight(1, 4, B.dims2(2 ** 22, 3)));
        accepts(_weight(2, 0, B.dims2(8322, 2016)));
        accepts(_weight(3, 1, B.dims2(16_383, 1024)));
        accepts(_weight(4, 0, B.dims1(2 ** 22)));
        // 2^24 - 1 elements.
        accepts(_weight(1, 0, B.dims2(4097, 4095)));
        uint32[] memory d6 = new uint32[](6);
        for (uint256 i = 0; i < 6; ++i) {
            d6[i] = 3;
        }
        accepts(_weight(1, 3, d6));
    }

    function _badWeight(F field, uint256 value, uint8 layout_, uint8 code, uint32[] memory dims) private {
        rejects(_weight(layout_, code, dims).bytesOf(), ProgramPart.WEIGHT, 1, field, value);
    }

    function test_register_weight_reverts() public {
        uint32[] memory d = B.dims2(4, 40);
        _badWeight(F.LAYOUT, 0, 0, 0, d);
        _badWeight(F.LAYOUT, 5, 5, 0, d);
        _badWeight(F.TYPE, 5, 1, 5, d);
        _badWeight(F.TYPE, 1, 2, 1, d);
        _badWeight(F.TYPE, 0, 3, 0, d);
        _badWeight(F.TYPE, 2, 4, 2, B.dims1(4));
        _badWeight(F.RANK, 0, 1, 0, new uint32[](0));
        _badWeight(F.RANK, 1, 2, 0, B.dims1(4));
        _badWeight(F.RANK, 3, 3, 1, B.dims3(4, 4, 4));
        _badWeight(F.RANK, 2, 4, 0, B.dims2(4, 4));
        _badWeight(F.DIMS, 2017, 2, 0, B.dims2(4, 2017));
        _badWeight(F.DIMS, 1025, 3, 1, B.dims2(4, 1025));
        _badWeight(F.SIZE, 2 ** 24, 1, 0, B.dims2(2 ** 19, 32));
        _badWeight(F.SIZE, 2 ** 23, 4, 0, B.dims1(2 ** 22 + 1));
        // 2^21 + 1 rows of one word and one parameter word.
        _badWeight(F.SIZE, 2 ** 23, 2, 0, B.dims2(2 ** 21 + 1, 1));
    }

    function test_register_weightUnusedBytes_reverts() public {
        bytes memory program = _weight(2, 0, B.dims2(4, 40)).bytesOf();
        uint256 word = uint256(bytes32(this.slice(program, 64, 96)));
        for (uint256 i = 3; i < 32; i += i == 3 ? 9 : 1) {
            program[64 + i] = 0x01;
            uint256 value = word | 256 ** (31 - i);
            if (i == 3 || i >= 28) rejects(program, ProgramPart.WEIGHT, 1, F.ZERO, value);
            else rejects(program, ProgramPart.WEIGHT, 1, F.DIMS, value << 32);
            program[64 + i] = 0x00;
        }
    }

    function _codec(uint8 codec, uint32 size, bytes3 code, uint32[] memory dims, uint32 k)
        private
        pure
        returns (B.Draft memory d)
    {
        d = B.start(codec, size, 3);
        d.step(code, dims, B.NONE, B.NONE, B.NONE, k);
    }

    function test_register_textCodec_succeeds() public {
        accepts(_codec(1, 200, 0x010102, B.dims2(64, 16), 2));
        accepts(_codec(1, 200, 0x010102, B.dims2(1, 1), 2 ** 24));
    }

    function test_register_textCodec_reverts() public {
        rejectsStep(_codec(1, 200, 0x010102, B.dims2(65, 16), 2), F.DIMS, uint256(0x41_00000010) << 192);
        rejectsStep(_codec(1, 200, 0x010102, B.dims2(64, 17), 2), F.DIMS, uint256(0x40_00000011) << 192);
        rejectsStep(_codec(1, 200, 0x010102, B.dims1(16), 2), F.DIMS, uint256(16) << 224);
        rejectsStep(_codec(1, 200, 0x010102, B.dims2(64, 16), 1), F.K, 1);
        rejectsStep(_codec(1, 200, 0x010102, B.dims2(64, 16), 2 ** 24 + 1), F.K, 2 ** 24 + 1);
        rejectsStep(_codec(1, 200, 0x010100, B.dims2(64, 16), 2), F.TYPE, 0);
        rejectsStep(_codec(1, 200, 0x010302, B.dims2(64, 16), 2), F.VARIANT, 3);
    }

    function test_register_pricesCodec_succeeds() public {
        accepts(_codec(2, 256, 0x010202, B.dims2(3, 255), 0));
    }

    function test_register_pricesCodec_reverts() public {
        rejectsStep(_codec(2, 61, 0x010202, B.dims2(3, 61), 0), F.DIMS, uint256(0x3_0000003d) << 192);
        rejectsStep(_codec(2, 61, 0x010202, B.dims2(2, 60), 0), F.DIMS, uint256(0x2_0000003c) << 192);
        rejectsStep(
            _codec(2, 61, 0x010202, B.dims3(3, 1, 60), 0), F.DIMS, uint256(0x3_00000001_0000003c) << 160
        );
        rejectsStep(_codec(2, 61, 0x010202, B.dims2(3, 60), 1), F.K, 1);
        rejectsStep(_codec(2, 61, 0x010203, B.dims2(3, 60), 0), F.TYPE, 3);
    }

    function test_register_rawCodec_succeeds() public {
        accepts(_codec(4, 32_768, 0x010403, B.dims2(8, 1024), 0));
        accepts(_codec(4, 9, 0x010404, B.dims1(4), 5));
        // The longest input, of which a step takes what an output holds beside it.
        accepts(_codec(4, 65_536, 0x010400, B.dims1(18_304), 0));
        rejectsStep(_codec(4, 65_536, 0x010400, B.dims1(18_336), 0), F.SIZE, 84_004);
        // A CODEC step's tensor is judged whole, of any other an element.
        accepts(_codec(4, 4096, 0x010400, B.dims2(4096, 1), 0));
        rejectsStep(_codec(4, 4097, 0x010400, B.dims2(4097, 1), 0), F.SIZE, 8192);
    }

    /// @dev haltProof carries an input and two outputs; without the lane there is none.
    function test_register_contradiction_reverts() public {
        bytes memory fits = _codec(4, 27_904, 0x010400, B.dims1(27_904), 0).bytesOf();
        bytes memory above = _codec(4, 27_936, 0x010400, B.dims1(27_936), 0).bytesOf();
        bytes32 key = bytes32(uint256(9));
        registry.register(chunksOf(fits), 0, SELECTOR, 6, key);
        address[] memory chunks = chunksOf(above);
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.ContradictionTooLarge.selector, 84_004, 84_000));
        registry.register(chunks, 0, SELECTOR, 6, key);
        registry.register(chunks, 0, SELECTOR, 5, 0);
    }

    function test_register_rawCodec_reverts() public {
        rejectsStep(_codec(4, 9, 0x010404, B.dims1(4), 6), F.K, 6);
        rejectsStep(_codec(4, 15, 0x010403, B.dims1(4), 0), F.K, 0);
    }

    function test_register_outputLength_succeeds() public {
        assertEq(_outputLength(1, 0x080902, 7), 224);
        assertEq(_outputLength(2, 0x080902, 17), 64 + 64);
        assertEq(_outputLength(3, 0x080902, 9), 64 + 64);
        assertEq(_outputLength(3, 0x080904, 32), 64 + 32);
        assertEq(_outputLength(1, 0x080904, 256), 32 * 256);
        assertEq(_outputLength(2, 0x080902, 4096), 64 + 32 * 256);
        assertEq(_outputLength(3, 0x080900, 65_536), 64 + 65_536);
    }

    function _output(uint8 codec, bytes3 code, uint32[] memory dims) private pure returns (B.Draft memory d) {
        d = B.start(3, 1, codec);
        d.weight(1, 2, B.dims1(1));
        d.step(code, dims, B.W0, B.NONE, B.NONE, 0);
    }

    function _outputLength(uint8 codec, bytes3 code, uint32 count) private returns (uint256) {
        ModelId modelId = register(_output(codec, code, B.dims1(count)).bytesOf(), bytes32(uint256(1)));
        return uint32(registry.modelWord(modelId) >> 128);
    }

    function test_register_output_reverts() public {
        rejectsStep(_output(1, 0x080902, B.dims1(257)), F.SIZE, 257);
        rejectsStep(_output(1, 0x090b03, B.dims1(4)), F.TYPE, 3);
        rejectsStep(_output(2, 0x080900, B.dims1(4)), F.TYPE, 0);
        rejectsStep(_output(2, 0x080902, B.dims2(4096, 2)), F.SIZE, 8192);
        rejectsStep(_output(2, 0x080902, B.dims1(4097)), F.SIZE, 4097);
        rejectsStep(_output(3, 0x080902, B.dims1(16_385)), F.SIZE, 65_540);
        rejectsStep(_output(3, 0x080900, B.dims2(65_537, 1)), F.SIZE, 65_537);
        accepts(_output(3, 0x080900, B.dims2(65_536, 1)));
    }
}
