// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentAdapter} from "../../../../verifier-contracts/agents/adapter/AgentAdapter.sol";
import {ModelResults} from "../../../../verifier-contracts/agents/adapter/ModelResults.sol";
import {IAgentResults} from "../../../../verifier-contracts/agents/interfaces/IAgentResults.sol";
import {IAssay} from "../../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IInterpreter} from "../../../../verifier-contracts/interfaces/IInterpreter.sol";
import {Claim, ModelId, Request, RequestId} from "../../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "../../execution/ExecutionFixture.sol";
import {PriceOracle} from "./PriceOracle.sol";
import {RedundantFixture} from "./RedundantFixture.sol";

contract AgentAdapterTest is RedundantFixture {
    // shows: S-38, S-39, S-40, D-73
    function test_fallback_priceOracle_succeeds() public {
        _round(_call(), _price("3021.45"), _price("3021.45"), _price("3021.45"));
        assertEq(oracle.jsonAgent(), address(adapter));
        assertEq(oracle.getPrice(URL, PATH), "3021.45");
        // By a static call too.
        (bool success, bytes memory answer) = address(adapter).staticcall(_call());
        assertTrue(success);
        assertEq(answer, _price("3021.45"));
    }

    // shows: S-39, D-73
    function test_fallback_notFinal_reverts() public {
        vm.expectRevert(_notFinal(_call()));
        oracle.getPrice(URL, PATH);
        _round(_call(), _price("1"), _price("1"), _price("1"));
        // Final for that calldata and no other.
        vm.expectRevert(
            _notFinal(abi.encodeWithSignature("fetch(string,string)", URL, string.concat(PATH, " ")))
        );
        oracle.getPrice(URL, string.concat(PATH, " "));
    }

    // shows: D-73
    /// @dev What the error says is all that a consumer needs to have the result made.
    function test_fallback_errorSaysHowToRequest_succeeds() public {
        (bool success, bytes memory why) = address(adapter).call(_call());
        assertFalse(success);
        assertEq(bytes4(why), AgentAdapter.AgentResultNotFinal.selector);
        bytes memory fields = new bytes(why.length - 4);
        for (uint256 i = 0; i < fields.length; ++i) {
            fields[i] = why[i + 4];
        }
        (address target, uint256 value, bytes memory request) = abi.decode(fields, (address, uint256, bytes));
        vm.prank(alice);
        (success,) = target.call{value: value}(request);
        assertTrue(success);
        bytes32 roundId = results.roundOf(keccak256(_call()));
        for (uint256 i = 0; i < 3; ++i) {
            _commit(roundId, i, _price("2"));
        }
        for (uint256 i = 0; i < 2; ++i) {
            _reveal(roundId, i, _price("2"));
        }
        assertEq(oracle.getPrice(URL, PATH), "2");
    }

    function test_fallback_ether_reverts() public {
        hoax(alice, 1 ether);
        (bool success,) = address(adapter).call{value: 1}(_call());
        assertFalse(success);
    }

    function test_constructor_noCode_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(AgentAdapter.NotAContract.selector, alice));
        new AgentAdapter(IAgentResults(alice));
    }

    // shows: S-38, S-41, D-73
    /// @dev The adapter of a model: what Assay made final under the policy, recorded by anybody.
    function test_fallback_claimedModel_succeeds() public {
        ModelResults model = _modelResults();
        AgentAdapter agent = new AgentAdapter(model);
        (address target, uint256 value, bytes memory request) = model.requestFor(_input());
        assertEq(target, address(assay));
        vm.expectRevert(
            abi.encodeWithSelector(AgentAdapter.AgentResultNotFinal.selector, target, value, request)
        );
        _read(agent, _input());
        vm.prank(requester);
        (bool success, bytes memory filed) = target.call{value: value}(request);
        assertTrue(success);
        Request memory r = _newRequest();
        (r.lanes, r.salt) = (5, 0);
        assertEq(
            RequestId.unwrap(abi.decode(filed, (RequestId))), RequestId.unwrap(assay.requestIdOf(r)), "id"
        );
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.ClaimNotFinal.selector, assay.claimIdOf(c), 1, block.timestamp + 1, 0
            )
        );
        model.record(r, c, _right());
        skip(1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.OutputMismatch.selector, keccak256(_wrong()), keccak256(_right())
            )
        );
        model.record(r, c, _wrong());
        vm.prank(stranger);
        model.record(r, c, _right());
        assertEq(_read(agent, _input()), _right());
        assertEq(model.recordedAt(keccak256(_input())), block.timestamp);
    }

    function test_record_weakerPolicy_reverts() public {
        ModelResults model = _modelResults();
        Request memory r = _newRequest();
        r.window = WINDOW - 1;
        _file(r);
        Claim memory c = _claim(r, prover, _wrong());
        skip(WINDOW);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.WindowTooShort.selector, WINDOW - 1, WINDOW));
        model.record(r, c, _wrong());
        vm.expectRevert(abi.encodeWithSelector(ModelResults.OtherSource.selector, IInterpreter(address(0))));
        model.recordExecuted(_input());
    }

    function _read(AgentAdapter agent, bytes memory data) private returns (bytes memory) {
        (bool success, bytes memory answer) = address(agent).call(data);
        if (success) return answer;
        assembly ("memory-safe") {
            revert(add(answer, 32), mload(answer))
        }
    }
}

/// @dev A model that the chain runs: the agent's result in the same call, from the first one.
contract ExecutedAgentTest is ExecutionFixture {
    // shows: S-38, S-39, S-41
    function test_fallback_executedModel_succeeds() public {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        ModelRun memory run = readModelRun(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))));
        vm.closeFile(path);
        ModelId modelId = publishRun(run);
        ModelResults model = new ModelResults(
            IAssay(address(0)), interpreter, ModelResults.Terms(modelId, EXECUTION, 0, 0, 0, 0)
        );
        AgentAdapter agent = new AgentAdapter(model);
        for (uint256 i = 0; i < 2; ++i) {
            (bool success, bytes memory answer) = address(agent).staticcall(run.inputs[i]);
            assertTrue(success);
            assertEq(answer, run.outputs[i]);
        }
        model.recordExecuted(run.inputs[0]);
        (bool isFinal, bytes memory recorded) = model.resultOf(run.inputs[0]);
        assertTrue(isFinal);
        assertEq(recorded, run.outputs[0]);
        // Not canonical: no result, and the way to request says why.
        bytes memory more = bytes.concat(run.inputs[0], hex"00");
        (address target, uint256 value, bytes memory request) = model.requestFor(more);
        vm.expectRevert(
            abi.encodeWithSelector(AgentAdapter.AgentResultNotFinal.selector, target, value, request)
        );
        this.callRaw(address(agent), more);
        vm.expectRevert(abi.encodeWithSelector(IInterpreter.InputNotCanonical.selector));
        this.callRaw(target, request);
    }

    /// @dev Claims cannot replace what the chain computes.
    function test_record_executedModel_reverts() public {
        ModelResults model = new ModelResults(
            IAssay(address(0)), interpreter, ModelResults.Terms(ModelId.wrap(0), EXECUTION, 0, 0, 0, 0)
        );
        Request memory r;
        Claim memory c;
        vm.expectRevert(abi.encodeWithSelector(ModelResults.OtherSource.selector, interpreter));
        model.record(r, c, "");
    }

    function callRaw(address target, bytes memory data) external {
        (bool success, bytes memory answer) = target.call(data);
        if (success) return;
        assembly ("memory-safe") {
            revert(add(answer, 32), mload(answer))
        }
    }
}
