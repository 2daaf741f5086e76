// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {BoundedCall} from "./BoundedCall.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice Asks a contract which interface it has, and hears the difference between "no" and no answer; asks a tool for
/// its name, which it may change to anything at any time.
library Introspection {
    /// @notice Thrown when the name of a tool, or of one of its parameters, has more bytes than are read.
    error NameTooLong(IERCAgentTool tool, uint256 length, uint256 max);

    uint256 internal constant NO = 0;
    uint256 internal constant YES = 1;
    /// @notice The contract does not know ERC-165.
    uint256 internal constant SILENT = 2;

    /// @notice Most bytes of a name.
    uint256 internal constant NAME_BYTES = 128;
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

    /// @notice A tool's name, read with gas of its own. Reverts if that is not enough, or if it is too long.
    function requireName(IERCAgentTool tool) internal view returns (string memory toolName) {
        toolName = tool.name{gas: NAME_GAS}();
        requireLength(tool, toolName);
    }

    /// @notice Refuses a name, of a tool or of one of its parameters, that is too long.
    function requireLength(IERCAgentTool tool, string memory toolName) internal pure {
        uint256 length = bytes(toolName).length;
        if (length > NAME_BYTES) revert NameTooLong(tool, length, NAME_BYTES);
    }

    /// @notice A tool's name, read within limits of gas and bytes, for those who go on without it.
    /// @return toolName empty if it cannot be read
    function nameOf(IERCAgentTool tool) internal view returns (string memory toolName) {
        // Who brings little gas cannot make a good tool nameless.
        BoundedCall.requireGas(NAME_GAS);
        bytes4 selector = IERCAgentTool.name.selector;
        bytes memory returned = new bytes(64 + NAME_BYTES);
        uint256 size;
        uint256 offset;
        uint256 length;
        assembly ("memory-safe") {
            mstore(0, selector)
            let start := add(returned, 32)
            if staticcall(NAME_GAS, tool, 0, 4, start, mload(returned)) {
                size := returndatasize()
            }
            offset := mload(start)
            length := mload(add(start, 32))
        }
        if (size < 64 || size > returned.length || offset != 32 || length > size - 64) return "";
        return abi.decode(returned, (string));
    }
}
