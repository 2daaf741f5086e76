// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Asks the judge's element function with operands that an interpreter holds.
interface IElementCheck {
    /// @notice One element of a step's tensor, as an interpreter made it and as the judge computes it.
    /// @param input the model's calldata @param step index of the step @param element row-major index in its tensor
    /// @param tensors where they begin in `held`: stored bytes, row-major, without padding. First the step's own, then
    /// those of its operands that are steps; of the others anything: weights are read where they are published
    /// @param held the interpreter's memory. Only those bytes of it are read that the element needs, so that the check
    /// costs little, however large the tensors are
    /// @return stored the element as the interpreter made it; for a codec step the root of its tensor
    /// @return expected the judge's
    /// @dev Reverts with IJudge.StepOutOfRange or ElementOutOfRange.
    function compare(
        ModelId modelId,
        bytes calldata input,
        uint256 step,
        uint256 element,
        uint256[4] calldata tensors,
        bytes calldata held
    ) external view returns (uint256 stored, uint256 expected);

    /// @notice One element of return data, as an interpreter made it and as the judge makes it of the last step's tensor.
    /// @param output the interpreter's return data @param element index below the tensor's elements
    /// @param held its stored bytes in that tensor, right-aligned
    /// @return stored the element in `output` @return expected the judge's, another one if the form of `output` is not
    /// canonical
    /// @dev Reverts with IJudge.ElementOutOfRange.
    function compareOutput(ModelId modelId, bytes calldata output, uint256 element, uint256 held)
        external
        view
        returns (uint256 stored, uint256 expected);
}
