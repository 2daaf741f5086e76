// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice Asks a contract which interface it has, and hears the difference between "no" and no answer.
library Introspection {
    uint256 internal constant NO = 0;
    uint256 internal constant YES = 1;
    /// @notice The contract does not know ERC-165.
    uint256 internal constant SILENT = 2;

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
}
