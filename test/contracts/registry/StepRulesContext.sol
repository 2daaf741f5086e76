// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ProgramField, ProgramPart} from "../../../verifier-contracts/types/Program.sol";
import {ProgramBuilder as B} from "./ProgramBuilder.sol";
import {RegistryTest} from "./RegistryTest.sol";

/// @notice A valid program with tensors of every kind, into which a test puts one step.
abstract contract StepRulesContext is RegistryTest {
    using B for B.Draft;

    uint16 internal constant N = B.NONE;
    // Weight tensors: u8 [256], DOT [4, 40], LOOKUP [10, 6], CHANNEL [4] and [1], s32 [10, 4], f32 [4], s32 [1],
    // u8 [2, 1024], [2, 1025], [1, 8192] and [1, 8193], DOT [4, 20], s32 [5, 1], DOT [4, 993], s32 [2, 1024], bool [1024]
    // and [3, 1], s32 [3], u8 [6, 40], s32 [6, 4].
    uint16 internal constant MAP = 0x8000;
    uint16 internal constant DOT = 0x8001;
    uint16 internal constant LOOKUP = 0x8002;
    uint16 internal constant CHANNELS = 0x8003;
    uint16 internal constant CHANNEL = 0x8004;
    uint16 internal constant ROWS = 0x8005;
    uint16 internal constant FLOATS = 0x8006;
    uint16 internal constant SCALAR = 0x8007;
    uint16 internal constant LONGEST = 0x8008;
    uint16 internal constant TOO_LONG = 0x8009;
    uint16 internal constant LONGEST_NORM = 0x800a;
    uint16 internal constant TOO_LONG_NORM = 0x800b;
    uint16 internal constant HALF = 0x800c;
    uint16 internal constant COLUMN = 0x800d;
    uint16 internal constant LONG_DOT = 0x800e;
    uint16 internal constant SCORES = 0x800f;
    uint16 internal constant COUNTS = 0x8010;
    uint16 internal constant ONE_COUNT = 0x8011;
    uint16 internal constant THREE = 0x8012;
    uint16 internal constant SIX_ROWS = 0x8013;
    uint16 internal constant SIX_BY_FOUR = 0x8014;
    uint16 internal constant NO_WEIGHT = 0x8015;
    // Steps: s32, u8, bool and f32 [2, 3, 4], s32 [6, 1], u8 [2, 40], s32 [2, 1025]; then the tested one, then an
    // output.
    uint16 internal constant INT = 0;
    uint16 internal constant BYTE = 1;
    uint16 internal constant BOOL = 2;
    uint16 internal constant FLOAT = 3;
    uint16 internal constant IDS = 4;
    uint16 internal constant LONG = 5;
    uint16 internal constant WIDE = 6;
    uint16 internal constant SELF = 7;

    function record(bytes3 code, uint32[] memory dims, uint16 a, uint16 b, uint16 c, uint32 k)
        internal
        pure
        returns (bytes memory)
    {
        return record(code, dims, a, b, c, k, new bytes(64));
    }

    function record(
        bytes3 code,
        uint32[] memory dims,
        uint16 a,
        uint16 b,
        uint16 c,
        uint32 k,
        bytes memory coordinates
    ) internal pure returns (bytes memory) {
        B.Draft memory d;
        d.step(code, dims, a, b, c, k, coordinates);
        return d.records;
    }

    function good(bytes memory tested) internal {
        accepts(programWith(tested));
    }

    /// @notice The tested step is refused for this field.
    function bad(ProgramField field, uint256 value, bytes memory tested) internal {
        rejects(programWith(tested).bytesOf(), ProgramPart.STEP, SELF, field, value);
    }

    /// @notice The tested step is refused with the lane EXECUTION, and with that alone.
    function rejectsExecution(bytes memory tested) internal {
        address[] memory chunks = chunksOf(programWith(tested).bytesOf());
        // The lane EXECUTION is bit 0.
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.StepNotExecutable.selector, uint256(SELF)));
        registry.register(chunks, bytes32(uint256(1)), SELECTOR, 1 | BOND, 0);
        registry.register(chunks, bytes32(uint256(1)), SELECTOR, BOND, 0);
    }

    function programWith(bytes memory tested) internal pure returns (B.Draft memory d) {
        d = B.start(3, 4096, 1);
        d.weight(1, 0, B.dims1(256));
        d.weight(2, 0, B.dims2(4, 40));
        d.weight(3, 1, B.dims2(10, 6));
        d.weight(4, 0, B.dims1(4));
        d.weight(4, 0, B.dims1(1));
        d.weight(1, 2, B.dims2(10, 4));
        d.weight(1, 3, B.dims1(4));
        d.weight(1, 2, B.dims1(1));
        d.weight(1, 0, B.dims2(2, 1024));
        d.weight(1, 0, B.dims2(2, 1025));
        d.weight(1, 0, B.dims2(1, 8192));
        d.weight(1, 0, B.dims2(1, 8193));
        d.weight(2, 0, B.dims2(4, 20));
        d.weight(1, 2, B.dims2(5, 1));
        d.weight(2, 0, B.dims2(4, 993));
        d.weight(1, 2, B.dims2(2, 1024));
        d.weight(1, 4, B.dims1(1024));
        d.weight(1, 4, B.dims2(3, 1));
        d.weight(1, 2, B.dims1(3));
        d.weight(1, 0, B.dims2(6, 40));
        d.weight(1, 2, B.dims2(6, 4));
        d.int16s(B.dims3(2, 3, 4), 0);
        d.step(0x080900, B.dims3(2, 3, 4), INT, N, N, 0);
        d.step(0x080604, B.dims3(2, 3, 4), INT, INT, N, 0);
        d.step(0x090b03, B.dims3(2, 3, 4), INT, N, N, 0);
        d.int16s(B.dims2(6, 1), 0);
        d.step(0x080900, B.dims2(2, 40), SCALAR, N, N, 0);
        d.step(0x080902, B.dims2(2, 1025), SCALAR, N, N, 0);
        d.records = bytes.concat(d.records, tested);
        d.steps++;
        d.int16s(B.dims1(1), 0);
    }

    /// @notice The shape word of dims.
    function shape(uint32[] memory dims) internal pure returns (uint256) {
        return uint256(bytes32(bytes.concat(B.shapeBytes(dims), new bytes(8))));
    }
}
