// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";
import {FIRST_ADDRESS, FIRST_U16} from "./Memory.sol";
import {ModelWord} from "./ModelWord.sol";

/// @notice The data contract that lists a published model's parts (IWeightStore.directoryOf). Its address follows from
/// the modelId alone, so that a reader needs no storage slot to find it.
library Directory {
    /// @dev Asks whoever creates it for its code: PUSH0 ×4, CALLER, GAS, STATICCALL, POP, RETURNDATASIZE, PUSH0 ×2,
    /// RETURNDATACOPY, RETURNDATASIZE, PUSH0, RETURN.
    bytes internal constant INIT_CODE = hex"5f5f5f5f335afa503d5f5f3e3d5ff3";
    bytes32 internal constant INIT_CODE_HASH = keccak256(INIT_CODE);
    /// @dev STOP, model word, number of program chunks.
    uint256 internal constant HEAD_BYTES = 1 + 32 + 2;
    uint256 internal constant ADDRESS_BYTES = 20;
    uint256 internal constant MAX_ADDRESSES = (24_576 - HEAD_BYTES) / ADDRESS_BYTES;

    /// @param store the WeightStore
    function addressOf(address store, ModelId modelId) internal pure returns (address directory) {
        bytes32 hash = INIT_CODE_HASH;
        assembly ("memory-safe") {
            let pointer := mload(0x40)
            mstore(pointer, or(shl(248, 0xff), shl(88, store)))
            mstore(add(pointer, 21), modelId)
            mstore(add(pointer, 53), hash)
            directory := and(keccak256(pointer, 85), 0xffffffffffffffffffffffffffffffffffffffff)
        }
    }

    /// @notice The data contracts of a published model's weights. @param directory not empty
    function weightsOf(address directory) internal view returns (address[] memory weights) {
        unchecked {
            bytes memory code = directory.code;
            uint256 place;
            uint256 count;
            assembly ("memory-safe") {
                place := add(code, 0x20)
                count := shr(FIRST_U16, mload(add(place, 33))) // chunks of the program
            }
            place += HEAD_BYTES + ADDRESS_BYTES * count;
            weights = new address[]((code.length - HEAD_BYTES) / ADDRESS_BYTES - count);
            for (uint256 i = 0; i < weights.length; ++i) {
                address chunk;
                assembly ("memory-safe") {
                    chunk := shr(FIRST_ADDRESS, mload(add(place, mul(20, i))))
                }
                weights[i] = chunk;
            }
        }
    }

    /// @notice The code of a directory.
    function encode(ModelWord modelWord, address[] memory program, address[] memory weights)
        internal
        pure
        returns (bytes memory code)
    {
        code = abi.encodePacked(bytes1(0), ModelWord.unwrap(modelWord), uint16(program.length));
        return bytes.concat(code, _pack(program), _pack(weights));
    }

    function _pack(address[] memory list) private pure returns (bytes memory packed) {
        unchecked {
            uint256 length = list.length;
            packed = new bytes(ADDRESS_BYTES * length + 12);
            for (uint256 i = 0; i < length; ++i) {
                address entry = list[i];
                assembly ("memory-safe") {
                    mstore(add(packed, add(32, mul(20, i))), shl(FIRST_ADDRESS, entry))
                }
            }
            // The last store reached 12 bytes behind it.
            assembly ("memory-safe") {
                mstore(packed, mul(20, length))
            }
        }
    }
}
