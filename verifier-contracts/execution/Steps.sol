// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Kernels} from "../generated/Kernels.sol";
import {Flat} from "../libraries/Flat.sol";
import {Machine, Machines} from "../libraries/Machine.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {OP_DOT} from "../types/Program.sol";
import {CompiledLayer} from "./compiled/CompiledLayer.sol";

/// @notice The steps of a program, one after another.
library Steps {
    /// @notice Finds where each weight tensor is in the stream.
    function describeWeights(Machine memory m) internal pure {
        unchecked {
            uint256 count = ModelWord.weights(m.word);
            uint256 place = Flat.reserve(32 * count);
            m.weights = place;
            uint256 descriptor = m.records - ProgramReader.DESCRIPTOR_BYTES * count;
            uint256 offset = 0;
            for (; descriptor < m.records; descriptor += ProgramReader.DESCRIPTOR_BYTES) {
                uint256 flat;
                (flat, offset) = Flat.describeWeight(descriptor, offset);
                assembly ("memory-safe") {
                    mstore(place, flat)
                }
                place += 32;
            }
            if (offset <= ProgramReader.CHUNK_BYTES) m.whole = offset;
        }
    }

    /// @notice Runs the first steps. @param steps how many, at least 1 @return flat the last one's tensor
    function run(Machine memory m, uint256 steps) internal view returns (uint256 flat) {
        unchecked {
            uint256 record = m.records;
            uint256 place = m.steps;
            for (uint256 end = place + 32 * steps; place < end; place += 32) {
                flat = runStep(m, record);
                assembly ("memory-safe") {
                    mstore(place, flat)
                }
                record += ProgramReader.RECORD_BYTES;
            }
        }
    }

    /// @notice Runs one step: its record and the tensors of its operands make its tensor, nothing else does.
    /// @param record memory of it @return flat its tensor
    function runStep(Machine memory m, uint256 record) internal view returns (uint256 flat) {
        uint256 head = Flat.load(record);
        uint256 out;
        unchecked {
            out = Flat.describe(record + 32, ProgramReader.outputType(head), ProgramReader.outputRank(head));
        }
        uint256 opcode = ProgramReader.opcode(head);
        if (opcode == OP_DOT && CompiledLayer.isAt(m.compiled, _indexOf(m, record))) {
            return _compiled(m, out, Machines.operand(m, head, 0));
        }
        return Kernels.run(opcode, m, record, head, out);
    }

    function _indexOf(Machine memory m, uint256 record) private pure returns (uint256) {
        unchecked {
            return (record - m.records) / ProgramReader.RECORD_BYTES;
        }
    }

    /// @dev A DOT step by the code that LayerBuilder made of it.
    function _compiled(Machine memory m, uint256 out, uint256 a) private view returns (uint256 flat) {
        unchecked {
            flat = Flat.allocate(out);
            uint256 rows = Flat.count(out) / Flat.last(out);
            uint256 size = Flat.size(out);
            m.compiled = CompiledLayer.run(
                m.compiled, Flat.pointer(a), Flat.size(a), Flat.pointer(flat), rows, size / rows
            );
        }
    }
}
