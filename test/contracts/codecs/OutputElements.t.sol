// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {Shapes} from "verifier-contracts/libraries/Shapes.sol";
import {Outputs} from "verifier-contracts/opcodes/codecs/Outputs.sol";
import {
    LAYOUT_PLAIN,
    OUTPUT_INT16S,
    OUTPUT_RAW,
    OUTPUT_WORDS,
    TYPE_BOOL,
    TYPE_F32,
    TYPE_S32,
    Tensor,
    UnknownCodec
} from "verifier-contracts/types/Program.sol";

/// @notice What convicts an output, element by element, against the whole encoding: an output is right if and only if
/// its form is and every element is.
contract OutputElementsTest is Test {
    function isCanonical(uint256 codec, Tensor memory t, bytes calldata data) external pure returns (bool) {
        return Outputs.isCanonical(codec, t, data);
    }

    function elementAt(uint256 codec, uint256 code, bytes calldata data, uint256 index)
        external
        pure
        returns (uint256)
    {
        return Outputs.elementAt(codec, code, data, index);
    }

    function encode(uint256 codec, Tensor memory t, bytes memory rows) public pure returns (bytes memory) {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(rows, 0x20)
        }
        return Outputs.encode(codec, t, pointer);
    }

    /// @dev A random codec, and a type that it takes.
    function _pick(uint256 seed) private pure returns (uint256 codec, uint256 code) {
        codec = OUTPUT_WORDS + seed % 3;
        code = codec == OUTPUT_INT16S ? TYPE_S32 : (seed >> 8) % 5;
        if (codec == OUTPUT_WORDS && code == TYPE_F32) code = TYPE_BOOL;
    }

    /// forge-config: default.fuzz.runs = 600
    /// forge-config: nightly.fuzz.runs = 20000
    function testFuzz_output_wholeIsItsElements_succeeds(uint256 seed) public view {
        (uint256 codec, uint256 code) = _pick(seed);
        uint256 rows = 1 + (seed >> 16) % 5;
        uint256 last = 1 + (seed >> 24) % 40;
        Tensor memory t = Shapes.tensor(LAYOUT_PLAIN, code, 2, rows << 224 | last << 192);
        bytes memory content = _random(seed, 32 * rows * t.words + 32);
        bytes memory right = encode(codec, t, content);
        bytes memory output = _changed(right, seed);
        bool same = this.isCanonical(codec, t, output);
        assertTrue(this.isCanonical(codec, t, right), "the form of what encode writes");
        uint256 count = rows * last;
        for (uint256 i; i < count; ++i) {
            uint256 item = Outputs.encodeElement(codec, code, _stored(t, content, i));
            assertEq(this.elementAt(codec, code, right, i), item, "an element of what encode writes");
            if (output.length == right.length && this.elementAt(codec, code, output, i) != item) {
                same = false;
            }
        }
        assertEq(same, keccak256(output) == keccak256(right), "the whole and its elements");
    }

    /// @dev Stored bytes of an element, right-aligned.
    function _stored(Tensor memory t, bytes memory content, uint256 index) private pure returns (uint256) {
        uint256 size = Shapes.elementBytes(t.code);
        uint256 word;
        uint256 place = 32 + 32 * t.words * (index / t.last) + size * (index % t.last);
        assembly ("memory-safe") {
            word := mload(add(content, place))
        }
        return word >> (256 - 8 * size);
    }

    /// @dev Up to two bits turned, or another length.
    function _changed(bytes memory right, uint256 seed) private pure returns (bytes memory output) {
        output = bytes.concat(right);
        uint256 kind = (seed >> 32) % 16;
        if (kind == 0) return bytes.concat(output, bytes32(0));
        if (kind == 1) {
            assembly ("memory-safe") {
                mstore(output, sub(mload(output), 32))
            }
            return output;
        }
        for (uint256 i; i < kind % 3; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            // Half of them where the form is: the first two words and the last one.
            uint256 place = random % output.length;
            if (random >> 255 == 1) {
                place = (random >> 128) % 3 == 0 ? output.length - 1 - place % 32 : place % 64;
            }
            if (place < output.length) output[place] ^= bytes1(uint8(1 << ((random >> 64) % 8)));
        }
    }

    /// @dev Small and large numbers, so that 16 bits saturate only sometimes.
    function _random(uint256 seed, uint256 size) private pure returns (bytes memory content) {
        content = new bytes(size);
        for (uint256 i; i < size; i += 4) {
            bytes32 random = keccak256(abi.encode(seed, "content", i));
            uint32 number = uint32(uint256(random));
            if (uint8(random[0]) % 4 == 0) number = number >> 17;
            if (uint8(random[0]) % 4 == 1) number = ~(number >> 17);
            for (uint256 j; j < 4; ++j) {
                content[i + j] = bytes4(number)[j];
            }
        }
    }

    /// @dev Every bit in front of the elements and behind them, turned.
    function test_isCanonical_formBits_succeeds() public view {
        for (uint256 codec = OUTPUT_WORDS; codec <= OUTPUT_RAW; ++codec) {
            uint256 bytesOf = codec == OUTPUT_WORDS ? 32 : codec == OUTPUT_INT16S ? 2 : 4;
            for (uint256 count = 1; count <= 17; ++count) {
                Tensor memory t = Shapes.tensor(LAYOUT_PLAIN, TYPE_S32, 1, count << 224);
                bytes memory output = encode(codec, t, _random(count, 32 * t.words));
                uint256 start = codec == OUTPUT_WORDS ? 0 : 64;
                uint256 end = start + count * bytesOf;
                for (uint256 i = 0; i < output.length; ++i) {
                    if (i >= start && i < end) continue;
                    for (uint256 bit = 0; bit < 8; ++bit) {
                        output[i] ^= bytes1(uint8(1 << bit));
                        assertFalse(this.isCanonical(codec, t, output), "a bit of the form");
                        output[i] ^= bytes1(uint8(1 << bit));
                    }
                }
                assertTrue(this.isCanonical(codec, t, output), "restored");
            }
        }
    }

    function unknown(uint256 codec, bytes calldata data) external pure {
        Outputs.isCanonical(codec, Shapes.tensor(LAYOUT_PLAIN, TYPE_S32, 1, 1 << 224), data);
    }

    function test_output_unknownCodec_reverts() public {
        Tensor memory t = Shapes.tensor(LAYOUT_PLAIN, TYPE_S32, 1, 1 << 224);
        for (uint256 codec = 0; codec <= 4; codec += 4) {
            vm.expectRevert(abi.encodeWithSelector(UnknownCodec.selector, codec));
            this.encode(codec, t, new bytes(32));
            vm.expectRevert(abi.encodeWithSelector(UnknownCodec.selector, codec));
            this.unknown(codec, new bytes(96));
        }
        assertTrue(this.isCanonical(OUTPUT_RAW, t, this.encode(OUTPUT_RAW, t, new bytes(32))));
    }
}
