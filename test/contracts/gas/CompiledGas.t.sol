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
        compileModel(modelId, v.program, v.weights);
        prepare(modelId);
        for (uint256 i = 0; i < v.inputs.length; ++i) {
            (bytes memory output, uint256 used) = _caller.callFast(fastInterpreter, modelId, v.inputs[i]);
            assertEq(output, v.outputs[i], v.name);
            if (i != 0) continue;
            string memory name = string.concat(v.name, ", compiled");
            vm.snapshotValue("inference-compiled", name, used);
            emit log_named_uint(name, used);
            assertLe(used, _limit(v.name), v.name);
        }
        return true;
    }

    /// @dev What the models must not exceed.
    function _limit(string memory name) private pure returns (uint256) {
        return keccak256(bytes(name)) == keccak256("mlp") ? 95_000 : 2_000_000;
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
