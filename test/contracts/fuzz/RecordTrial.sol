// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {IPlanner} from "../../../verifier-contracts/interfaces/IPlanner.sol";
import {Flat} from "../../../verifier-contracts/libraries/Flat.sol";
import {
    ARITH_ROTATE,
    DOT_ACTIVATIONS,
    DOT_RESCALED,
    LOOKUP_BELOW,
    LOOKUP_EACH,
    OP_ARITH,
    OP_DOT,
    OP_LOOKUP,
    OP_REDUCE,
    OP_RESCALE,
    REDUCE_NORM,
    RESCALE_PLANES,
    RESCALE_RATIO
} from "../../../verifier-contracts/types/Program.sol";
import {Vm} from "../support/Vm.sol";
import {Dice} from "./Dice.sol";
import {Engines} from "./Engines.sol";
import {Laid, Layout} from "./Laid.sol";
import {MakeElements} from "./MakeElements.sol";
import {MakeLookup} from "./MakeLookup.sol";
import {MakeMove} from "./MakeMove.sol";
import {MakeRows} from "./MakeRows.sol";
import {Oracle} from "./Oracle.sol";
import {PlanRunner, PlanTask, Planned, StepPlanner} from "./Planned.sol";
import {Case} from "./RecordCase.sol";
import {Tally} from "./Tally.sol";

