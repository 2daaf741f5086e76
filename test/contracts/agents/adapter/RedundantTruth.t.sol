// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ModelResults} from "../../../../verifier-contracts/agents/adapter/ModelResults.sol";
import {IRedundantResults} from "../../../../verifier-contracts/agents/interfaces/IRedundantResults.sol";
import {Claim, Request} from "../../../../verifier-contracts/types/Types.sol";
import {RedundantFixture} from "./RedundantFixture.sol";

/// @dev Where the agent is a model, its truth judges the executors.
contract RedundantTruthTest is RedundantFixture {
    function _recordTruth(ModelResults truth) private {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        truth.record(r, c, _right());
    }

    // shows: S-40
    /// @dev Two of three lie together: whoever shows the truth before finality stops the lie and takes both bonds.
    function test_convict_lyingMajority_succeeds() public {
        ModelResults truth = _deployWithTruth();
        bytes32 roundId = _round(_input(), _wrong(), _wrong(), _right());
        _assertNotFinal(_input());
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.NotContradicted.selector, roundId, executors[0])
        );
        results.convict(roundId, executors[0]);
        _recordTruth(truth);
        assertEq(_result(_input()), _right());
        for (uint256 i = 0; i < 2; ++i) {
            vm.prank(bob);
            results.convict(roundId, executors[i]);
            vm.expectRevert(
                abi.encodeWithSelector(IRedundantResults.MovedAlready.selector, roundId, executors[i])
            );
            results.convict(roundId, executors[i]);
        }
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.NotContradicted.selector, roundId, executors[2])
        );
        results.convict(roundId, executors[2]);
        assertEq(results.credits(bob), EXECUTOR_BOND);
        skip(CHALLENGE);
        assertEq(_result(_input()), _right(), "the lie never becomes final");
        // Half of a convict's bond is gone even if it convicts itself.
        assertEq(results.credits(0x000000000000000000000000000000000000dEaD), EXECUTOR_BOND);
    }

    // shows: S-40
    /// @dev Too late: what was final stays, but the bond of who lied does not.
    function test_convict_afterFinality_succeeds() public {
        ModelResults truth = _deployWithTruth();
        bytes32 roundId = _round(_input(), _wrong(), _wrong(), _right());
        skip(CHALLENGE - 1);
        _assertNotFinal(_input());
        skip(1);
        assertEq(_result(_input()), _wrong());
        _recordTruth(truth);
        assertEq(_result(_input()), _wrong());
        results.convict(roundId, executors[0]);
    }

    function test_convict_dissent_succeeds() public {
        ModelResults truth = _deployWithTruth();
        bytes32 roundId = _round(_input(), _right(), _right(), _wrong());
        _recordTruth(truth);
        vm.prank(executors[2]);
        results.retire();
        vm.prank(executors[0]);
        results.convict(roundId, executors[2]);
        assertEq(results.credits(executors[0]), ROUND_FEE / 2 + EXECUTOR_BOND / 2);
        skip(365 days);
        vm.expectRevert(
            abi.encodeWithSelector(
                IRedundantResults.BondHeld.selector,
                executors[2],
                block.timestamp - 365 days + COMMIT + REVEAL + CHALLENGE
            )
        );
        vm.prank(executors[2]);
        results.takeBond();
    }

    /// @dev A round that comes to an agreement after the truth was recorded changes nothing.
    function test_resultOf_truthFirst_succeeds() public {
        ModelResults truth = _deployWithTruth();
        _recordTruth(truth);
        _round(_input(), _wrong(), _wrong(), _wrong());
        assertEq(_result(_input()), _right());
        skip(CHALLENGE);
        assertEq(_result(_input()), _right());
    }
}
