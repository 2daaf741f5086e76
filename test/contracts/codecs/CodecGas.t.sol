// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {CodecJudge} from "verifier-contracts/CodecJudge.sol";
import {ModelWord} from "verifier-contracts/libraries/ModelWord.sol";
import {RecordHead} from "verifier-contracts/libraries/RecordHead.sol";
import {Record} from "verifier-contracts/types/Program.sol";

/// @notice The most that a codec step can cost: each stays far below one transaction's 16.7M gas (EIP-7825).
contract CodecGasTest is Test {
    bytes4 private constant SELECTOR = 0x1d2c3b4a;
    uint256 private constant S32 = 2;
    uint256 private constant F32 = 3;

    CodecJudge private judge;

    function setUp() public {
        judge = new CodecJudge();
    }

    function test_inputRoot_longestTexts_succeeds() public view {
        // Every class alone, and tokens of 31 bytes, which have the most n-grams.
        _text("spaces", _repeat(hex"20", 4096), 1_300_000);
        _text("words", _repeat(hex"41", 4096), 400_000);
        _text("others", _repeat(hex"21", 4096), 150_000);
        _text("tokens", _repeat("abcdefghijklmnopqrstuvwxyz01234 ", 128), 600_000);
        _text("url", bytes.concat("https://", _repeat(hex"FF", 4088)), 400_000);
        _text("urls", _repeat("http:// ", 512), 700_000);
    }

    function test_inputRoot_mostPrices_succeeds() public view {
        uint256[] memory prices = new uint256[](256);
        for (uint256 i = 0; i < 256; ++i) {
            prices[i] = uint256(keccak256(abi.encode(i))) >> 130;
        }
        bytes memory input = abi.encodeWithSelector(SELECTOR, prices, prices, prices);
        _root("prices", 2, 256, _record(S32, 2, (3 << 224) | (255 << 192), 0), input, 300_000);
    }

    function test_inputRoot_mostLanes_succeeds() public view {
        bytes memory input = abi.encodeWithSelector(SELECTOR, new uint256[](256));
        _root("int16s", 3, 4096, _record(S32, 1, 4096 << 224, 0), input, 300_000);
        // As many leaves as there are elements.
        _root("int16s rows", 3, 4096, _record(S32, 2, (4096 << 224) | (1 << 192), 0), input, 3_000_000);
    }

    function test_inputRoot_mostRaw_succeeds() public view {
        bytes memory input = abi.encodeWithSelector(SELECTOR, new bytes(65_536));
        _root("raw", 4, 65_536, _record(F32, 1, 16_384 << 224, 0), input, 1_600_000);
        _root("raw rows", 4, 65_536, _record(F32, 2, (2048 << 224) | (5 << 192), 0), input, 2_000_000);
    }

    function _text(string memory name, bytes memory text, uint256 limit) private view {
        Record memory record = _record(S32, 2, (64 << 224) | (16 << 192), 2 ** 24);
        _root(name, 1, 4096, record, abi.encodeWithSelector(SELECTOR, text), limit);
    }

    function _root(
        string memory name,
        uint256 codec,
        uint256 size,
        Record memory record,
        bytes memory input,
        uint256 limit
    ) private view {
        uint256 model =
            (size << 176) | (codec << 160) | (uint256(uint32(SELECTOR)) << 64) | 1;
        assertTrue(judge.isCanonicalInput(ModelWord.wrap(model), input), name);
        uint256 before = gasleft();
        judge.inputRoot(ModelWord.wrap(model), record, input);
        uint256 used = before - gasleft();
        assertLe(used, limit, name);
    }

    function _record(uint256 code, uint256 rank, uint256 shape, uint256 k)
        private
        pure
        returns (Record memory record)
    {
        record.head = RecordHead.wrap((1 << 248) | (code << 232) | (rank << 224) | (k << 144));
        record.shape = shape;
    }

    function _repeat(bytes memory part, uint256 count) private pure returns (bytes memory all) {
        all = new bytes(part.length * count);
        for (uint256 i = 0; i < all.length; ++i) {
            all[i] = part[i % part.length];
        }
    }
}
