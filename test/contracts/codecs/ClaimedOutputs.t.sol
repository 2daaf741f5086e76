// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {CodecJudge} from "verifier-contracts/CodecJudge.sol";
import {ModelWord} from "verifier-contracts/libraries/ModelWord.sol";
import {RecordHead} from "verifier-contracts/libraries/RecordHead.sol";
import {Shapes} from "verifier-contracts/libraries/Shapes.sol";
import {Claimed} from "verifier-contracts/opcodes/codecs/Claimed.sol";
import {Inputs} from "verifier-contracts/opcodes/codecs/Inputs.sol";
import {
    CODEC_CLAIMED,
    LAYOUT_PLAIN,
    OP_CODEC,
    OUTPUT_INT16S,
    OUTPUT_RAW,
    OUTPUT_WORDS,
    Record,
    TYPE_S32,
    TYPE_S8,
    TYPE_U8,
    Tensor,
    UnknownCodec,
    UnknownVariant
} from "verifier-contracts/types/Program.sol";

/// @notice The claimed output against the plainest loops: every element, zero padding, and a pattern behind the tensor
/// that must be untouched.
contract ClaimedOutputsTest is Test {
    uint256 private constant PATTERN = 0xA5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3;

    CodecJudge private judge;

    function setUp() public {
        judge = new CodecJudge();
    }

    /// forge-config: default.fuzz.runs = 1200
    /// forge-config: nightly.fuzz.runs = 20000
    function testFuzz_write_everyElement_succeeds(uint256 seed) public pure {
        uint256 codec = OUTPUT_WORDS + seed % 3;
        uint256 code = codec == OUTPUT_INT16S ? TYPE_S32 : (seed >> 8) % 3;
        uint256 last = 1 + (seed >> 16) % 70;
        uint256 rows = 1 + (seed >> 32) % (1 + 256 / (2 * last));
        Tensor memory t = Shapes.tensor(LAYOUT_PLAIN, code, 2, rows << 224 | last << 192);
        bytes memory output = new bytes(_length(codec, code, rows * last));
        for (uint256 i = 0; i < output.length; ++i) {
            output[i] = bytes1(uint8(uint256(keccak256(abi.encode(seed, i)))));
        }
        uint256 out = Inputs.allocate(32 * (rows * t.words + 1));
        _store(out + 32 * rows * t.words, PATTERN);
        Claimed.write(codec, t, _copy(output), out);
        assertEq(_load(out + 32 * rows * t.words, 32), PATTERN, "behind the tensor");
        for (uint256 row = 0; row < rows; ++row) {
            _checkRow(codec, t, output, row, out + 32 * t.words * row);
        }
    }

    /// @param start memory of the row
    function _checkRow(uint256 codec, Tensor memory t, bytes memory output, uint256 row, uint256 start)
        private
        pure
    {
        uint256 bytesOf = Shapes.elementBytes(t.code);
        for (uint256 i = 0; i < t.last; ++i) {
            uint256 found = _load(start + i * bytesOf, bytesOf);
            assertEq(found, _stored(codec, t.code, output, row * t.last + i), "an element");
        }
        for (uint256 i = t.last * bytesOf; i < 32 * t.words; ++i) {
            assertEq(_load(start + i, 1), 0, "padding");
        }
    }

    /// @dev The stored element by the definition.
    function _stored(uint256 codec, uint256 code, bytes memory output, uint256 index)
        private
        pure
        returns (uint256)
    {
        if (codec == OUTPUT_WORDS) {
            uint256 last = 32 * index + 31;
            return code == TYPE_S32 ? _number(output, last, 4) : _byte(code, output[last]);
        }
        if (codec == OUTPUT_INT16S) {
            uint256 number = _number(output, 64 + 2 * index + 1, 2);
            return number < 0x8000 ? number : number | 0xFFFF0000;
        }
        if (code != TYPE_S32) return _byte(code, output[64 + index]);
        uint256 value = 0;
        for (uint256 i = 0; i < 4; ++i) {
            value |= uint256(uint8(output[64 + 4 * index + i])) << (8 * i);
        }
        return value;
    }

    function _byte(uint256 code, bytes1 found) private pure returns (uint256) {
        return code == TYPE_S8 ? (uint256(uint8(found)) + 128) % 256 : uint8(found);
    }

    /// @dev Big-endian, up to the byte `end`.
    function _number(bytes memory output, uint256 end, uint256 size) private pure returns (uint256 value) {
        for (uint256 i = 0; i < size; ++i) {
            value |= uint256(uint8(output[end - i])) << (8 * i);
        }
    }

    function _length(uint256 codec, uint256 code, uint256 count) private pure returns (uint256) {
        if (codec == OUTPUT_WORDS) return 32 * count;
        uint256 size = codec == OUTPUT_INT16S ? 2 : Shapes.elementBytes(code);
        return 64 + (count * size + 31) / 32 * 32;
    }

    /// @dev A word more than the output, which is not zero.
    function _copy(bytes memory output) private pure returns (uint256 content) {
        content = Inputs.allocate(output.length + 32);
        for (uint256 i = 0; i < output.length; i += 32) {
            uint256 word;
            assembly ("memory-safe") {
                word := mload(add(add(output, 0x20), i))
            }
            _store(content + i, word);
        }
        _store(content + output.length, PATTERN);
    }

    function _store(uint256 pointer, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(pointer, word)
        }
    }

    function _load(uint256 pointer, uint256 size) private pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := shr(sub(256, shl(3, size)), mload(pointer))
        }
    }

    function unknown(uint256 codec) external pure {
        Tensor memory t = Shapes.tensor(LAYOUT_PLAIN, TYPE_U8, 1, 1 << 224);
        Claimed.write(codec, t, Inputs.allocate(128), Inputs.allocate(64));
    }

    function test_write_unknownCodec_reverts() public {
        for (uint256 codec = 0; codec <= 4; codec += 4) {
            vm.expectRevert(abi.encodeWithSelector(UnknownCodec.selector, codec));
            this.unknown(codec);
        }
    }

    /// @dev Calldata say nothing of the claimed output.
    function test_inputRoot_claimed_reverts() public {
        Record memory record;
        record.head = RecordHead.wrap((OP_CODEC << 248) | (CODEC_CLAIMED << 240) | (1 << 224));
        record.shape = 1 << 224;
        bytes memory why = abi.encodeWithSelector(UnknownVariant.selector, OP_CODEC, CODEC_CLAIMED);
        vm.expectRevert(why);
        judge.inputRoot(ModelWord.wrap(1), record, new bytes(132));
        vm.expectRevert(why);
        judge.inputElements(ModelWord.wrap(1), record, new bytes(132));
    }

    /// @dev The most that a step can cost stays far below one transaction's 16.7M gas (EIP-7825).
    function test_claimedRoot_most_succeeds() public view {
        _cost("words", OUTPUT_WORDS, TYPE_S32, 256, 1, 400_000);
        _cost("int16s", OUTPUT_INT16S, TYPE_S32, 1, 4096, 300_000);
        _cost("int16s rows", OUTPUT_INT16S, TYPE_S32, 4096, 1, 3_000_000);
        _cost("raw", OUTPUT_RAW, TYPE_U8, 1, 65_536, 1_600_000);
        _cost("raw rows", OUTPUT_RAW, TYPE_U8, 4096, 16, 3_000_000);
    }

    function _cost(string memory name, uint256 codec, uint256 code, uint256 rows, uint256 last, uint256 limit)
        private
        view
    {
        Record memory record;
        record.head =
            RecordHead.wrap((OP_CODEC << 248) | (CODEC_CLAIMED << 240) | (code << 232) | (uint256(2) << 224));
        record.shape = rows << 224 | last << 192;
        bytes memory output = new bytes(_length(codec, code, rows * last));
        uint256 before = gasleft();
        judge.claimedRoot(ModelWord.wrap(codec << 168 | 1), record, output);
        assertLe(before - gasleft(), limit, name);
    }
}
