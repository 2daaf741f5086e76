// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {ModelId} from "../types/Types.sol";

/// @notice A registered model with published weights, which the chain runs inside of a contract's call.
/// @param selector the model's function
struct OnChainModel {
    IInterpreter interpreter;
    ModelId id;
    bytes4 selector;
}
