// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IInterpreter} from "./IInterpreter.sol";
import {ITruth} from "./ITruth.sol";

/// @notice Adapter of the EXECUTION lane: an output is true if the chain computes it. Holds no state.
interface IExecutionLane is ITruth {
    /// @notice Thrown for a run of more than MAX_GAS: settle the request in another lane.
    error ExecutionTooDear(uint256 limit);

    /// @notice Most gas of a run that settles a request. haltExecution takes at most 5 million more than the run that it
    /// checks, and the longest input a million: what settles a request can be halted within a transaction of 16,777,216
    /// gas (EIP-7825).
    function MAX_GAS() external view returns (uint256);

    function interpreter() external view returns (IInterpreter);
}
