// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {StreamCompiler} from "../execution/compiled/StreamCompiler.sol";
import {Caller} from "./InferenceGas.t.sol";

/// @notice Gas of whole inferences with compiled layers, codec steps and program records included. With --isolate, as
/// `npm run snapshot` runs it, every account is cold.
contract CompiledGasTest is StreamCompiler {
    event log_named_uint(string key, uint256 val);

    Caller private _caller;

    function setUp() public override {
        super.setUp();
        _caller = new Caller();
    }

    /// @dev Calls of the test itself are transactions of their own.
    function _measure(string memory path) private returns (bool) {
        bytes memory line = bytes(vm.readLine(path));
        if (line.length != 0 && line[0] == "]") return false;
        ModelRun memory v = readModelRun(vm.parseBytes(this.unquoted(line)));
        ModelId modelId = publishRun(v);
        prepare(modelId);
        compileModel(modelId, v.program, v.weights);
        for (uint256 i = 0; i < v.inputs.length; ++i) {
            (bytes memory output, uint256 used) = _caller.call(planInterpreter, modelId, v.inputs[i]);
            assertEq(output, v.outputs[i], v.name);
            if (i != 0) continue;
            string memory name = string.concat(v.name, ", compiled");
            vm.snapshotValue("inference-compiled", name, used);
            emit log_named_uint(name, used);
            if (keccak256(bytes(v.name)) == keccak256("mlp")) assertLe(used, 95_000);
        }
        return true;
    }

    function test_infer_compiledModels_succeeds() public {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        uint256 models = 0;
        while (_measure(path)) {
            ++models;
        }
        assertEq(models, 5);
    }
}
