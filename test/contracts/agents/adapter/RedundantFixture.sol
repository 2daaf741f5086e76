// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentAdapter} from "../../../../verifier-contracts/agents/adapter/AgentAdapter.sol";
import {ModelResults} from "../../../../verifier-contracts/agents/adapter/ModelResults.sol";
import {RedundantResults} from "../../../../verifier-contracts/agents/adapter/RedundantResults.sol";
import {IInterpreter} from "../../../../verifier-contracts/interfaces/IInterpreter.sol";
import {LANE_BOND} from "../../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../../support/assay/AssayFixture.sol";
import {IJsonSelector, PriceOracle} from "./PriceOracle.sol";

/// @notice Three executors of which two must agree, an adapter, and the text's consumer.
abstract contract RedundantFixture is AssayFixture {
    uint96 internal constant ROUND_FEE = 0.03 ether + 1;
    uint96 internal constant EXECUTOR_BOND = 1 ether;
    uint32 internal constant COMMIT = 60;
    uint32 internal constant REVEAL = 90;
    uint32 internal constant CHALLENGE = 5_000;
    bytes32 internal constant SALT = keccak256("salt");

    string internal constant URL = "https://api.example.com/price";
    string internal constant PATH = "eth.usd";

    RedundantResults internal results;
    AgentAdapter internal adapter;
    PriceOracle internal oracle;
    address[] internal executors;

    function setUp() public virtual override {
        super.setUp();
        executors.push(makeAddr("executor 0"));
        executors.push(makeAddr("executor 1"));
        executors.push(makeAddr("executor 2"));
        _deploy(_terms(), ModelResults(address(0)));
    }

    function _terms() internal pure returns (RedundantResults.Terms memory) {
        return RedundantResults.Terms(2, 4_096, ROUND_FEE, EXECUTOR_BOND, COMMIT, REVEAL, 0, 0);
    }

    function _deploy(RedundantResults.Terms memory t, ModelResults truth) internal {
        results = new RedundantResults(executors, t, truth);
        adapter = new AgentAdapter(results);
        oracle = new PriceOracle(address(adapter));
        for (uint256 i = 0; i < executors.length; ++i) {
            hoax(executors[i], 10 ether);
            results.deposit{value: t.bond}();
        }
    }

    /// @notice Model results of the fixture's model by claims.
    function _modelResults() internal returns (ModelResults) {
        return new ModelResults(
            assay, IInterpreter(address(0)), ModelResults.Terms(MODEL, LANE_BOND | 1, 0, WINDOW, FEE, 1 days)
        );
    }

    function _deployWithTruth() internal returns (ModelResults truth) {
        truth = _modelResults();
        RedundantResults.Terms memory t = _terms();
        t.challengeSeconds = CHALLENGE;
        _deploy(t, truth);
    }

    function _call() internal pure returns (bytes memory) {
        return abi.encodeCall(IJsonSelector.fetch, (URL, PATH));
    }

    function _price(string memory value) internal pure returns (bytes memory) {
        return abi.encode(value);
    }

    function _request(bytes memory data) internal returns (bytes32) {
        vm.prank(alice);
        return results.request{value: ROUND_FEE}(data);
    }

    function _commit(bytes32 roundId, uint256 i, bytes memory output) internal {
        bytes32 commitment = results.commitmentOf(roundId, executors[i], keccak256(output), SALT);
        vm.prank(executors[i]);
        results.commit(roundId, commitment);
    }

    function _reveal(bytes32 roundId, uint256 i, bytes memory output) internal {
        vm.prank(executors[i]);
        results.reveal(roundId, output, SALT);
    }

    /// @notice A whole round in which all three answer.
    function _round(bytes memory data, bytes memory a, bytes memory b, bytes memory c)
        internal
        returns (bytes32 roundId)
    {
        roundId = _request(data);
        bytes[3] memory outputs = [a, b, c];
        for (uint256 i = 0; i < 3; ++i) {
            _commit(roundId, i, outputs[i]);
        }
        for (uint256 i = 0; i < 3; ++i) {
            _reveal(roundId, i, outputs[i]);
        }
    }

    function _notFinal(bytes memory data) internal view returns (bytes memory) {
        (address target, uint256 value, bytes memory request) = results.requestFor(data);
        return abi.encodeWithSelector(AgentAdapter.AgentResultNotFinal.selector, target, value, request);
    }

    function _result(bytes memory data) internal view returns (bytes memory) {
        (bool isFinal, bytes memory result) = results.resultOf(data);
        assertTrue(isFinal);
        return result;
    }

    function _assertNotFinal(bytes memory data) internal view {
        (bool isFinal, bytes memory result) = results.resultOf(data);
        assertFalse(isFinal);
        assertEq(result, "");
    }
}
