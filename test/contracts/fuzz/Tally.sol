// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Laid} from "./Laid.sol";
import {Case, Cases} from "./RecordCase.sol";

/// @notice Counts of compared elements, by what their records are; printed at the end.
library Tally {
    uint256 internal constant ELEMENTS = 0;
    uint256 private constant RECORDS = 1;
    uint256 private constant VARIANT = 2;
    uint256 private constant TYPE = 18;
    uint256 private constant RANK = 24;
    uint256 private constant STRIDE = 32;
    uint256 private constant PATTERN = 40;
    uint256 private constant PLANNED = 48;
    uint256 private constant COMPILED = 49;
    uint256 private constant ACROSS = 50;
    uint256 private constant SIZE = 51;

    address private constant CONSOLE = 0x000000000000000000636F6e736F6c652e6c6f67;

    function start() internal pure returns (uint256[] memory table) {
        return new uint256[](SIZE);
    }

    /// @notice A record's facts in a word: elements u32, then a byte each of what is counted.
    function facts(Case memory c, Laid memory l, bool isPlanned, bool isCompiled)
        internal
        pure
        returns (uint256 word)
    {
        word = c.count | c.variant << 32 | c.code << 40 | c.rank << 48 | c.stride << 56;
        if (isPlanned) word |= 1 << 64;
        if (isCompiled) word |= 1 << 72;
        if (l.prefix != 0) word |= 1 << 80;
        if (c.opcode != 8 && c.opcode != 9 && c.opcode != 11) return word | 0xFFFFFF << 88;
        for (uint256 i = 0; i < 3; ++i) {
            bool isThere = c.operands[i].data.length != 0;
            word |= (isThere ? Cases.pattern(c, c.operands[i]) : 0xFF) << (88 + 8 * i);
        }
    }

    function count(uint256[] memory table, uint256 word) internal pure {
        uint256 elements = uint32(word);
        table[ELEMENTS] += elements;
        table[RECORDS]++;
        table[VARIANT + uint8(word >> 32)] += elements;
        table[TYPE + uint8(word >> 40)] += elements;
        table[RANK + uint8(word >> 48)] += elements;
        table[STRIDE + uint8(word >> 56)] += elements;
        for (uint256 i = 0; i < 3; ++i) {
            uint256 way = uint8(word >> (88 + 8 * i));
            if (way != 0xFF) table[PATTERN + way] += elements;
        }
        if (uint8(word >> 64) != 0) table[PLANNED] += elements;
        if (uint8(word >> 72) != 0) table[COMPILED] += elements;
        if (uint8(word >> 80) != 0) table[ACROSS] += elements;
    }

    function print(uint256 opcode, uint256[] memory t) internal view {
        string memory s = string.concat("| ", nameOf(opcode), " | ", _text(t[ELEMENTS]), " elements, ");
        s = string.concat(s, _text(t[RECORDS]), " records | variant", _row(t, VARIANT, 15, ""));
        s = string.concat(s, " | type", _row(t, TYPE, 5, "u8  s8  s32 f32 bool"));
        s = string.concat(s, " | rank", _row(t, RANK, 7, ""));
        if (opcode == 2) {
            s = string.concat(s, " | strides", _row(t, STRIDE, 8, "noneZ   P   ZP  N   ZN  PN  ZPN "));
        }
        if (t[PATTERN] != 0) {
            s = string.concat(s, " | operands", _row(t, PATTERN, 5, "fullone tailheadmix "));
        }
        s = string.concat(s, " | planned ", _text(t[PLANNED]), ", compiled ", _text(t[COMPILED]));
        s = string.concat(s, ", weights over a chunk's end ", _text(t[ACROSS]), " |");
        (bool ok,) = CONSOLE.staticcall(abi.encodeWithSignature("log(string)", s));
        require(ok);
    }

    /// @notice What no record was, though records of the opcode are: a kind that none has is not tested.
    /// @param variants a bit each that the opcode has @param types likewise, of its tensor
    /// @return s a word for each, empty if there is none
    function missing(uint256 opcode, uint256[] memory t, uint256 variants, uint256 types)
        internal
        pure
        returns (string memory s)
    {
        s = string.concat(_gaps(t, VARIANT, variants, " variant:"), _gaps(t, TYPE, types, " type:"));
        s = string.concat(s, _gaps(t, RANK, 0x7E, " rank:"));
        if (opcode == 2) s = string.concat(s, _gaps(t, STRIDE, 0xFF, " stride:"));
        bool isSpread = opcode == 8 || opcode == 9 || opcode == 11;
        if (isSpread) s = string.concat(s, _gaps(t, PATTERN, 0x1F, " operands:"));
        // Planned, compiled, weights over a chunk's end; FLOAT has no plan, DOT alone is compiled.
        uint256 ways = opcode == 9 ? 4 : opcode == 4 ? 7 : 5;
        s = string.concat(s, _gaps(t, PLANNED, ways, " way:"));
    }

    function _gaps(uint256[] memory t, uint256 from, uint256 kinds, string memory name)
        private
        pure
        returns (string memory s)
    {
        for (uint256 i = 0; kinds >> i != 0; ++i) {
            if ((kinds >> i) & 1 != 0 && t[from + i] == 0) s = string.concat(s, name, _text(i));
        }
    }

    /// @dev Counts that are not 0. @param names four letters each; numbers if there are none
    function _row(uint256[] memory t, uint256 from, uint256 size, bytes memory names)
        private
        pure
        returns (string memory s)
    {
        for (uint256 i = 0; i < size; ++i) {
            if (t[from + i] == 0) continue;
            string memory name = _text(i);
            if (names.length != 0) {
                bytes memory letters = new bytes(4);
                for (uint256 j = 0; j < 4; ++j) {
                    letters[j] = names[4 * i + j];
                }
                name = string(letters);
            }
            s = string.concat(s, " ", name, ":", _text(t[from + i]));
        }
    }

    /// @notice What a record that fails says. @param reason the error's bytes
    function failure(uint256 opcode, uint256 seed, bytes memory program, bytes memory reason)
        internal
        pure
        returns (string memory)
    {
        bytes memory record = new bytes(128);
        assembly ("memory-safe") {
            mcopy(add(record, 0x20), add(program, sub(mload(program), 0x60)), 0x80)
        }
        uint256 variant = uint8(record[1]);
        return string.concat(
            nameOf(opcode),
            " variant ",
            _text(variant),
            ": RECORD_SEED=",
            _text(seed),
            " record ",
            _hex(record),
            " ",
            _why(reason)
        );
    }

    function _why(bytes memory reason) private pure returns (string memory) {
        if (reason.length != 100) return _hex(reason);
        uint256[3] memory values;
        for (uint256 i = 0; i < 3; ++i) {
            assembly ("memory-safe") {
                mstore(add(values, mul(i, 0x20)), mload(add(reason, add(0x24, mul(i, 0x20)))))
            }
        }
        bytes4 selector = bytes4(reason);
        string memory by = "judge";
        if (selector == bytes4(keccak256("NaiveDiffers(uint256,uint256,uint256)"))) by = "plainest loop";
        if (selector == bytes4(keccak256("PlanDiffers(uint256,uint256,uint256)"))) {
            by = "plan against kernel";
        }
        if (selector == bytes4(keccak256("CompiledDiffers(uint256,uint256,uint256)"))) {
            by = "compiled against kernel";
        }
        return
            string.concat(
                by, ": element ", _text(values[0]), ": ", _text(values[1]), ", not ", _text(values[2])
            );
    }

    function _hex(bytes memory data) private pure returns (string memory) {
        bytes memory digits = "0123456789abcdef";
        bytes memory s = new bytes(2 * data.length);
        for (uint256 i = 0; i < data.length; ++i) {
            s[2 * i] = digits[uint8(data[i]) >> 4];
            s[2 * i + 1] = digits[uint8(data[i]) & 15];
        }
        return string.concat("0x", string(s));
    }

    function _text(uint256 x) private pure returns (string memory) {
        bytes memory s;
        do {
            s = bytes.concat(bytes1(uint8(48 + x % 10)), s);
            x /= 10;
        } while (x != 0);
        return string(s);
    }

    function nameOf(uint256 opcode) internal pure returns (string memory) {
        return [
            "",
            "CODEC",
            "MOVE",
            "LOOKUP",
            "DOT",
            "REQUANT",
            "RESCALE",
            "TABLE",
            "ARITH",
            "FLOAT",
            "REDUCE",
            "SELECT"
        ][opcode];
    }
}
