// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {CompiledLayer} from "../../../../verifier-contracts/execution/compiled/CompiledLayer.sol";
import {ModelId} from "../../../../verifier-contracts/types/Types.sol";
import {StreamCompiler} from "./StreamCompiler.sol";

/// @dev Whole runs with compiled layers against the executor: the same vectors as the interpreter's.
contract CompiledRunsTest is StreamCompiler {
    uint256 private _parts;
    uint256 private _plans;

    function checkRun(bytes memory blob) external returns (uint256) {
        RunVector memory v = abi.decode(blob, (RunVector));
        if (!hasCompilable(v.program)) return 0;
        ModelId modelId = registerRun(v);
        assertEq(interpreter.inferWith(modelId, v.input, v.weights), v.output, "interpreted");
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        uint256 parts = compileModel(modelId, v.program, v.weights);
        _parts += parts;
        assertEq(builder.directoryOf(modelId).code.length, 1 + 32 * parts);
        assertEq(interpreter.inferCompiled(modelId, v.input), v.output, "compiled");
        if (prepare(modelId)) {
            ++_plans;
            assertEq(fastInterpreter.inferFast(modelId, v.input), v.output, "planned");
        }
        return parts;
    }

    function test_infer_compiledVectors_succeeds() public {
        forEachVector("test/vectors/run.json", this.checkRun);
        assertGt(_parts, 5, "programs with DOT steps are among them");
        assertGt(_plans, 3, "programs with plans are among them");
    }

    /// @dev A model without a directory has no compiled step, whatever stands in memory.
    function test_open_notBound_succeeds() public view {
        uint256 cursor = CompiledLayer.open(address(builder), ModelId.wrap(keccak256("nobody")));
        for (uint256 step = 0; step < 8; ++step) {
            assertFalse(CompiledLayer.isAt(cursor, step));
        }
        assertFalse(CompiledLayer.isAt(CompiledLayer.NONE, 0));
    }
}