/// @notice Random records of an opcode, each a program that the registry accepts: the interpreter's kernel, its plan and
/// its compiled code make the tensor whose every element the judge's element function computes, and leave alone what is
/// around it (docs/INVARIANTS.md, 9). Of what nobody runs, LOOKUP each and below, DOT activations, planes, norms, ratios and ARITH rotate, the
/// judge's elements are compared with the plainest loops alone.
contract RecordTrial {
    /// @notice Thrown when a plan makes another element than the kernel.
    error PlanDiffers(uint256 element, uint256 planned, uint256 kernel);
    /// @notice Thrown when compiled code makes another element than the kernel.
    error CompiledDiffers(uint256 element, uint256 compiled, uint256 kernel);

    address private constant CHUNKS = address(0xC0DE0000);
    address private constant PROGRAM = address(0xC0DE1000);

    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    FloatJudge private immutable floatJudge = new FloatJudge();
    PlanRunner private immutable planRunner = new PlanRunner();
    StepPlanner private immutable stepPlanner = new StepPlanner();

    /// @notice Makes the record of a seed, and compares all that computes it. @return facts for Tally
    function tryRecord(uint256 opcode, uint256 seed) external returns (uint256 facts) {
        (Case memory c, Laid memory l, address[] memory chunks) = _make(opcode, seed);
        if (_isJudgedOnly(c)) {
            Oracle.compareJudge(c, l, chunks, floatJudge, Engines.copyArena(l));
            return Tally.facts(c, l, false, false);
        }
        (Flat flat, uint256 arena) = Engines.plain(c, l, chunks, floatJudge, seed % 3);
        Oracle.compare(c, l, chunks, floatJudge, flat, arena);
        bool isPlanned = _tryPlan(c, l, chunks, flat);
        bool isCompiled = opcode == 4 && c.variant < 2 && seed & 2 == 0 && c.operands[1].data.length < 8192;
        if (isCompiled) {
            bytes memory data = this.tryCompiled(opcode, seed);
            uint256 place;
            assembly ("memory-safe") {
                place := add(data, 0x20)
            }
            uint256 i = _difference(place, flat);
            if (i < c.count) revert CompiledDiffers(i, _elementAt(place, flat, i), flat.element(i));
        }
        return Tally.facts(c, l, isPlanned, isCompiled);
    }

    function _isJudgedOnly(Case memory c) private pure returns (bool) {
        if (c.opcode == OP_ARITH) return c.variant == ARITH_ROTATE;
        if (c.opcode == OP_LOOKUP) return c.variant == LOOKUP_EACH || c.variant == LOOKUP_BELOW;
        if (c.opcode == OP_DOT) return c.variant >= DOT_ACTIVATIONS && c.variant <= DOT_RESCALED;
        if (c.opcode == OP_RESCALE) return c.variant == RESCALE_RATIO || c.variant == RESCALE_PLANES;
        return c.opcode == OP_REDUCE && c.variant == REDUCE_NORM;
    }

    /// @notice The program of a seed, whose last record is tried.
    function programOf(uint256 opcode, uint256 seed) external returns (bytes memory) {
        (, Laid memory l,) = _make(opcode, seed);
        return l.program;
    }

    /// @dev Compares the plan's tensor with the kernel's. @return false if the planner refuses the step
    function _tryPlan(Case memory c, Laid memory l, address[] memory chunks, Flat flat)
        private
        returns (bool)
    {
        PlanTask memory task = Planned.taskOf(c, l, chunks.length);
        try stepPlanner.write(task, l.program) returns (bytes memory words, Flat planned, uint256 top) {
            uint256 place = Planned.run(planRunner, l, chunks, words, planned, top);
            uint256 i = _difference(place, flat);
            if (i < c.count) revert PlanDiffers(i, _elementAt(place, flat, i), flat.element(i));
            return true;
        } catch (bytes memory reason) {
            // casting to 'bytes4' takes the error's selector
            // forge-lint: disable-next-line(unsafe-typecast)
            if (bytes4(reason) == IPlanner.NotPlannable.selector) return false;
            assembly ("memory-safe") {
                revert(add(reason, 0x20), mload(reason))
            }
        }
    }

    function _elementAt(uint256 place, Flat flat, uint256 i) private pure returns (uint256) {
        return flat.moved(place).element(i);
    }

    /// @return i the first element that differs, or the number of elements
    function _difference(uint256 place, Flat flat) private pure returns (uint256 i) {
        uint256 size = flat.size();
        uint256 kernel = flat.pointer();
        bool same;
        assembly ("memory-safe") {
            same := eq(keccak256(place, size), keccak256(kernel, size))
        }
        if (same) return flat.count();
        while (_elementAt(place, flat, i) == flat.element(i)) ++i;
    }

    /// @notice The record's tensor by compiled code.
    function tryCompiled(uint256 opcode, uint256 seed) external returns (bytes memory data) {
        (Case memory c, Laid memory l, address[] memory chunks) = _make(opcode, seed);
        address[] memory program = new address[](1);
        program[0] = PROGRAM;
        vm.etch(PROGRAM, bytes.concat(hex"00", l.program));
        Flat flat = Engines.compiled(c, l, chunks, program, floatJudge);
        return _bytesAt(flat.pointer(), flat.size());
    }

    function _bytesAt(uint256 place, uint256 size) private pure returns (bytes memory data) {
        data = new bytes(size);
        assembly ("memory-safe") {
            mcopy(add(data, 0x20), place, size)
        }
    }

    function _make(uint256 opcode, uint256 seed)
        private
        returns (Case memory c, Laid memory l, address[] memory chunks)
    {
        c.dice = Dice(uint256(keccak256(abi.encode(opcode, seed))));
        c.opcode = opcode;
        if (opcode == 2) MakeMove.make(c);
        else if (opcode == 3) MakeLookup.make(c);
        else if (opcode == 4) MakeRows.dot(c);
        else if (opcode < 7) MakeRows.channelwise(c, opcode == 6);
        else if (opcode == 7) MakeElements.table(c);
        else if (opcode == 8) MakeElements.arith(c);
        else if (opcode == 9) MakeElements.float(c);
        else if (opcode == 10) MakeElements.reduce(c);
        else MakeElements.select(c);
        l = Layout.lay(c);
        chunks = _publish(l);
    }

    /// @dev Data contracts of the stream. What stands before the tested weights is all ones.
    function _publish(Laid memory l) private returns (address[] memory chunks) {
        uint256 size = l.prefix + l.stream.length;
        chunks = new address[]((size + Layout.CHUNK_BYTES - 1) / Layout.CHUNK_BYTES);
        bytes memory stream = l.stream;
        for (uint256 i = 0; i < chunks.length; ++i) {
            chunks[i] = address(uint160(CHUNKS) + uint160(i));
            uint256 from = Layout.CHUNK_BYTES * i;
            uint256 skip = l.prefix > from ? l.prefix - from : 0;
            uint256 length = size - from < Layout.CHUNK_BYTES ? size - from : Layout.CHUNK_BYTES;
            bytes memory code = new bytes(1 + length);
            uint256 offset = from + skip - l.prefix;
            assembly ("memory-safe") {
                let place := add(code, 0x21)
                for { let p := place } lt(p, add(place, skip)) { p := add(p, 0x20) } { mstore(p, not(0)) }
                mcopy(add(place, skip), add(add(stream, 0x20), offset), sub(length, skip))
            }
            vm.etch(chunks[i], code);
        }
    }
}
