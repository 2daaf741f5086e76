// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

import {ToolResultConverter} from "../../agents/interfaces/ToolResultConverter.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice Puts a balance in words.
contract ViewBalanceResultConverter is ToolResultConverter {
    /// @inheritdoc ToolResultConverter
    /// @param result one uint256
    function convertToString(bytes memory result) external pure returns (string memory) {
        return string.concat("The balance is: ", Strings.toString(abi.decode(result, (uint256))));
    }
}
