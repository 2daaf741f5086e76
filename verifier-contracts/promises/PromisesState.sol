// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {IPromiseReader} from "../interfaces/IPromiseReader.sol";
import {IPromises} from "../interfaces/IPromises.sol";
import {Account, BatchId, BatchState, Filing, LeafState, SignedState} from "../types/PromiseTypes.sol";
import {ClaimId} from "../types/Types.sol";
import {PromiseReader} from "./PromiseReader.sol";

/// @notice Storage, constants and plain views. Nobody owns this contract, and no constant can change.
abstract contract PromisesState is IPromises {
    uint256 internal constant MAX_LIFE = 1 days;
    uint256 internal constant EXIT_SECONDS = MAX_LIFE + 7 days;
    uint256 private constant BASE_FEE_FACTOR = 5;

    IAssay public immutable assay;
    uint256 public immutable baseWindow;
    /// @inheritdoc IPromises
    IPromiseReader public immutable reader;
    uint256 internal immutable _answerSeconds;
    uint256 private immutable _gasPriceFloor;
    uint256 private immutable _gasBase;
    uint256 private immutable _gasPerDemand;

    mapping(address prover => Account) internal _accounts;
    /// @inheritdoc IPromises
    mapping(address prover => mapping(address key => uint40)) public boundUntil;
    mapping(bytes32 digest => SignedState) internal _signed;
    mapping(BatchId => BatchState) internal _batches;
    mapping(BatchId => mapping(uint256 index => LeafState)) internal _leaves;
    mapping(ClaimId => Filing) internal _filings;

    constructor(IAssay assay_) {
        assay = assay_;
        reader = new PromiseReader(assay_.registry(), assay_.judge());
        _answerSeconds = assay_.answerSeconds();
        baseWindow = 4 * _answerSeconds;
        _gasPriceFloor = assay_.gasPriceFloor();
        _gasBase = assay_.gasBase();
        _gasPerDemand = assay_.gasPerDemand();
        // A claim that is opened at once needs a window of so much.
        if (MAX_LIFE + baseWindow > 30 days) revert WindowOutOfRange(MAX_LIFE + baseWindow, 0, 30 days);
    }

    /// @inheritdoc IPromises
    function accountOf(address prover) external view returns (Account memory) {
        return _accounts[prover];
    }

    /// @inheritdoc IPromises
    function signedState(bytes32 digest) external view returns (SignedState memory) {
        return _signed[digest];
    }

    /// @inheritdoc IPromises
    function batchState(BatchId batchId) external view returns (BatchState memory) {
        return _batches[batchId];
    }

    /// @inheritdoc IPromises
    function leafState(BatchId batchId, uint256 index) external view returns (LeafState memory) {
        return _leaves[batchId][index];
    }

    /// @inheritdoc IPromises
    function filingOf(ClaimId claimId) external view returns (Filing memory) {
        return _filings[claimId];
    }

    /// @dev What a claim filed now is priced at, wei a unit of gas. Nobody names it: who could would choose the bond.
    function _gasPrice() internal view returns (uint256 price) {
        price = BASE_FEE_FACTOR * block.basefee;
        if (price < _gasPriceFloor) price = _gasPriceFloor;
    }

    /// @dev Assay's bond for a first claim now. @param depth the model's d
    function _bond(uint256 depth, uint256 least) internal view returns (uint256 bond) {
        bond = 20 * (_gasBase + _gasPerDemand * depth) * _gasPrice();
        if (bond < least) bond = least;
        if (bond > type(uint96).max) revert BondTooLarge(bond, type(uint96).max);
    }

    /// @dev D: Assay's ticket bond for this one.
    function _ticketBond(uint256 bond) internal pure returns (uint256) {
        return bond / 10;
    }

    /// @dev What can back a claim now.
    function _home(Account storage a) internal view returns (uint256) {
        return uint256(a.free) + a.leaving;
    }

    function _stake(Account storage a) internal view returns (uint256) {
        return _home(a) + a.away + a.slots;
    }

    function _requireQueueEmpty(address prover) internal view {
        bytes32 head = _accounts[prover].head;
        if (head != 0) revert QueueNotEmpty(prover, head);
    }

    /// @dev Passes for the prover and for a key that binds it now.
    function _requireProver(address prover) internal view {
        if (msg.sender != prover && boundUntil[prover][msg.sender] < block.timestamp) {
            revert NotProver(msg.sender, prover, address(0));
        }
    }
}
