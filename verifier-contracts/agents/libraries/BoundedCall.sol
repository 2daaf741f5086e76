// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice Calls of a stranger's code whose gas and return data have a limit, and what their failures say.
library BoundedCall {
    /// @notice Thrown when a transaction brings too little gas for a call that must get its whole limit.
    error NotEnoughGas(uint256 gasLeft, uint256 required);
    /// @notice Thrown, or taken as the reason of a failure, when a contract returned more bytes than are read.
    error ReturnTooLong(uint256 returned, uint256 max);

    /// @notice Most bytes of an error that are kept.
    uint256 internal constant ERROR_BYTES = 512;
    /// @notice Most bytes of a tool's result that an agent reads: a longer one is a failure of the tool, for a text cut
    /// off may say something else.
    uint256 internal constant RESULT_BYTES = 8_192;
    /// @notice Most bytes that a tool's `run` returns: id, offset, length, text.
    uint256 internal constant RUN_BYTES = 96 + RESULT_BYTES;
    /// @notice For the caller's own code, which bounds its answers itself.
    uint256 internal constant ANY_SIZE = type(uint256).max;
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

    /// @notice Calls without value, and copies no more than a limit of what comes back.
    /// @param callGas gas limit; all that a call may get if there is less
    /// @param most bytes of a good answer
    /// @return success false if it reverted, or returned more. SAFETY: in the second case what it did stands, so a caller
    /// that sets a limit must revert
    /// @return returned what the callee returned, or the first bytes of its error, or ReturnTooLong
    function tryCall(address target, uint256 callGas, bytes memory data, uint256 most)
        internal
        returns (bool success, bytes memory returned)
    {
        assembly ("memory-safe") {
            success := call(callGas, target, 0, add(data, 32), mload(data), 0, 0)
        }
        return _answer(success, most);
    }

    /// @notice Reverts with the data of a failed call.
    function bubble(bytes memory data) internal pure {
        assembly ("memory-safe") {
            revert(add(data, 32), mload(data))
        }
    }

    /// @notice Calls without value and looks at nothing but success.
    function tryNotify(address target, uint256 callGas, bytes memory data) internal returns (bool success) {
        assembly ("memory-safe") {
            success := call(callGas, target, 0, add(data, 32), mload(data), 0, 0)
        }
    }

    /// @notice What a tool's `run` returned. Reverts if that is no such answer, or if its text is too long.
    function decodeRun(bytes memory returned) internal pure returns (int256 id, string memory result) {
        (id, result) = abi.decode(returned, (int256, string));
        // An offset that no compiler writes makes room for a word more.
        uint256 length = bytes(result).length;
        if (length > RESULT_BYTES) revert ReturnTooLong(length, RESULT_BYTES);
    }

    /// @dev What the last call returned.
    function _answer(bool success, uint256 most) private pure returns (bool, bytes memory returned) {
        uint256 size;
        assembly ("memory-safe") {
            size := returndatasize()
        }
        if (success && size > most) {
            return (false, abi.encodeWithSelector(ReturnTooLong.selector, size, most));
        }
        if (!success && size > ERROR_BYTES) size = ERROR_BYTES;
        assembly ("memory-safe") {
            returned := mload(0x40)
            mstore(0x40, and(add(add(returned, size), 63), not(31)))
            mstore(returned, size)
            returndatacopy(add(returned, 32), 0, size)
        }
        return (success, returned);
    }

    /// @notice Why more bytes than the limit are not read, in words.
    function tooLong(uint256 returned, uint256 most) internal pure returns (string memory) {
        return string.concat(
            Strings.toString(returned), " bytes were returned, at most ", Strings.toString(most), " are read"
        );
    }

    /// @notice The data of a failed call in words: the text of `require`, ReturnTooLong, else the bytes.
    /// @param data not longer than a few hundred bytes
    function reason(bytes memory data) internal pure returns (string memory) {
        if (data.length == 0) return "no reason given";
        if (data.length == 68 && bytes4(data) == ReturnTooLong.selector) {
            uint256 size;
            uint256 most;
            assembly ("memory-safe") {
                size := mload(add(data, 36))
                most := mload(add(data, 68))
            }
            return tooLong(size, most);
        }
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
