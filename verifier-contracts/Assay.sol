// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Courier} from "./Courier.sol";
import {AssayDelivery} from "./assay/AssayDelivery.sol";
import {AssayGame} from "./assay/AssayGame.sol";
import {AssayRequests} from "./assay/AssayRequests.sol";
import {IJudge} from "./interfaces/IJudge.sol";
import {IModelRegistry} from "./interfaces/IModelRegistry.sol";
import {ITraceReader} from "./interfaces/ITraceReader.sol";
import {ITruth} from "./interfaces/ITruth.sol";

/// @notice Verified outputs of models: requests, claims, the dispute game and the money.
/// @dev Rules, deadlines and amounts: docs/PROTOCOL.md. The parts are in assay/. There is no owner, no pause and no
/// parameter that can change after deployment: a corrected judge is a new version.
contract Assay is AssayRequests, AssayGame, AssayDelivery {
    /// @param answerSeconds_ T: time for each answer; the chain must include a transaction within it
    /// @param gasPriceFloor_ least gas price that bonds are computed from, wei
    /// @param gasBase_ gas of a defence without demands @param gasPerDemand_ gas of each demand's answer
    /// @param executionAdapter_ zero if this deployment has no EXECUTION lane; so is proofAdapter_ for PROOF
    constructor(
        IModelRegistry registry_,
        IJudge judge_,
        ITraceReader traceReader_,
        ITruth executionAdapter_,
        ITruth proofAdapter_,
        uint40 answerSeconds_,
        uint64 gasPriceFloor_,
        uint64 gasBase_,
        uint64 gasPerDemand_
    ) {
        _requireCode(address(registry_));
        _requireCode(address(judge_));
        _requireCode(address(traceReader_));
        if (address(executionAdapter_) != address(0)) _requireCode(address(executionAdapter_));
        if (address(proofAdapter_) != address(0)) _requireCode(address(proofAdapter_));
        // Above the limit no window is long enough; without gas prices and costs bonds would be nothing.
        _requireRange(answerSeconds_, 1, MAX_WINDOW / 4);
        _requireRange(gasPriceFloor_, 1, type(uint64).max);
        _requireRange(gasBase_, 1, type(uint64).max);
        registry = registry_;
        judge = judge_;
        traceReader = traceReader_;
        executionAdapter = executionAdapter_;
        proofAdapter = proofAdapter_;
        answerSeconds = answerSeconds_;
        gasPriceFloor = gasPriceFloor_;
        gasBase = gasBase_;
        gasPerDemand = gasPerDemand_;
        courier = address(new Courier());
    }

    function _requireCode(address part) private view {
        if (part.code.length == 0) revert NotAContract(part);
    }

    function _requireRange(uint256 value, uint256 min, uint256 max) private pure {
        if (value < min || value > max) revert ParameterOutOfRange(value, min, max);
    }
}
