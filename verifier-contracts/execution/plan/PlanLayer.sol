// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Memory} from "../../libraries/Memory.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {CompiledLayer} from "../compiled/CompiledLayer.sol";
import {PartWord} from "../compiled/PartWord.sol";
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
    function write(Draft memory d, Flat out, Flat a) internal pure returns (Flat flat) {
        unchecked {
            flat = out.at(PlanWriter.allocate(d, out.size()));
            uint256 rows = out.count() / out.last();
            Instruction layer = instruction(Plan.LAYER, 0, flat.pointer(), a.pointer(), 0);
            layer = layer.with(LAYER_SIZE, a.size()).with(LAYER_ROWS, rows);
            PlanWriter.append(d, layer.with(LAYER_ROW_BYTES, out.size() / rows));
            PartWord entry = PartWord.wrap(Memory.load(d.compiled));
            uint256 step = entry.stepCode();
            do {
                PlanWriter.emitWord(d, PartWord.unwrap(entry));
                d.compiled += 32;
                entry = PartWord.wrap(Memory.load(d.compiled));
            } while (entry.stepCode() == step);
            PlanWriter.emitWord(d, 0);
        }
    }
}
