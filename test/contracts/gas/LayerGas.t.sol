// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {CompiledLayer} from "../../../verifier-contracts/execution/compiled/CompiledLayer.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {LayerCase} from "../execution/compiled/LayerFixture.sol";
import {RandomLayers} from "../execution/compiled/RandomLayers.sol";

/// @notice Runs one compiled layer twice: with every account cold, then warm.
contract LayerCaller {
    function run(address builder, ModelId modelId, bytes memory activations, uint256 rows, uint256 rowBytes)
        external
        view
        returns (uint256 cold, uint256 warm, bytes memory output)
    {
        output = new bytes(rows * rowBytes);
        cold = _run(builder, modelId, activations, output, rows);
        warm = _run(builder, modelId, activations, output, rows);
    }

    function _run(
        address builder,
        ModelId modelId,
        bytes memory activations,
        bytes memory output,
        uint256 rows
    ) private view returns (uint256 used) {
        uint256 a;
        uint256 o;
        assembly {
            a := add(activations, 32)
            o := add(output, 32)
        }
        used = gasleft();
        uint256 cursor = CompiledLayer.open(builder, modelId);
        CompiledLayer.run(cursor, a, activations.length, o, rows, output.length / rows);
        used -= gasleft();
    }
}

/// @notice Gas of single compiled layers, directory and calls included, and of building them. With --isolate, as
/// `npm run snapshot` runs it, every account is cold.
contract LayerGasTest is RandomLayers {
    event log_named_uint(string key, uint256 val);

    LayerCaller private _caller;

    function setUp() public override {
        super.setUp();
        _caller = new LayerCaller();
    }

    /// @return warm gas for 1,000 multiply-accumulates
    function _measure(string memory name, uint32 length, uint32 rows, uint32 outputs, uint8 variant)
        private
        returns (uint256 warm)
    {
        LayerCase memory l;
        (l.length, l.rows, l.groups, l.outputs, l.variant) = (length, rows, 1, outputs, variant);
        fill(l, 3, false);
        ModelId modelId = compile(l);
        bytes memory activations = activationsOf(l, 3);
        uint256 cold;
        bytes memory output;
        (cold, warm, output) = _caller.run(address(builder), modelId, activations, outputs, width(l) * rows);
        assertEq(output, runJudged(l, activations), name);
        _record(string.concat(name, ", cold"), cold);
        _record(string.concat(name, ", warm"), warm);
        warm = warm * 1000 / (uint256(length) * rows * outputs);
        emit log_named_uint("warm gas for 1,000 multiply-accumulates", warm);
    }

    function _record(string memory name, uint256 used) private {
        vm.snapshotValue("compiled-layer", name, used);
        emit log_named_uint(name, used);
    }

    function test_run_layers_succeeds() public {
        assertLe(_measure("256 to 64", 256, 64, 1, 1), 3000);
        _measure("64 to 32", 64, 32, 1, 1);
        _measure("32 to 2, s32", 32, 2, 1, 0);
        assertLe(_measure("512 to 12, 7 rows", 512, 12, 7, 1), 3000);
        _measure("12 to 96, 7 rows, s32", 12, 96, 7, 0);
        assertLe(_measure("992 to 12", 992, 12, 1, 1), 3000);
    }

    /// @dev A whole part in one transaction, far below the limit of EIP-7825.
    function test_build_part_succeeds() public {
        LayerCase memory l;
        (l.length, l.rows, l.groups, l.outputs, l.variant) = (256, 23, 1, 1, 1);
        fill(l, 3, false);
        ModelId modelId = registerLayer(l);
        address part = buildPart(modelId, l, 0, 23);
        uint256 used = vm.snapshotGasLastCall("compiled-layer", "build 23 rows of 256");
        emit log_named_uint("build 23 rows of 256", used);
        emit log_named_uint("of that for code, 200 a byte", 200 * part.code.length);
        assertLe(used, 16_700_000);
    }
}
