// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {Claim, ModelId, Request} from "../../types/Types.sol";
import {Finality, FinalityTerms} from "./Finality.sol";

/// @title ERC-7007: `verify` of a token whose content one model made
/// @notice A token inherits this and mints only what verifies. Prompt is the model's calldata, content its return
/// data, the proof abi.encode(Request, Claim) with a Claim of zeros after truth without an agreeing claim.
/// @dev Not a token and not ERC-165's 0x7e52e423: minting, and who may claim a prompt first, are the token's.
contract Erc7007Verify {
    IAssay public immutable assay;
    ModelId public immutable model;
    uint8 public immutable lanes;
    uint96 public immutable minBond;
    uint32 public immutable minWindow;

    constructor(IAssay assay_, ModelId model_, FinalityTerms memory terms) {
        (assay, model) = (assay_, model_);
        (lanes, minBond, minWindow) = (terms.lanes, terms.minBond, terms.minWindow);
    }

    /// @notice True if and only if this content is final for this prompt.
    function verify(bytes calldata prompt, bytes calldata aigcData, bytes calldata proof)
        public
        view
        returns (bool success)
    {
        (Request memory r, Claim memory c) = abi.decode(proof, (Request, Claim));
        FinalityTerms memory terms = FinalityTerms(lanes, minBond, minWindow);
        return Finality.isFinal(assay, model, keccak256(prompt), r, c, aigcData, terms);
    }
}
