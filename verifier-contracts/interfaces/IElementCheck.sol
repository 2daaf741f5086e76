// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Asks the judge's element function with operands that an interpreter holds.
interface IElementCheck {
    /// @notice One element of a step's tensor, as an interpreter made it and as the judge computes it.
    /// @param input the model's calldata @param step index of the step @param element row-major index in its tensor
    /// @param out the step's tensor: stored bytes, row-major, without padding
    /// @param operands likewise those operands that are steps; empty for weights, which are read where they are published
    /// @return stored the element in `out`; for a codec step the root of its tensor
    /// @return expected the judge's
    /// @dev Reverts with IJudge.StepOutOfRange or ElementOutOfRange.
    function compare(
        ModelId modelId,
        bytes calldata input,
        uint256 step,
        uint256 element,
        bytes calldata out,
        bytes[3] calldata operands
    ) external view returns (uint256 stored, uint256 expected);
}
