// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IFastInterpreter} from "../../../verifier-contracts/interfaces/IFastInterpreter.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "../execution/ExecutionFixture.sol";

/// @notice An agent's contract: what an inference costs inside its own transaction.
contract Caller {
    /// @return output of the model
    /// @return used gas of the call
    function call(IInterpreter interpreter, ModelId modelId, bytes calldata input)
        external
        view
        returns (bytes memory output, uint256 used)
    {
        used = gasleft();
        output = interpreter.infer(modelId, input);
        used -= gasleft();
    }

    /// @notice The same by the plan or compiled layers.
    function callFast(IFastInterpreter interpreter, ModelId modelId, bytes calldata input)
        external
        view
        returns (bytes memory output, uint256 used)
    {
        used = gasleft();
        output = interpreter.inferFast(modelId, input);
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
        bool isPlanned = prepare(modelId);
        for (uint256 i = 0; i < v.inputs.length; ++i) {
            (bytes memory output, uint256 used) = _caller.call(interpreter, modelId, v.inputs[i]);
            assertEq(output, v.outputs[i], v.name);
            if (i == 0) _report(v.name, used);
            if (!isPlanned) continue;
            (output, used) = _caller.callFast(fastInterpreter, modelId, v.inputs[i]);
            assertEq(output, v.outputs[i], v.name);
            if (i == 0) _report(string.concat(v.name, ", planned"), used);
        }
        return true;
    }

    function _report(string memory name, uint256 used) private {
        vm.snapshotValue("inference", name, used);
        emit log_named_uint(name, used);
        assertLe(used, _limit(keccak256(bytes(name))), name);
    }

    /// @dev What the shipped models must not exceed.
    function _limit(bytes32 name) private pure returns (uint256) {
        if (name == keccak256("mlp")) return 240_000;
        if (name == keccak256("forecast-btc")) return 350_000;
        if (name == keccak256("forecast-btc, planned")) return 120_000;
        if (name == keccak256("sentiment")) return 550_000;
        if (name == keccak256("sentiment, planned")) return 350_000;
        return 2_600_000;
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
