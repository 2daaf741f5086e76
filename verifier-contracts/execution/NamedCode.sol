// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IWeightStore} from "../interfaces/IWeightStore.sol";
import {Directory} from "../libraries/Directory.sol";
import {ModelId} from "../types/Types.sol";

/// @notice Creates data contracts whose address follows from their creator and a model's id alone (Directory), so that
/// a reader needs no storage slot to find them.
abstract contract NamedCode {
    /// @dev Code of the contract that is being created, which asks for it; nothing at any other time.
    fallback(bytes calldata) external returns (bytes memory code) {
        uint256 length;
        assembly ("memory-safe") {
            length := tload(0)
        }
        code = new bytes(length);
        assembly ("memory-safe") {
            for { let i := 0 } lt(i, length) { i := add(i, 32) } {
                mstore(add(add(code, 32), i), tload(add(1, shr(5, i))))
            }
        }
    }

    /// @dev INVARIANT: the contract has all of its code or does not exist; one created empty, because the call for its
    /// code ran out of gas, would block the model's address for good.
    function _create(ModelId modelId, bytes memory code) internal returns (address created) {
        bytes memory initCode = Directory.INIT_CODE;
        assembly ("memory-safe") {
            let length := mload(code)
            tstore(0, length)
            for { let i := 0 } lt(i, length) { i := add(i, 32) } {
                tstore(add(1, shr(5, i)), mload(add(add(code, 32), i)))
            }
            created := create2(0, add(initCode, 0x20), mload(initCode), modelId)
            tstore(0, 0)
        }
        if (created.code.length != code.length) revert IWeightStore.DataNotStored(code.length);
    }
}
