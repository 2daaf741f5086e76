// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "../execution/ExecutionFixture.sol";

/// @notice An agent's contract: what an inference costs inside its own transaction.
contract Caller {
    /// @return output of the model
    /// @return used gas of the call
    function call(IInterpreter interpreter, ModelId modelId, bytes calldata input)
        external
        returns (bytes memory output, uint256 used)
    {
        used = gasleft();
        output = interpreter.infer(modelId, input);
        used -= gasleft();
    }
}

/// @notice Gas of whole inferences with published weights: codec steps, program records and weights included. With
/// --isolate, as `npm run snapshot` runs it, every account is cold.
contract InferenceGasTest is ExecutionFixture {
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
        for (uint256 i = 0; i < v.inputs.length; ++i) {
            (bytes memory output, uint256 used) = _caller.call(planInterpreter, modelId, v.inputs[i]);
            assertEq(output, v.outputs[i], v.name);
            if (i != 0) continue;
            vm.snapshotValue("inference", v.name, used);
            emit log_named_uint(v.name, used);
            assertLe(used, _limit(v.name), v.name);
        }
        return true;
    }

    /// @dev The target of the task, and what the shipped models must not exceed again.
    function _limit(string memory name) private pure returns (uint256) {
        bytes32 id = keccak256(bytes(name));
        if (id == keccak256("mlp")) return 240_000;
        if (id == keccak256("forecast-btc")) return 100_000;
        if (id == keccak256("sentiment")) return 200_000;
        if (id == keccak256("sentiment-words")) return 110_000;
        return 1_200_000;
    }

    function test_infer_models_succeeds() public {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        uint256 models = 0;
        while (_measure(path)) {
            ++models;
        }
        assertEq(models, 5);
    }
}
