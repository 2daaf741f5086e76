// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Plan} from "../../../verifier-contracts/execution/plan/Plan.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {IPlanner} from "../../../verifier-contracts/interfaces/IPlanner.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "./ExecutionFixture.sol";

/// @dev Whole runs by plans against the executor: the same vectors as the interpreter's, most of them with hostile
/// weights and inputs.
contract PlanRunsTest is ExecutionFixture {
    uint256 private _plans;

    function checkRun(bytes memory blob) external returns (uint256) {
        RunVector memory v = abi.decode(blob, (RunVector));
        ModelId modelId = registerRun(v);
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        if (!prepare(modelId)) return 0;
        ++_plans;
        assertEq(fastInterpreter.inferFast(modelId, v.input), v.output);
        return 1;
    }

    function test_infer_plannedVectors_succeeds() public {
        forEachVector("test/vectors/run.json", this.checkRun);
        assertGe(_plans, 20);
    }

    function _published(string memory name) private returns (ModelId modelId, ModelRun memory run) {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        do {
            run = readModelRun(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))));
        } while (keccak256(bytes(run.name)) != keccak256(bytes(name)));
        vm.closeFile(path);
        modelId = publishRun(run);
    }

    /// @dev Whoever prepares a model again, or with other gas, finds the same plan.
    function test_prepare_twice_succeeds() public {
        (ModelId modelId,) = _published("forecast-btc");
        assertEq(planner.planOf(modelId).code.length, 0);
        vm.expectEmit();
        emit IPlanner.ModelPrepared(modelId, planner.planOf(modelId));
        address plan = planner.prepare(modelId);
        bytes memory code = plan.code;
        // A data contract: nobody can run it.
        assertEq(uint8(code[0]), 0);
        vm.prank(address(0xbad));
        assertEq(planner.prepare(modelId), plan);
        assertEq(plan.code, code);
    }

    /// @dev A plan created with little gas would be an empty one for good: it does not come to be.
    function testFuzz_prepare_littleGas_reverts(uint256 gasLimit) public {
        (ModelId modelId,) = _published("forecast-btc");
        gasLimit = bound(gasLimit, 30_000, 2_000_000);
        (bool success,) = address(planner).call{gas: gasLimit}(abi.encodeCall(planner.prepare, (modelId)));
        uint256 length = planner.planOf(modelId).code.length;
        if (success) assertGt(length, 1 + Plan.HEAD_BYTES);
        else assertEq(length, 0);
    }

    function test_prepare_notPublished_reverts() public {
        ModelId modelId = ModelId.wrap(keccak256("nobody's"));
        vm.expectRevert(abi.encodeWithSelector(IPlanner.NotPublished.selector, modelId));
        planner.prepare(modelId);
    }

    /// @dev The MLP's wide layer is one to compile.
    function test_prepare_largeLayer_reverts() public {
        (ModelId modelId, ModelRun memory run) = _published("mlp");
        vm.expectPartialRevert(IPlanner.NotPlannable.selector);
        planner.prepare(modelId);
        assertEq(fastInterpreter.inferFast(modelId, run.inputs[0]), run.outputs[0]);
    }

    /// @dev Nobody reaches the code that the planner gives to contracts of its own making.
    function test_fallback_outsideCreation_succeeds() public {
        (bool success, bytes memory code) = address(planner).call(hex"12345678");
        assertTrue(success);
        assertEq(code.length, 0);
    }

    /// @dev Refusals are the interpreter's: a caller cannot tell which of both runs a model.
    function test_infer_refusals_reverts() public {
        (ModelId modelId, ModelRun memory run) = _published("forecast-btc");
        ModelId unknown = ModelId.wrap(keccak256("nobody's"));
        bytes memory short = this.slice(run.inputs[0], 0, run.inputs[0].length - 1);
        for (uint256 i = 0; i < 2; ++i) {
            vm.expectRevert(IInterpreter.InputNotCanonical.selector);
            fastInterpreter.inferFast(modelId, short);
            vm.expectRevert(IInterpreter.InputNotCanonical.selector);
            fastInterpreter.inferFast(modelId, "");
            assertEq(fastInterpreter.inferFast(modelId, run.inputs[1]), run.outputs[1]);
            planner.prepare(modelId);
        }
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
        fastInterpreter.inferFast(unknown, run.inputs[0]);
    }
}
