// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {TraceFixture} from "./TraceFixture.sol";

/// @notice A program with tensors of noise of every kind, and one step whose elements are judged.
abstract contract JudgedStep is TraceFixture {
    using B for B.Draft;

    uint16 internal constant N = B.NONE;
    // Weights: u8 [256], DOT [4, 40], LOOKUP [10, 40], CHANNEL [4], s32 [10, 3], u8 [1, 4], s32 [1], DOT [4, 20], s32 [6, 1],
    // CHANNEL [6], s32 [8, 4], CHANNEL [1].
    uint16 internal constant MAP = 0x8000;
    uint16 internal constant DOT = 0x8001;
    uint16 internal constant LOOKUP = 0x8002;
    uint16 internal constant CHANNEL = 0x8003;
    uint16 internal constant ROWS = 0x8004;
    uint16 internal constant SMALL = 0x8005;
    uint16 internal constant SCALAR = 0x8006;
    uint16 internal constant HALF = 0x8007;
    uint16 internal constant COLUMN = 0x8008;
    uint16 internal constant SIX = 0x8009;
    uint16 internal constant ADDED = 0x800a;
    uint16 internal constant ONE_CHANNEL = 0x800b;
    // Steps
    uint16 internal constant INT = 0; // s32 [2, 3, 4]
    uint16 internal constant IDS = 1; // s32 [2, 3]
    uint16 internal constant ID = 2; // s32 [5, 1]
    uint16 internal constant LONG = 3; // u8 [8, 40]
    uint16 internal constant BOOL = 4; // bool [2, 3, 4]

    B.Draft private _draft;

    function setUp() public override {
        super.setUp();
        B.Draft memory d = B.start(3, 4096, 3);
        d.weight(1, 0, B.dims1(256));
        commit(weightTensors, 1, 8);
        d.weight(2, 0, B.dims2(4, 40));
        commit(weightTensors, 4, 3);
        d.weight(3, 1, B.dims2(10, 40));
        commit(weightTensors, 10, 2);
        d.weight(4, 0, B.dims1(4));
        commit(weightTensors, 4, 1);
        d.weight(1, 2, B.dims2(10, 3));
        commit(weightTensors, 10, 1);
        d.weight(1, 0, B.dims2(1, 4));
        commit(weightTensors, 1, 1);
        d.weight(1, 2, B.dims1(1));
        commit(weightTensors, 1, 1);
        d.weight(2, 0, B.dims2(4, 20));
        commit(weightTensors, 4, 2);
        d.weight(1, 2, B.dims2(6, 1));
        commit(weightTensors, 6, 1);
        d.weight(4, 0, B.dims1(6));
        commit(weightTensors, 6, 1);
        d.weight(1, 2, B.dims2(8, 4));
        commit(weightTensors, 8, 1);
        d.weight(4, 0, B.dims1(1));
        commit(weightTensors, 1, 1);
        commitStep(d, 0x010302, B.dims3(2, 3, 4), N, N, N, 0);
        commitStep(d, 0x010302, B.dims2(2, 3), N, N, N, 0);
        commitStep(d, 0x010302, B.dims2(5, 1), N, N, N, 0);
        commitStep(d, 0x020000, B.dims2(8, 40), MAP, N, N, 0, _flat(256));
        commitStep(d, 0x080604, B.dims3(2, 3, 4), INT, INT, N, 0);
        _draft = d;
    }

    function _flat(uint32 view_) internal pure returns (bytes memory) {
        bytes memory one = B.coordinate(1, 0, 0, 0, 0, 0);
        return bytes.concat(one, one, one, B.coordinate(view_, 40, 0, 1, 1, -2));
    }

    function _judged(bytes3 code, uint32[] memory dims, uint16 a, uint16 b, uint16 c, uint32 k) internal {
        _judged(code, dims, a, b, c, k, new bytes(64));
    }

    function _judged(
        bytes3 code,
        uint32[] memory dims,
        uint16 a,
        uint16 b,
        uint16 c,
        uint32 k,
        bytes memory coordinates
    ) internal {
        B.Draft memory d = _draft;
        commitStep(d, code, dims, a, b, c, k, coordinates);
        registerCommitted(d);
    }

    /// @dev Judges an element of the last step; claimed must be what the trace holds.
    function _expect(
        uint256 element,
        uint256 row,
        uint256 column,
        bool wide,
        uint256 expected,
        Opening[] memory list
    ) internal view {
        uint16 step = uint16(stepTensors.length - 1);
        list[0] = wordOf(step, row, wide ? column / 8 : column / 32);
        (uint256 computed, uint256 claimed) = judge.judgeElement(modelId, traceRoot, step, element, list);
        assertEq(computed, expected, "expected");
        assertEq(claimed, wide ? u32Of(step, row, column) : byteOf(step, row, column), "claimed");
    }

    Opening internal _none;
}
