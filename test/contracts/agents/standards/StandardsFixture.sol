// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {FinalityTerms} from "../../../../verifier-contracts/agents/standards/Finality.sol";
import {Claim, LANE_EXECUTION, Request} from "../../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../../support/assay/AssayFixture.sol";

/// @notice A claim in each state that a standard's contract must tell apart.
abstract contract StandardsFixture is AssayFixture {
    uint96 internal constant MIN_BOND = 1_000;

    function _anyLane() internal pure returns (FinalityTerms memory) {
        return FinalityTerms(ALL_LANES, MIN_BOND, WINDOW);
    }

    function _finalClaim() internal returns (Request memory r, Claim memory c) {
        (r, c) = _filedAndClaimed(_right());
        skip(WINDOW);
    }

    /// @notice A claim of a wrong output that execution ended.
    function _fallenClaim() internal returns (Request memory r, Claim memory c) {
        (r, c) = _filedAndClaimed(_wrong());
        _settleRight(r, c);
    }

    /// @notice A request that truth settled while nobody had claimed.
    function _settled() internal returns (Request memory r, Claim memory none) {
        r = _newRequest();
        _file(r);
        _settleRight(r, none);
    }

    function _settleRight(Request memory r, Claim memory c) internal {
        execution.setRight(MODEL, _input(), _right());
        bytes memory evidence = execution.evidenceFor(alice);
        vm.prank(alice);
        assay.settle(r, c, LANE_EXECUTION, _input(), _right(), evidence);
    }
}
