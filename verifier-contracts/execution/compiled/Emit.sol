// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

// EVM instructions that compiled code uses besides PUSH and DUP.

uint256 constant ADD = 0x01;
uint256 constant MUL = 0x02;
uint256 constant SUB = 0x03;
uint256 constant MOD = 0x06;
uint256 constant SIGNEXTEND = 0x0b;
uint256 constant LT = 0x10;
uint256 constant SLT = 0x12;
uint256 constant ISZERO = 0x15;
uint256 constant AND = 0x16;
uint256 constant OR = 0x17;
uint256 constant SHL = 0x1b;
uint256 constant SHR = 0x1c;
uint256 constant SAR = 0x1d;
uint256 constant CALLDATALOAD = 0x35;
uint256 constant CALLDATASIZE = 0x36;
uint256 constant POP = 0x50;
uint256 constant MLOAD = 0x51;
uint256 constant MSTORE = 0x52;
uint256 constant MSTORE8 = 0x53;
uint256 constant JUMPI = 0x57;
uint256 constant JUMPDEST = 0x5b;
uint256 constant MCOPY = 0x5e;
uint256 constant PUSH0 = 0x5f;
uint256 constant DUP1 = 0x80;
uint256 constant SWAP1 = 0x90;
uint256 constant RETURN = 0xf3;
uint256 constant REVERT = 0xfd;

/// @notice Writes code to memory. Each function returns where the next instruction goes.
library Emit {
    /// @notice One instruction.
    function op(uint256 code, uint256 instruction) internal pure returns (uint256) {
        assembly ("memory-safe") {
            mstore8(code, instruction)
        }
        unchecked {
            return code + 1;
        }
    }

    /// @notice Several instructions at once. @param bytes_ their bytes, right-aligned @param size of them, 1 to 32
    function put(uint256 code, uint256 bytes_, uint256 size) internal pure returns (uint256 end) {
        assembly ("memory-safe") {
            mstore(code, shl(sub(256, shl(3, size)), bytes_))
            end := add(code, size)
        }
    }

    /// @notice Loads the word at a place in memory: PUSH2, MLOAD. @param place below 2^16
    function load(uint256 code, uint256 place) internal pure returns (uint256 end) {
        assembly ("memory-safe") {
            mstore(code, or(shl(248, 0x61), or(shl(232, place), shl(224, MLOAD))))
            end := add(code, 4)
        }
    }

    /// @notice Stores a word there: PUSH2, MSTORE. @param place below 2^16
    function store(uint256 code, uint256 place) internal pure returns (uint256 end) {
        assembly ("memory-safe") {
            mstore(code, or(shl(248, 0x61), or(shl(232, place), shl(224, MSTORE))))
            end := add(code, 4)
        }
    }

    /// @notice The shortest PUSH of a value.
    function push(uint256 code, uint256 value) internal pure returns (uint256 end) {
        assembly ("memory-safe") {
            // Bytes of the value: halve what is left of it four times.
            let size := shl(4, lt(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF, value))
            size := or(size, shl(3, lt(0xFFFFFFFFFFFFFFFF, shr(shl(3, size), value))))
            size := or(size, shl(2, lt(0xFFFFFFFF, shr(shl(3, size), value))))
            size := or(size, shl(1, lt(0xFFFF, shr(shl(3, size), value))))
            let rest := shr(shl(3, size), value)
            size := add(size, add(lt(0, rest), lt(0xFF, rest)))
            mstore8(code, add(PUSH0, size))
            mstore(add(code, 1), shl(sub(256, shl(3, size)), value))
            end := add(code, add(1, size))
        }
    }

    /// @notice PUSH of the value's low `size` bytes, 0 to 32. @param value below 2^(8·size)
    function pushBytes(uint256 code, uint256 value, uint256 size) internal pure returns (uint256) {
        unchecked {
            assembly ("memory-safe") {
                mstore8(code, add(PUSH0, size))
                mstore(add(code, 1), shl(sub(256, shl(3, size)), value))
            }
            return code + 1 + size;
        }
    }

    /// @notice PUSH of a value, then an instruction.
    function pushOp(uint256 code, uint256 value, uint256 instruction) internal pure returns (uint256) {
        return op(push(code, value), instruction);
    }
}
