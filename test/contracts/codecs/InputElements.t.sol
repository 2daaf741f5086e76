// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {NaiveInput} from "./NaiveInput.sol";
import {CodecJudge} from "verifier-contracts/CodecJudge.sol";
import {ModelWord} from "verifier-contracts/libraries/ModelWord.sol";
import {RecordHead} from "verifier-contracts/libraries/RecordHead.sol";
import {Shapes} from "verifier-contracts/libraries/Shapes.sol";
import {Inputs} from "verifier-contracts/opcodes/codecs/Inputs.sol";
import {LAYOUT_PLAIN, Record, Tensor, UnknownCodec} from "verifier-contracts/types/Program.sol";

/// @notice CODEC steps, whole tensors against the plainest loops: every element of both layouts, zero padding, and a
/// pattern behind the tensor that must be untouched.
contract InputElementsTest is Test {
    bytes4 private constant SELECTOR = 0x1d2c3b4a;
    uint256 private constant TEXT = 1;
    uint256 private constant PRICES = 2;
    uint256 private constant INT16S = 3;
    uint256 private constant RAW = 4;
    uint256 private constant PATTERN = 0xA5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3A5C3;
    uint256 private constant PATTERN_WORDS = 20;

    struct Trial {
        uint256 codec;
        uint256 modelWord;
        uint256 k;
        uint256 code;
        Tensor t;
        bytes input;
        uint256[] expected;
    }

    uint256[5] private seen;
    CodecJudge private judge;

    function setUp() public {
        judge = new CodecJudge();
    }

    /// forge-config: default.fuzz.runs = 1200
    /// forge-config: nightly.fuzz.runs = 20000
    function testFuzz_write_everyElement_succeeds(uint256 seed) public view {
        Trial memory trial = _trial(seed);
        this.check(trial, _behind(trial.input));
    }

    function test_write_everyCodec_succeeds() public {
        for (uint256 i; i < 400; ++i) {
            Trial memory trial = _trial(uint256(keccak256(abi.encode(i))));
            this.check(trial, _behind(trial.input));
            this.checkElements(trial);
            seen[trial.codec] += trial.expected.length;
        }
        for (uint256 codec = TEXT; codec <= RAW; ++codec) {
            assertGt(seen[codec], 500, "elements of a codec");
        }
    }

    /// @dev More calldata behind the input, in which text would go on.
    function _behind(bytes memory input) private pure returns (bytes memory) {
        return bytes.concat(input, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
    }

    function check(Trial memory trial, bytes calldata all) external pure {
        bytes calldata input = all[:trial.input.length];
        Tensor memory t = trial.t;
        uint256 arguments = Inputs.load(input);
        uint256 bytesOf = Shapes.elementBytes(t.code);
        assertTrue(Inputs.isCanonical(ModelWord.wrap(trial.modelWord), input), "canonical");

        uint256 size = 32 * (t.rows * t.words + 1);
        uint256 out = _room(size);
        Inputs.write(ModelWord.wrap(trial.modelWord), trial.k, t, arguments, out);
        _checkBehind(out + size);
        for (uint256 row = 0; row < t.rows; ++row) {
            uint256 start = out + 32 * t.words * row;
            _checkRow(trial, start, row);
            for (uint256 i = start + t.last * bytesOf; i < start + 32 * t.words; ++i) {
                assertEq(_load(i, 1), 0, "padding");
            }
        }

        size = t.rows * t.last * bytesOf + 32;
        out = _room(size);
        Inputs.writePacked(ModelWord.wrap(trial.modelWord), trial.k, t, arguments, out);
        _checkBehind(out + size);
        for (uint256 row = 0; row < t.rows; ++row) {
            _checkRow(trial, out + row * t.last * bytesOf, row);
        }
    }

    /// @dev The same through the contract that the interpreter asks.
    function checkElements(Trial memory trial) external view {
        Tensor memory t = trial.t;
        uint256 head = t.code << 232 | t.rank << 224 | trial.k << 144;
        bytes memory stored = judge.inputElements(
            ModelWord.wrap(trial.modelWord), Record(RecordHead.wrap(head), t.shape, 0, 0), trial.input
        );
        assertEq(stored.length, trial.expected.length * Shapes.elementBytes(t.code), "length");
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(stored, 0x20)
        }
        for (uint256 row = 0; row < t.rows; ++row) {
            _checkRow(trial, pointer + row * t.last * Shapes.elementBytes(t.code), row);
        }
    }

    function _checkRow(Trial memory trial, uint256 start, uint256 row) private pure {
        uint256 bytesOf = Shapes.elementBytes(trial.t.code);
        for (uint256 i = 0; i < trial.t.last; ++i) {
            uint256 found = _load(start + i * bytesOf, bytesOf);
            assertEq(found, trial.expected[row * trial.t.last + i], "an element");
        }
    }

    /// @dev Zeroed memory with the pattern behind it.
    function _room(uint256 size) private pure returns (uint256 out) {
        out = Inputs.allocate(size + 32 * PATTERN_WORDS);
        for (uint256 i = 0; i < PATTERN_WORDS; ++i) {
            uint256 pointer = out + size + 32 * i;
            assembly ("memory-safe") {
                mstore(pointer, PATTERN)
            }
        }
    }

    function _checkBehind(uint256 pointer) private pure {
        for (uint256 i = 0; i < PATTERN_WORDS; ++i) {
            assertEq(_load(pointer + 32 * i, 32), PATTERN, "behind the tensor");
        }
    }

    function _load(uint256 pointer, uint256 size) private pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := shr(sub(256, shl(3, size)), mload(pointer))
        }
    }

    // Random steps and calldata

    function _trial(uint256 seed) private pure returns (Trial memory trial) {
        trial.codec = 1 + seed % 4;
        uint256 size;
        uint256 dims;
        if (trial.codec == TEXT) (size, dims) = _text(trial, seed);
        else if (trial.codec == PRICES) (size, dims) = _prices(trial, seed);
        else (size, dims) = _elements(trial, seed);
        trial.modelWord = _model(trial.codec, size);
        trial.t = Shapes.tensor(LAYOUT_PLAIN, trial.code, 2, dims);
    }

    function _model(uint256 codec, uint256 size) private pure returns (uint256) {
        return uint256(uint32(SELECTOR)) << 64 | codec << 160 | size << 176;
    }

    function _dims(uint256 rows, uint256 last) private pure returns (uint256) {
        return rows << 224 | last << 192;
    }

    function _text(Trial memory trial, uint256 seed) private pure returns (uint256 size, uint256 dims) {
        (uint256 tokens, uint256 width) = (1 + _roll(seed, 1, 9), 1 + _roll(seed, 2, 16));
        trial.code = 2;
        trial.k = 2 + _roll(seed, 3, 1 << (1 + _roll(seed, 4, 24)));
        bytes memory text;
        uint256 pieces = _roll(seed, 5, 16);
        for (uint256 i = 0; i < pieces; ++i) {
            text = bytes.concat(text, _piece(seed, 100 + 8 * i));
        }
        trial.input = abi.encodeWithSelector(SELECTOR, text);
        trial.expected = NaiveInput.text(text, tokens, width, trial.k);
        return (text.length == 0 ? 1 : text.length, _dims(tokens, width));
    }

    function _piece(uint256 seed, uint256 salt) private pure returns (bytes memory piece) {
        string[10] memory known =
            ["http", "HTTPS", "://", " ", "x", "https://a.b/c?d", "http:/ /", "\x7f", "a.b", "Zz@[`{/:09"];
        uint256 kind = _roll(seed, salt, 16);
        if (kind < 10) return bytes(known[kind]);
        piece = new bytes(_roll(seed, salt + 1, 40));
        for (uint256 i = 0; i < piece.length; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, salt, i)));
            piece[i] = kind < 14 ? bytes1(uint8(0x61 + random % 26)) : bytes1(uint8(random));
        }
    }

    function _prices(Trial memory trial, uint256 seed) private pure returns (uint256 n, uint256 dims) {
        n = 2 + _roll(seed, 1, 40);
        trial.code = 2;
        uint256[][3] memory lists = [new uint256[](n), new uint256[](n), new uint256[](n)];
        for (uint256 i = 0; i < 3 * n; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, "price", i)));
            lists[i % 3][i / 3] = random >> (random % 4 == 0 ? _roll(random, 0, 256) : 236);
        }
        trial.input = abi.encodeWithSelector(SELECTOR, lists[0], lists[1], lists[2]);
        trial.expected = new uint256[](3 * (n - 1));
        for (uint256 i = 0; i < trial.expected.length; ++i) {
            trial.expected[i] = NaiveInput.price(lists, i / (n - 1), i % (n - 1));
        }
        return (n, _dims(3, n - 1));
    }

    /// @dev A part of int16s or raw bytes: something before it, something behind.
    function _elements(Trial memory trial, uint256 seed) private pure returns (uint256 size, uint256 dims) {
        (uint256 rows, uint256 last) = (1 + _roll(seed, 1, 5), 1 + _roll(seed, 2, 70));
        bool isInt16s = trial.codec == INT16S;
        trial.code = isInt16s ? 2 : _roll(seed, 3, 5);
        uint256 bytesOf = isInt16s ? 2 : Shapes.elementBytes(trial.code);
        trial.k = _roll(seed, 4, 40);
        uint256 behind = _roll(seed, 5, 3) == 0 ? 0 : _roll(seed, 6, 50);
        uint256 count = rows * last;
        size = trial.k + (isInt16s ? count : count * bytesOf) + behind;
        bytes memory content = new bytes(isInt16s ? 2 * size : size);
        for (uint256 i = 0; i < content.length; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, "content", i)));
            // Exponents near their limits, zeros.
            content[i] = bytes1(uint8(random % 8 == 0 ? 0 : random % 8 == 1 ? 0x49 : random >> 8));
        }
        if (isInt16s) {
            uint256[] memory words = new uint256[]((size + 15) / 16);
            for (uint256 i = 0; i < content.length; ++i) {
                words[i / 32] |= uint256(uint8(content[i])) << (248 - 8 * (i % 32));
            }
            trial.input = abi.encodeWithSelector(SELECTOR, words);
        } else {
            trial.input = abi.encodeWithSelector(SELECTOR, content);
        }
        trial.expected = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            trial.expected[i] = isInt16s
                ? NaiveInput.int16At(content, trial.k + i)
                : NaiveInput.raw(content, trial.k + i * bytesOf, trial.code);
        }
        return (size, _dims(rows, last));
    }

    function _roll(uint256 seed, uint256 salt, uint256 sides) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, salt))) % sides;
    }

    // Codecs that there are not

    function canonical(uint256 codec, bytes calldata input) external pure returns (bool) {
        return Inputs.isCanonical(ModelWord.wrap(_model(codec, 1)), input);
    }

    function write(uint256 codec, bytes calldata input) external pure {
        Tensor memory t = Shapes.tensor(LAYOUT_PLAIN, 0, 1, 1 << 224);
        Inputs.write(ModelWord.wrap(_model(codec, 1)), 0, t, Inputs.load(input), Inputs.allocate(64));
    }

    function test_codec_unknown_reverts() public {
        bytes memory input = abi.encodeWithSelector(SELECTOR, bytes("x"));
        for (uint256 codec = 0; codec <= 5; codec += 5) {
            bytes memory why = abi.encodeWithSelector(UnknownCodec.selector, codec);
            vm.expectRevert(why);
            this.canonical(codec, input);
            vm.expectRevert(why);
            this.write(codec, input);
        }
    }
}
