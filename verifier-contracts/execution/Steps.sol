// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Kernels} from "../generated/Kernels.sol";
import {Flat, describeFlat, describeWeight} from "../libraries/Flat.sol";
import {Machine, Machines} from "../libraries/Machine.sol";
import {Memory} from "../libraries/Memory.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {RecordHead} from "../libraries/RecordHead.sol";
import {OP_DOT} from "../types/Program.sol";
import {CompiledLayer} from "./compiled/CompiledLayer.sol";

/// @notice The steps of a program, one after another.
library Steps {
    /// @notice Finds where each weight tensor is in the stream.
    function describeWeights(Machine memory m) internal pure {
        unchecked {
            uint256 count = m.word.weights();
            uint256 place = Memory.reserve(32 * count);
            m.weights = place;
            uint256 descriptor = m.records - ProgramReader.DESCRIPTOR_BYTES * count;
            uint256 offset = 0;
            for (; descriptor < m.records; descriptor += ProgramReader.DESCRIPTOR_BYTES) {
                Flat flat;
                (flat, offset) = describeWeight(descriptor, offset);
                assembly ("memory-safe") {
                    mstore(place, flat)
                }
                place += 32;
            }
            if (offset <= ProgramReader.CHUNK_BYTES) m.whole = offset;
        }
    }

    /// @notice Runs the first steps. @param steps how many, at least 1 @return flat the last one's tensor
    function run(Machine memory m, uint256 steps) internal view returns (Flat flat) {
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
    function runStep(Machine memory m, uint256 record) internal view returns (Flat flat) {
        RecordHead head = RecordHead.wrap(Memory.load(record));
        Flat out;
        unchecked {
            out = describeFlat(record + 32, head.outputType(), head.outputRank());
        }
        uint256 opcode = head.opcode();
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
    function _compiled(Machine memory m, Flat out, Flat a) private view returns (Flat flat) {
        unchecked {
            flat = out.allocate();
            uint256 rows = out.count() / out.last();
            uint256 size = out.size();
            m.compiled =
                CompiledLayer.run(m.compiled, a.pointer(), a.size(), flat.pointer(), rows, size / rows);
        }
    }
}
