// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {HeldTensors} from "../../../verifier-contracts/libraries/HeldTensors.sol";
import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {Tensor} from "../../../verifier-contracts/types/Program.sol";
import {Dice, Dices} from "../fuzz/Dice.sol";
import {Test} from "../support/Test.sol";

/// @notice Rows, words and elements of held tensors, wherever they are, against their bytes one by one. Free memory is
/// dirty, as it is behind steps that ran before.
contract HeldTensorsTest is Test {
    using Dices for Dice;

    uint256 private constant CHUNK = 24_544;
    /// @dev Of the noise that the stream of weights is full of.
    uint256 private constant STREAM = 3 * CHUNK;

    function testFuzz_memory_anyShape_succeeds(uint256 seed) public view {
        Dice memory d = Dice(seed);
        Tensor memory x = _tensor(d);
        bytes memory data = _noise(d, 96 + x.rows * x.rowBytes);
        uint256 from = 1 + d.below(32);
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(add(data, 0x20), from)
        }
        HeldTensors.holdMemory(x, pointer);
        _check(new address[](0), x, data, from);
    }

    function testFuzz_calldata_anyShape_succeeds(uint256 seed) public view {
        Dice memory d = Dice(seed);
        Tensor memory x = _tensor(d);
        this.checkCalldata(x, d.below(32), _noise(d, 96 + x.rows * x.rowBytes));
    }

    function checkCalldata(Tensor memory x, uint256 from, bytes calldata data) external view {
        uint256 offset;
        assembly ("memory-safe") {
            offset := add(data.offset, from)
        }
        HeldTensors.holdCalldata(x, offset);
        _check(new address[](0), x, data, from);
    }

    /// @dev Half of them over the end of a data contract.
    function testFuzz_weights_anyShape_succeeds(uint256 seed) public {
        Dice memory d = Dice(seed);
        Tensor memory x = _tensor(d);
        bytes memory stream = _noise(d, STREAM);
        address[] memory store = new address[](3);
        for (uint256 i = 0; i < store.length; ++i) {
            bytes memory code = new bytes(CHUNK + 1);
            for (uint256 j = 0; j < CHUNK; j += 32) {
                uint256 word = _load(stream, i * CHUNK + j);
                assembly ("memory-safe") {
                    mstore(add(add(code, 0x21), j), word)
                }
            }
            store[i] = address(uint160(0x10000 + i));
            vm.etch(store[i], code);
        }
        uint256 size = x.rows * x.rowBytes;
        uint256 offset = d.once(2) ? d.below(STREAM - size) : CHUNK - d.below(size < CHUNK ? size : CHUNK);
        (x.isWeight, x.place) = (true, offset + 1);
        _check(store, x, stream, offset);
    }

    /// @dev One byte or four an element; rows around the ends of words.
    function _tensor(Dice memory d) private pure returns (Tensor memory x) {
        (x.code, x.last, x.rows) = (d.below(4), d.dim(200), d.range(1, 3));
        // Codes 2 and 3 are s32 and binary32.
        x.rowBytes = x.last * (x.code > 1 ? 4 : 1);
        x.words = (x.rowBytes + 31) / 32;
    }

    function _check(address[] memory store, Tensor memory x, bytes memory data, uint256 from) private view {
        _dirty();
        for (uint256 r = 0; r < x.rows; ++r) {
            uint256 pointer = HeldTensors.row(store, x, r);
            for (uint256 w = 0; w < x.words; ++w) {
                uint256 word = _wordOf(x, data, from, r, w);
                assertEq(Memory.load(pointer + 32 * w), word, "row");
                assertEq(HeldTensors.word(store, x, r, w), word, "word");
            }
            uint256 width = x.rowBytes / x.last;
            for (uint256 i = 0; i < x.last; ++i) {
                uint256 stored = _load(data, from + r * x.rowBytes + width * i) >> (256 - 8 * width);
                assertEq(HeldTensors.element(store, x, r * x.last + i), stored, "element");
            }
        }
    }

    /// @dev A word of a row, zeros behind the row's end.
    function _wordOf(Tensor memory x, bytes memory data, uint256 from, uint256 r, uint256 w)
        private
        pure
        returns (uint256 word)
    {
        for (uint256 i = 0; i < 32 && 32 * w + i < x.rowBytes; ++i) {
            word |= uint256(uint8(data[from + r * x.rowBytes + 32 * w + i])) << (248 - 8 * i);
        }
    }

    function _load(bytes memory data, uint256 place) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 0x20), place))
        }
    }

    function _noise(Dice memory d, uint256 size) private pure returns (bytes memory data) {
        data = new bytes(size);
        uint256 seed = d.next();
        assembly ("memory-safe") {
            for { let i := 0 } lt(add(i, 31), size) { i := add(i, 32) } {
                mstore(0, add(seed, i))
                mstore(add(add(data, 0x20), i), keccak256(0, 0x20))
            }
        }
    }

    function _dirty() private pure {
        uint256 free = Memory.mark();
        for (uint256 place = Memory.reserve(8192); place < free + 8192; place += 32) {
            assembly ("memory-safe") {
                mstore(place, not(0))
            }
        }
        Memory.release(free);
    }
}
