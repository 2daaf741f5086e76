// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ModelResults} from "../../../../verifier-contracts/agents/adapter/ModelResults.sol";
import {RedundantResults} from "../../../../verifier-contracts/agents/adapter/RedundantResults.sol";
import {RedundantFixture} from "./RedundantFixture.sol";

/// @notice The largest terms that redundant results take, in transactions of 2^24 gas.
contract RedundantLimitsTest is RedundantFixture {
    uint256 private constant MOST_GAS = 1 << 24;
    uint256 private constant MOST_EXECUTORS = 16;
    uint256 private constant LONGEST = 1 << 14;

    /// @dev Sixteen executors, of whom the last one makes the agreement of all, on an answer of 16 KB: the dearest reveal.
    function test_reveal_largestTerms_succeeds() public {
        for (uint256 i = executors.length; i < MOST_EXECUTORS; ++i) {
            executors.push(makeAddr(string(abi.encodePacked("executor ", i))));
        }
        RedundantResults.Terms memory terms = _terms();
        (terms.agreement, terms.maxOutputBytes) = (uint8(MOST_EXECUTORS), uint32(LONGEST));
        _deploy(terms, ModelResults(address(0)));
        bytes32 roundId = _request(_call());
        bytes memory output = new bytes(LONGEST);
        for (uint256 i; i < LONGEST; i++) {
            output[i] = 0xff;
        }
        for (uint256 i; i < MOST_EXECUTORS; i++) {
            bytes32 hash = results.commitmentOf(roundId, executors[i], keccak256(output), SALT);
            vm.prank(executors[i]);
            results.commit(roundId, hash);
        }
        bytes memory data = abi.encodeCall(results.reveal, (roundId, output, SALT));
        uint256 intrinsic = 21_000 + 16 * data.length;
        for (uint256 i; i < MOST_EXECUTORS; i++) {
            vm.cool(address(results));
            vm.prank(executors[i]);
            (bool success,) = address(results).call{gas: MOST_GAS - intrinsic}(data);
            assertTrue(success, "the reveal does not fit a transaction");
        }
        (bool isFinal, bytes memory result) = results.resultOf(_call());
        assertTrue(isFinal);
        assertEq(result, output);
        assertEq(results.credits(executors[0]), ROUND_FEE / MOST_EXECUTORS);
    }
}
