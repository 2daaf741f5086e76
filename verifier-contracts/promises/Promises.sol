// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {PromisesBatches} from "./PromisesBatches.sol";
import {PromisesSigned} from "./PromisesSigned.sol";
import {PromisesState} from "./PromisesState.sol";

/// @notice Answers for nothing until somebody doubts them: signed claims and batches, backed by stake.
/// @dev Rules and amounts: docs/PROMISES.md. There is no owner, no pause and no parameter that can change. It
/// uses Assay as anybody could.
contract Promises is PromisesSigned, PromisesBatches {
    constructor(IAssay assay_) PromisesState(assay_) {}
}
