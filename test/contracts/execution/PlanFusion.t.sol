// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {StreamCompiler} from "./compiled/StreamCompiler.sol";

/// @dev Instructions that stand for many steps against the records' interpreter: the shipped programs that have them,
/// with weights at which they must give way, and at which they must not.
contract PlanFusionTest is StreamCompiler {
    /// @dev Offsets in the streams of models/forecast-hourly and models/sentiment.
    uint256 private constant PARAMETERS = 32;
    uint256 private constant COLUMNS = 7;
    uint256 private constant BIAS = 4096 * 96;

    function _run(string memory name) private returns (ModelRun memory run) {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        do {
            run = readModelRun(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))));
        } while (keccak256(bytes(run.name)) != keccak256(bytes(name)));
        vm.closeFile(path);
    }

    /// @dev Registers the program with these weights instead.
    function _publish(ModelRun memory run) private returns (ModelId) {
        uint256 tensors = uint256(uint8(run.program[4])) << 8 | uint8(run.program[5]);
        bytes memory descriptors = this.slice(run.program, 32, 32 + 32 * tensors);
        (, run.weightsRoot) = store.foldWeights(descriptors, run.weights);
        return publishRun(run);
    }

    function _set(bytes memory data, uint256 offset, uint256 value, uint256 size) private pure {
        for (uint256 i = 0; i < size; ++i) {
            data[offset + i] = bytes1(uint8(value >> (8 * (size - 1 - i))));
        }
    }

    function _compare(ModelId modelId, bytes[] memory inputs) private view {
        for (uint256 i = 0; i < inputs.length; ++i) {
            assertEq(planInterpreter.infer(modelId, inputs[i]), interpreter.infer(modelId, inputs[i]));
        }
    }

    function _hourly(ModelRun memory run) private {
        ModelId modelId = _publish(run);
        assertGt(compileModel(modelId, run.program, run.weights), 0);
        assertTrue(prepare(modelId));
        _compare(modelId, run.inputs);
    }

    /// @dev One column whose M is 2, whose S is large, whose clamps are in no order, or whose B is far away.
    function test_infer_lanesOutOfLimits_succeeds() public {
        ModelRun memory run = _run("forecast-hourly");
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory kept = bytes.concat(run.weights);
            uint256 word = PARAMETERS + 32 * (i % COLUMNS);
            if (i == 0) _set(run.weights, word + 4, 2, 4);
            if (i == 1) _set(run.weights, word + 16, 9, 1);
            if (i == 2) _set(run.weights, word + 22, 0xFF00, 2);
            if (i == 3) _set(run.weights, word + 8, 1 << 62, 8);
            _hourly(run);
            run.weights = kept;
        }
    }

    /// @dev Within limits: other clamps, numbers far from the data's on either side.
    function test_infer_lanesWithinLimits_succeeds() public {
        ModelRun memory run = _run("forecast-hourly");
        for (uint256 column = 0; column < COLUMNS; ++column) {
            uint256 word = PARAMETERS + 32 * column;
            _set(run.weights, word + 16, column + 1, 1);
            _set(run.weights, word + 22, column * 20 << 8 | (255 - column), 2);
            _set(run.weights, word, uint256(int256(20_000) * (int256(column) - 3)), 4);
        }
        _hourly(run);
    }

    /// @dev Any lanes at all, saturating everywhere.
    function test_infer_lanesAtTheEnds_succeeds() public {
        ModelRun memory run = _run("forecast-hourly");
        for (uint256 i = 0; i < run.inputs.length; ++i) {
            for (uint256 j = 68; j < run.inputs[i].length; ++j) {
                run.inputs[i][j] = bytes1(uint8(uint256(keccak256(abi.encode(i, j / 32))) >> (8 * (j % 32))));
            }
        }
        _hourly(run);
    }

    /// @dev Biases with which a sum may wrap, and the largest with which it can't; texts of no, one and all tokens.
    function test_infer_windowsBiases_succeeds() public {
        ModelRun memory run = _run("sentiment");
        uint256[4] memory biases = [uint256(0x7FFFFFFF), 0x80000000, 0x3FFFFFFF, 0xC0000000];
        bytes[] memory inputs = new bytes[](run.inputs.length + 3);
        for (uint256 i = 0; i < run.inputs.length; ++i) {
            inputs[i] = run.inputs[i];
        }
        bytes4 selector = run.selector;
        inputs[run.inputs.length] = abi.encodeWithSelector(selector, "");
        inputs[run.inputs.length + 1] = abi.encodeWithSelector(selector, "one");
        bytes memory many;
        for (uint256 i = 0; i < 40; ++i) {
            many = bytes.concat(many, "unprecedentedly ");
        }
        inputs[run.inputs.length + 2] = abi.encodeWithSelector(selector, many);
        for (uint256 i = 0; i < biases.length; ++i) {
            _set(run.weights, BIAS + 4 * (9 * i % 32), biases[i], 4);
            ModelId modelId = _publish(run);
            assertTrue(prepare(modelId));
            _compare(modelId, inputs);
            _set(run.weights, BIAS + 4 * (9 * i % 32), 0, 4);
        }
    }
}
