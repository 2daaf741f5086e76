// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {CodecJudge} from "verifier-contracts/CodecJudge.sol";
import {ModelWord} from "verifier-contracts/libraries/ModelWord.sol";

/// @notice isCanonicalInput against the compiler's own decoder and encoder: calldata is canonical if it decodes, and
/// encodes again to the same bytes.
contract CanonicalInputTest is Test {
    bytes4 private constant SELECTOR = 0x1d2c3b4a;
    uint256 private constant TEXT = 1;
    uint256 private constant PRICES = 2;
    uint256 private constant INT16S = 3;
    uint256 private constant RAW = 4;

    CodecJudge private judge;
    /// @dev Verdicts on edited calldata, so that a test can tell that it met both.
    uint256[2] private verdicts;

    function setUp() public {
        judge = new CodecJudge();
    }

    function testFuzz_isCanonicalInput_anyText_succeeds(bytes memory text, uint256 size) public view {
        size = bound(size, 1, 4096);
        bytes memory input = abi.encodeWithSelector(SELECTOR, text);
        assertEq(judge.isCanonicalInput(ModelWord.wrap(_model(TEXT, size)), input), text.length <= size);
        assertEq(judge.isCanonicalInput(ModelWord.wrap(_model(RAW, size)), input), text.length == size);
    }

    function testFuzz_isCanonicalInput_anyBytes_succeeds(uint256 codec, uint256 size, bytes memory input)
        public
        view
    {
        codec = bound(codec, TEXT, RAW);
        size = bound(size, 2, 256);
        // Any bytes at all, then behind the right selector.
        assertEq(
            judge.isCanonicalInput(ModelWord.wrap(_model(codec, size)), input),
            _isCanonical(codec, size, input)
        );
        input = bytes.concat(SELECTOR, input);
        assertEq(
            judge.isCanonicalInput(ModelWord.wrap(_model(codec, size)), input),
            _isCanonical(codec, size, input)
        );
    }

    function test_isCanonicalInput_editedBytes_succeeds() public {
        uint256[4] memory sizes = [uint256(2), 9, 16, 17];
        for (uint256 codec = TEXT; codec <= RAW; ++codec) {
            // Three lists of 9 prices are as long as the rest together.
            for (uint256 i = 0; i < (codec == PRICES ? 2 : sizes.length); ++i) {
                this.editAll(codec, sizes[i]);
            }
        }
        assertGt(verdicts[0], 1000, "refused");
        assertGt(verdicts[1], 1000, "accepted");
    }

    /// @notice Changes every byte of an encoding, two ways each. External, so that its memory is freed.
    function editAll(uint256 codec, uint256 size) external {
        bytes memory input = _encode(codec, size);
        uint256 model = _model(codec, size);
        assertTrue(judge.isCanonicalInput(ModelWord.wrap(model), input), "unchanged");
        uint256 accepted;
        for (uint256 i = 0; i < input.length; ++i) {
            bytes1 kept = input[i];
            for (uint256 bit = 0; bit < 8; bit += 7) {
                input[i] = kept ^ bytes1(uint8(1 << bit));
                bool expected = _isCanonical(codec, size, input);
                assertEq(judge.isCanonicalInput(ModelWord.wrap(model), input), expected, vm.toString(i));
                if (expected) ++accepted;
            }
            input[i] = kept;
        }
        verdicts[0] += 2 * input.length - accepted;
        verdicts[1] += accepted;
    }

    function test_isCanonicalInput_gas_succeeds() public view {
        _checkGas("text", _model(TEXT, 4096), abi.encodeWithSelector(SELECTOR, new bytes(216)), 1300);
        _checkGas("prices", _model(PRICES, 66), _encode(PRICES, 66), 2300);
        _checkGas("int16s", _model(INT16S, 672), _encode(INT16S, 672), 1800);
        _checkGas("raw", _model(RAW, 65_536), _encode(RAW, 65_536), 1300);
    }

    /// @dev Gas of a call to an account that was called before: `request` pays 2,500 more, and calldata.
    function _checkGas(string memory name, uint256 model, bytes memory input, uint256 limit) private view {
        assertTrue(judge.isCanonicalInput(ModelWord.wrap(model), input), name);
        bytes memory data = abi.encodeCall(judge.isCanonicalInput, (ModelWord.wrap(model), input));
        address target = address(judge);
        bool success;
        uint256 used = gasleft();
        assembly ("memory-safe") {
            success := staticcall(gas(), target, add(data, 0x20), mload(data), 0, 0)
        }
        used -= gasleft();
        assertTrue(success, name);
        assertLe(used, limit, name);
    }

    function _encode(uint256 codec, uint256 size) private view returns (bytes memory) {
        if (codec == TEXT) return abi.encodeWithSelector(SELECTOR, vm.randomBytes(size - 1));
        if (codec == RAW) return abi.encodeWithSelector(SELECTOR, vm.randomBytes(size));
        if (codec == PRICES) {
            return
                abi.encodeWithSelector(SELECTOR, _randomWords(size), _randomWords(size), _randomWords(size));
        }
        uint256[] memory numbers = _randomWords((size + 15) / 16);
        uint256 unused = 16 * (16 * numbers.length - size);
        numbers[numbers.length - 1] = (numbers[numbers.length - 1] >> unused) << unused;
        return abi.encodeWithSelector(SELECTOR, numbers);
    }

    function _randomWords(uint256 count) private view returns (uint256[] memory words) {
        words = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            words[i] = vm.randomUint();
        }
    }

    function _isCanonical(uint256 codec, uint256 size, bytes memory input) private view returns (bool) {
        if (input.length < 4 || bytes4(input) != SELECTOR) return false;
        // A wrong length makes the decoder ask for any amount of memory.
        try this.encodeAgain{gas: 2_000_000}(codec, size, input) returns (bytes memory again) {
            return keccak256(again) == keccak256(input);
        } catch {
            return false;
        }
    }

    /// @notice Decodes as Solidity does, checks sizes, encodes. @return again empty if a size is wrong
    function encodeAgain(uint256 codec, uint256 size, bytes calldata input)
        external
        pure
        returns (bytes memory again)
    {
        if (codec == PRICES) {
            (uint256[] memory closes, uint256[] memory highs, uint256[] memory lows) =
                abi.decode(input[4:], (uint256[], uint256[], uint256[]));
            if (closes.length != size || highs.length != size || lows.length != size) return "";
            return abi.encodeWithSelector(SELECTOR, closes, highs, lows);
        }
        if (codec == INT16S) {
            uint256[] memory numbers = abi.decode(input[4:], (uint256[]));
            if (numbers.length != (size + 15) / 16) return "";
            uint256 used = size - 16 * (numbers.length - 1);
            if (used < 16 && numbers[numbers.length - 1] << (16 * used) != 0) return "";
            return abi.encodeWithSelector(SELECTOR, numbers);
        }
        bytes memory content = abi.decode(input[4:], (bytes));
        if (content.length > size || (codec == RAW && content.length != size)) return "";
        return abi.encodeWithSelector(SELECTOR, content);
    }

    function _model(uint256 codec, uint256 size) private pure returns (uint256) {
        return (size << 176) | (codec << 160) | (uint256(uint32(SELECTOR)) << 64) | 1;
    }
}
