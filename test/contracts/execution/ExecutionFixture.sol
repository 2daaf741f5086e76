// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {CodecJudge} from "../../../verifier-contracts/CodecJudge.sol";
import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {ElementCheck} from "../../../verifier-contracts/execution/ElementCheck.sol";
import {FastInterpreter} from "../../../verifier-contracts/execution/FastInterpreter.sol";
import {Interpreter} from "../../../verifier-contracts/execution/Interpreter.sol";
import {LayerBuilder} from "../../../verifier-contracts/execution/LayerBuilder.sol";
import {Planner} from "../../../verifier-contracts/execution/Planner.sol";
import {WeightStore} from "../../../verifier-contracts/execution/WeightStore.sol";
import {IPlanner} from "../../../verifier-contracts/interfaces/IPlanner.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {VectorFixture} from "../judge/VectorFixture.sol";

/// @notice Registry, weight store and interpreter.
abstract contract ExecutionFixture is VectorFixture {
    uint8 internal constant EXECUTION = 1;
    uint256 internal constant ALL = type(uint256).max;

    WeightStore internal store;
    LayerBuilder internal builder;
    ElementCheck internal elementCheck;
    /// @dev Runs records.
    Interpreter internal interpreter;
    Planner internal planner;
    /// @dev Runs plans where there are any, else asks the other one, with compiled layers.
    FastInterpreter internal fastInterpreter;

    struct RunVector {
        bytes program;
        bytes4 selector;
        bytes weights;
        bytes32 weightsRoot;
        bytes input;
        bytes output;
    }

    function setUp() public virtual override {
        super.setUp();
        store = new WeightStore(registry);
        builder = new LayerBuilder(registry);
        FloatJudge floats = new FloatJudge();
        CodecJudge codecs = new CodecJudge();
        elementCheck = new ElementCheck(registry, address(store), floats, codecs);
        interpreter =
            new Interpreter(registry, address(store), address(builder), floats, codecs, elementCheck);
        planner = new Planner(address(store), address(builder));
        fastInterpreter = new FastInterpreter(interpreter, address(planner));
    }

    function registerRun(RunVector memory v) internal returns (ModelId) {
        return registry.register(chunksOf(v.program), v.weightsRoot, v.selector, EXECUTION | BOND, 0);
    }

    /// @notice Stores a stream. @return chunks its data contracts
    function storeWeights(bytes memory weights) internal returns (address[] memory chunks) {
        uint256 count = (weights.length + CHUNK - 1) / CHUNK;
        chunks = new address[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 end = i + 1 == count ? weights.length : (i + 1) * CHUNK;
            chunks[i] = store.storeChunk(this.slice(weights, i * CHUNK, end));
        }
    }

    /// @notice Runs of a model; program and weights of a shipped one are in its folder.
    struct ModelRun {
        string name;
        bytes program;
        bytes weights;
        bytes32 weightsRoot;
        bytes4 selector;
        bytes[] inputs;
        bytes[] outputs;
    }

    function readModelRun(bytes memory blob) internal view returns (ModelRun memory v) {
        v = abi.decode(blob, (ModelRun));
        if (v.program.length != 0) return v;
        v.program = vm.readFileBinary(string.concat("models/", v.name, "/program.bin"));
        v.weights = vm.readFileBinary(string.concat("models/", v.name, "/weights.bin"));
    }

    function publishRun(ModelRun memory v) internal returns (ModelId modelId) {
        modelId = registry.register(chunksOf(v.program), v.weightsRoot, v.selector, EXECUTION | BOND, 0);
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
    }

    /// @notice Prepares a published model. @return prepared false for a program that no plan has
    function prepare(ModelId modelId) internal returns (bool prepared) {
        try planner.prepare(modelId) returns (address plan) {
            assertEq(plan, planner.planOf(modelId));
            assertGt(plan.code.length, 1);
            return true;
        } catch (bytes memory reason) {
            assertEq(bytes4(reason), IPlanner.NotPlannable.selector);
            assertEq(planner.planOf(modelId).code.length, 0);
        }
    }
}
