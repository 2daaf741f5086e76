// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {CompiledLayer} from "../compiled/CompiledLayer.sol";
import {Instruction, LAYER_ROWS, LAYER_ROW_BYTES, LAYER_SIZE, instruction} from "./Instruction.sol";
import {Plan} from "./Plan.sol";
import {Draft, PlanWriter} from "./PlanWriter.sol";

/// @notice Compiled DOT steps in a plan.
library PlanLayer {
    /// @param record memory of a DOT step's record, not below any that this was asked for before
    function isCompiled(Draft memory d, uint256 record) internal pure returns (bool) {
        unchecked {
            return CompiledLayer.isAt(d.compiled, (record - d.records) / ProgramReader.RECORD_BYTES);
        }
    }

    /// @dev The parts' words of the directory follow the instruction, and a zero word that ends them.
    /// @param out its tensor without a pointer @param a operand @return flat the tensor
    function write(Draft memory d, uint256 out, uint256 a) internal pure returns (uint256 flat) {
        unchecked {
            flat = out | PlanWriter.allocate(d, Flat.size(out));
            uint256 rows = Flat.count(out) / Flat.last(out);
            Instruction layer = instruction(Plan.LAYER, 0, Flat.pointer(flat), Flat.pointer(a), 0);
            layer = layer.with(LAYER_SIZE, Flat.size(a)).with(LAYER_ROWS, rows);
            PlanWriter.append(d, layer.with(LAYER_ROW_BYTES, Flat.size(out) / rows));
            uint256 entry = Flat.load(d.compiled);
            uint256 step = entry >> 224;
            do {
                PlanWriter.emitWord(d, entry);
                d.compiled += 32;
                entry = Flat.load(d.compiled);
            } while (entry >> 224 == step);
            PlanWriter.emitWord(d, 0);
        }
    }
}
