// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {Claim, ModelId, Policy, Request} from "../../types/Types.sol";

/// @notice What an output must be final by before a standard's contract vouches for it.
/// @param lanes that count @param minBond of a claim, wei @param minWindow seconds
struct FinalityTerms {
    uint8 lanes;
    uint96 minBond;
    uint32 minWindow;
}

/// @notice The one question that all standards' contracts ask Assay, through the gate that agents use.
library Finality {
    /// @notice Thrown when the gate gave no reason: it ran out of gas, or there is no Assay. That is no answer.
    error FinalityUnknown(IAssay assay);

    /// @return true if the output is final for this model and input under the terms, false if the gate says why not
    /// @dev A sender who brings too little gas gets an error, never "false": settlements act on "false".
    function isFinal(
        IAssay assay,
        ModelId modelId,
        bytes32 inputHash,
        Request memory r,
        Claim memory c,
        bytes memory output,
        FinalityTerms memory terms
    ) internal view returns (bool) {
        Policy memory policy = Policy(modelId, inputHash, terms.lanes, terms.minBond, terms.minWindow);
        if (address(assay).code.length == 0) revert FinalityUnknown(assay);
        try assay.requireFinal(r, c, output, policy) {
            return true;
        } catch (bytes memory reason) {
            if (reason.length < 4) revert FinalityUnknown(assay);
            return false;
        }
    }
}
