// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ProgramBuilder as B} from "./ProgramBuilder.sol";
import {StepRulesContext} from "./StepRulesContext.sol";

/// @dev Gas of registration by opcode: what each of 100 more steps costs, the program's memory included (-vv prints).
contract RegistryGasTest is StepRulesContext {
    using B for B.Draft;

    uint256 private constant MAX_WEIGHTS = 2048;
    uint256 private constant MAX_STEPS = 2048;

    event log_named_uint(string key, uint256 val);

    function _gasOf(bytes memory tested, uint256 copies) private returns (uint256) {
        B.Draft memory d = programWith(tested);
        bytes memory records = d.records;
        for (uint256 i = 1; i < copies; ++i) {
            records = bytes.concat(records, tested);
        }
        // The last step stays a valid output.
        d.records = bytes.concat(records, this.slice(d.records, 0, 128));
        d.steps += copies;
        address[] memory chunks = chunksOf(d.bytesOf());
        uint256 before = gasleft();
        registry.register(chunks, bytes32(uint256(1)), SELECTOR, BOND, 0);
        return before - gasleft();
    }

    function _perStep(string memory name, bytes memory tested) private {
        uint256 gasPerStep = (_gasOf(tested, 101) - _gasOf(tested, 1)) / 100;
        emit log_named_uint(name, gasPerStep);
        assertLt(gasPerStep, 4700, name);
    }

    function test_register_gasPerStep_succeeds() public {
        uint32[] memory d3 = B.dims3(2, 3, 4);
        bytes memory one = B.coordinate(1, 0, 0, 0, 0, 0);
        bytes memory flat = bytes.concat(one, one, one, B.coordinate(24, 1, 2, -3, 1, -7));
        _perStep("codec", record(0x010302, d3, N, N, N, 0));
        _perStep("move", record(0x020002, d3, INT, INT, N, 0, flat));
        _perStep("lookup", record(0x030002, B.dims2(6, 6), IDS, LOOKUP, N, 0));
        _perStep("dot", record(0x040100, B.dims2(2, 4), LONG, DOT, N, 1));
        _perStep("requant", record(0x050100, d3, INT, CHANNELS, N, 0));
        _perStep("rescale", record(0x060002, d3, INT, CHANNELS, N, 0));
        _perStep("table", record(0x070001, d3, BYTE, MAP, N, 0));
        _perStep("arith", record(0x080002, d3, INT, SCALAR, N, 0));
        _perStep("float dequant", record(0x090d03, d3, INT, FLOATS, SCALAR, 0));
        _perStep("reduce", record(0x0a0002, B.dims2(2, 3), INT, N, N, 0));
        _perStep("select", record(0x0b0002, d3, BOOL, INT, SCALAR, 0));
    }

    /// @dev What registration costs at a program's limits: every tensor of rank 6, every operand broadcast along other
    /// axes than the output's own shape says, and every chunk's and slot's first access.
    function test_register_dearestProgram_succeeds() public {
        B.Draft memory d = B.start(3, 4096, 1);
        bytes memory weights = new bytes(32 * MAX_WEIGHTS);
        _repeat(weights, bytes.concat(hex"01020600", B.shapeBytes(_six(1, 2)), new bytes(4)));
        bytes memory steps = new bytes(128 * MAX_STEPS);
        _repeat(steps, record(0x090d03, _six(2, 2), 0, 1, 0x8000, 0));
        // The first makes the integers, the second the floats, the last is an output.
        _put(steps, 0, record(0x010302, _six(2, 1), N, N, N, 0));
        _put(steps, 1, record(0x090b03, _six(2, 1), 0, N, N, 0));
        _put(steps, MAX_STEPS - 1, record(0x080902, B.dims1(1), 0x8000 + uint16(MAX_WEIGHTS) - 1, N, N, 0));
        _put(weights, MAX_WEIGHTS - 1, bytes.concat(hex"01020100", B.shapeBytes(B.dims1(1)), new bytes(4)));
        (d.descriptors, d.weights, d.records, d.steps) = (weights, MAX_WEIGHTS, steps, MAX_STEPS);
        address[] memory chunks = chunksOf(d.bytesOf());
        uint256 before = gasleft();
        registry.register(chunks, bytes32(uint256(1)), SELECTOR, BOND, 0);
        uint256 used = before - gasleft();
        emit log_named_uint("dearest program", used);
        assertLt(used, 16_000_000, "EIP-7825 leaves 2^24 for a transaction");
    }

    function _six(uint32 odd, uint32 even) private pure returns (uint32[] memory dims) {
        dims = new uint32[](6);
        for (uint256 i; i < 6; i += 2) {
            (dims[i], dims[i + 1]) = (odd, even);
        }
    }

    function _repeat(bytes memory all, bytes memory part) private pure {
        for (uint256 i; i < all.length / part.length; i++) {
            _put(all, i, part);
        }
    }

    function _put(bytes memory all, uint256 index, bytes memory part) private pure {
        assembly ("memory-safe") {
            let size := mload(part)
            mcopy(add(add(all, 0x20), mul(index, size)), add(part, 0x20), size)
        }
    }
}
