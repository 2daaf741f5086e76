// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice Calls of a stranger's code whose gas and return data have a limit, and what their failures say.
library BoundedCall {
    /// @notice Thrown when a transaction brings too little gas for a call that must get its whole limit.
    error NotEnoughGas(uint256 gasLeft, uint256 required);

    /// @notice Thrown when a tool's result has more bytes than an agent reads.
    error ResultTooLong(uint256 length, uint256 max);

    /// @notice Most bytes of a tool's result: a longer one is a failure of the tool, for a text that is cut off may say
    /// something else.
    uint256 internal constant RESULT_BYTES = 8_192;
    /// @notice Most bytes of an error that are kept.
    uint256 internal constant ERROR_BYTES = 512;
    /// @dev Reaching a cold account, and what the caller does after the call.
    uint256 internal constant RESERVE = 40_000;

    /// @notice Reverts unless a call made now gets all of `callGas`: a call hands on at most 63/64 of the gas,
    /// silently, so that who brings less could make a good callee fail.
    function requireGas(uint256 callGas) internal view {
        if (hasGas(callGas)) return;
        uint256 most = type(uint256).max / 64 - RESERVE;
        uint256 required = callGas > most ? type(uint256).max : (callGas + RESERVE) * 64 / 63 + 1;
        revert NotEnoughGas(gasleft(), required);
    }

    /// @notice True if a call made now gets all of `callGas`.
    function hasGas(uint256 callGas) internal view returns (bool) {
        uint256 available = gasleft() * 63 / 64;
        return available >= RESERVE && available - RESERVE >= callGas;
    }

    /// @notice Calls without value.
    /// @param callGas gas limit; all that a call may get if there is less
    /// @return success false if it reverted @return returned what the callee returned, or the first bytes of its error.
    /// SAFETY: a good answer is copied whole, so a stranger's is asked for in a frame whose gas is limited
    function tryCall(address target, uint256 callGas, bytes memory data)
        internal
        returns (bool success, bytes memory returned)
    {
        uint256 most = ERROR_BYTES;
        assembly ("memory-safe") {
            success := call(callGas, target, 0, add(data, 32), mload(data), 0, 0)
            let size := returndatasize()
            if and(iszero(success), gt(size, most)) { size := most }
            returned := mload(0x40)
            mstore(0x40, and(add(add(returned, size), 63), not(31)))
            mstore(returned, size)
            returndatacopy(add(returned, 32), 0, size)
        }
    }

    /// @notice Calls without value and looks at nothing but success.
    function tryNotify(address target, uint256 callGas, bytes memory data) internal returns (bool success) {
        assembly ("memory-safe") {
            success := call(callGas, target, 0, add(data, 32), mload(data), 0, 0)
        }
    }

    /// @notice Refuses a result that nobody would read.
    function requireResult(string memory result) internal pure {
        uint256 length = bytes(result).length;
        if (length > RESULT_BYTES) revert ResultTooLong(length, RESULT_BYTES);
    }

    /// @notice The data of a failed call in words: the text of `require`, else the bytes.
    /// @param data not longer than a few hundred bytes
    function reason(bytes memory data) internal pure returns (string memory) {
        if (data.length == 0) return "no reason given";
        // Error(string): selector, offset 32, length, text; cut off where the copy ends.
        if (data.length >= 68 && bytes4(data) == bytes4(0x08c379a0)) {
            uint256 length;
            uint256 offset;
            assembly ("memory-safe") {
                offset := mload(add(data, 36))
                length := mload(add(data, 68))
            }
            if (offset == 32) {
                if (length > data.length - 68) length = data.length - 68;
                bytes memory text = new bytes(length);
                assembly ("memory-safe") {
                    mcopy(add(text, 32), add(data, 100), length)
                }
                return string(text);
            }
        }
        return Strings.toHexString(data);
    }
}
