// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {IPlanner} from "../../../verifier-contracts/interfaces/IPlanner.sol";
import {Flat} from "../../../verifier-contracts/libraries/Flat.sol";
import {Vm} from "../support/Vm.sol";
import {Dice} from "./Dice.sol";
import {Engines, PlanRunner} from "./Engines.sol";
import {Laid, Layout} from "./Laid.sol";
import {MakeElements} from "./MakeElements.sol";
import {MakeMove} from "./MakeMove.sol";
import {MakeRows} from "./MakeRows.sol";
import {Oracle} from "./Oracle.sol";
import {Case, Cases} from "./RecordCase.sol";
import {Tally} from "./Tally.sol";

/// @notice Random records of an opcode, each a program that the registry accepts: the interpreter's kernel, its plan and
/// its compiled code make the tensor whose every element the judge's element function computes, and leave alone what is
/// around it (docs/INVARIANTS.md, 9).
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

    /// @notice Makes the record of a seed, and compares all that computes it. @return facts for Tally
    function tryRecord(uint256 opcode, uint256 seed) external returns (uint256 facts) {
        (Case memory c, Laid memory l, address[] memory chunks) = _make(opcode, seed);
        bool isHeld = seed & 1 == 0;
        (uint256 flat, uint256 arena) = Engines.plain(c, l, chunks, floatJudge, isHeld);
        Oracle.compare(c, l, chunks, floatJudge, flat, arena);
        bool isPlanned = _compareWith(this.tryPlan, opcode, seed, flat);
        bool isCompiled = opcode == 4 && c.variant < 2 && seed & 2 == 0 && c.operands[1].data.length < 8192;
        if (isCompiled) _compareWith(this.tryCompiled, opcode, seed, flat);
        return Tally.facts(c, l, isPlanned, isCompiled);
    }

    /// @notice The program of a seed, whose last record is tried.
    function programOf(uint256 opcode, uint256 seed) external returns (bytes memory) {
        (, Laid memory l,) = _make(opcode, seed);
        return l.program;
    }

    /// @notice The record's tensor by its plan.
    function tryPlan(uint256 opcode, uint256 seed) external returns (bytes memory data) {
        (Case memory c, Laid memory l, address[] memory chunks) = _make(opcode, seed);
        (bytes memory image, uint256 flat, uint256 kept) = Engines.plan(c, l, chunks);
        (bool ok, bytes memory memory_) = address(planRunner).call(image);
        if (!ok) revert Engines.WrongTensor(flat);
        bytes32 before;
        bytes32 behind;
        assembly ("memory-safe") {
            before := keccak256(add(image, 0x20), kept)
            behind := keccak256(add(memory_, 0x20), kept)
        }
        if (before != behind) revert Engines.NeighboursChanged();
        uint256 place;
        assembly ("memory-safe") {
            place := sub(add(memory_, 0x20), 0x80) // Plan.AT
        }
        return _bytesAt(place + Flat.pointer(flat), Flat.size(flat));
    }

    /// @notice The record's tensor by compiled code.
    function tryCompiled(uint256 opcode, uint256 seed) external returns (bytes memory data) {
        (Case memory c, Laid memory l, address[] memory chunks) = _make(opcode, seed);
        address[] memory program = new address[](1);
        program[0] = PROGRAM;
        vm.etch(PROGRAM, bytes.concat(hex"00", l.program));
        uint256 flat = Engines.compiled(c, l, chunks, program, floatJudge);
        return _bytesAt(Flat.pointer(flat), Flat.size(flat));
    }

    function _bytesAt(uint256 place, uint256 size) private pure returns (bytes memory data) {
        data = new bytes(size);
        assembly ("memory-safe") {
            mcopy(add(data, 0x20), place, size)
        }
    }

    /// @return isThere false if the planner refuses the step
    function _compareWith(
        function (uint256, uint256) external returns (bytes memory) engine,
        uint256 opcode,
        uint256 seed,
        uint256 flat
    ) private returns (bool isThere) {
        (bool ok, bytes memory answer) = engine.address.call(abi.encodeWithSelector(engine.selector, opcode, seed));
        if (!ok) {
            if (bytes4(answer) == IPlanner.NotPlannable.selector) return false;
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
        bytes memory data = abi.decode(answer, (bytes));
        if (keccak256(data) == keccak256(_bytesAt(Flat.pointer(flat), Flat.size(flat)))) return true;
        uint256 size = Cases.bytesOf(Flat.code(flat));
        for (uint256 i = 0;; ++i) {
            uint256 other = Cases.read(data, i, size);
            if (other == Flat.element(flat, i)) continue;
            if (engine.selector == this.tryPlan.selector) revert PlanDiffers(i, other, Flat.element(flat, i));
            revert CompiledDiffers(i, other, Flat.element(flat, i));
        }
    }

    function _make(uint256 opcode, uint256 seed)
        private
        returns (Case memory c, Laid memory l, address[] memory chunks)
    {
        c.dice = Dice(uint256(keccak256(abi.encode(opcode, seed))));
        c.opcode = opcode;
        if (opcode == 2) MakeMove.make(c);
        else if (opcode == 3) MakeRows.lookup(c);
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
