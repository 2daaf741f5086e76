// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {BoundedCall} from "./BoundedCall.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice Asks a contract which interface it has, and hears the difference between "no" and no answer; asks a tool for
/// its name, which it may change to anything at any time.
library Introspection {
    /// @notice Thrown when a tool does not say its name, or a parameter's, within the gas and the bytes that a name has.
    /// @param size bytes that it said, 0 if it failed @param max most that are read
    error NameUnreadable(IERCAgentTool tool, uint256 size, uint256 max);

    uint256 internal constant NO = 0;
    uint256 internal constant YES = 1;
    /// @notice The contract does not know ERC-165.
    uint256 internal constant SILENT = 2;

    /// @notice Most bytes of a name.
    uint256 internal constant NAME_BYTES = 128;
    /// @notice Most bytes that `name` returns: offset, length, text.
    uint256 internal constant NAME_RETURN_BYTES = 64 + NAME_BYTES;
    /// @dev What a name gets: reading it from five cold slots costs a tenth of that.
    uint256 private constant NAME_GAS = 100_000;

    /// @dev What ERC-165 gives a contract to answer.
    uint256 private constant QUESTION_GAS = 30_000;

    function ask(address account, bytes4 interfaceId) internal view returns (uint256 answer) {
        bytes4 selector = IERC165.supportsInterface.selector;
        assembly ("memory-safe") {
            mstore(0, selector)
            mstore(4, interfaceId)
            let success := staticcall(QUESTION_GAS, account, 0, 36, 0, 32)
            answer := SILENT
            if and(success, gt(returndatasize(), 31)) { answer := iszero(iszero(mload(0))) }
        }
    }

    /// @notice A tool's name. Reverts if it cannot be read within the limits.
    function requireName(IERCAgentTool tool) internal view returns (string memory) {
        (bool success, string memory toolName, uint256 size) = nameOf(tool);
        if (!success) revert NameUnreadable(tool, size, NAME_RETURN_BYTES);
        return toolName;
    }

    /// @notice A tool's name, read within a limit of gas and bytes.
    /// @return success false if there is none within the limits
    /// @return toolName empty then @return size bytes that the tool returned, 0 if it failed
    function nameOf(IERCAgentTool tool)
        internal
        view
        returns (bool success, string memory toolName, uint256 size)
    {
        // Who brings little gas cannot make a good tool nameless.
        BoundedCall.requireGas(NAME_GAS);
        bytes memory data = abi.encodeCall(IERCAgentTool.name, ());
        bool called;
        assembly ("memory-safe") {
            called := staticcall(NAME_GAS, tool, add(data, 32), mload(data), 0, 0)
            if called { size := returndatasize() }
        }
        if (size < 64 || size > NAME_RETURN_BYTES) return (false, "", size);
        bytes memory returned = new bytes(size);
        uint256 offset;
        uint256 length;
        assembly ("memory-safe") {
            returndatacopy(add(returned, 32), 0, size)
            offset := mload(add(returned, 32))
            length := mload(add(returned, 64))
        }
        if (offset != 32 || length > size - 64) return (false, "", size);
        return (true, abi.decode(returned, (string)), size);
    }
}
