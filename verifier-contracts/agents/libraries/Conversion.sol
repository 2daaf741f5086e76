// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ToolResultConverter} from "../interfaces/ToolResultConverter.sol";
import {BoundedCall} from "./BoundedCall.sol";

/// @notice Asks a converter for words, in a way that lets it change nothing.
library Conversion {
    /// @notice Thrown when a converter reverted, has no code, or returned no text. @param reason its data
    error ConversionFailed(ToolResultConverter converter, bytes reason);

    /// @notice Reverts as well if the text is longer than a result may be.
    /// @param data what the converter is to put in words
    function toText(ToolResultConverter converter, bytes memory data)
        internal
        view
        returns (string memory text)
    {
        (bool success, bytes memory returned) =
            address(converter).staticcall(abi.encodeCall(ToolResultConverter.convertToString, (data)));
        // A text is at least an offset and a length; what else is wrong with it, decoding refuses.
        if (!success || returned.length < 64) revert ConversionFailed(converter, returned);
        text = abi.decode(returned, (string));
        // No agent would read more, and who hands it on must be able to pay for it.
        BoundedCall.requireResult(text);
    }
}
