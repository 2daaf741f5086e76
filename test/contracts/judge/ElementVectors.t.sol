// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {ModelId, Opening} from "../../../verifier-contracts/types/Types.sol";
import {VectorFixture} from "./VectorFixture.sol";

/// @dev Elements of random programs, of hostile weights and of traces that hold any bytes, through judgeElement, the
/// entry that a conviction uses. The committed files are small; build/vectors/ holds 2,000 elements an opcode once
/// `tsx test/support/make-vectors.ts --elements 2000 --seed 7 --out build/vectors` has run.
contract ElementVectorsTest is VectorFixture {
    uint256 private constant MANY = 2000;

    struct ElementCase {
        uint256 element;
        uint256 expected;
        uint256 claimed;
        Opening[] openings;
    }

    struct ElementVector {
        bytes program;
        bytes[] weights;
        bytes32 weightsRoot;
        bytes32 traceRoot;
        uint256 step;
        ElementCase[] cases;
    }

    function check(bytes memory blob) external returns (uint256) {
        (bool ok, bytes memory answer) = address(this).call(bytes.concat(this.checkVector.selector, blob));
        assertTrue(ok, string(answer));
        return abi.decode(answer, (uint256));
    }

    function checkVector(ElementVector calldata v) external returns (uint256) {
        ModelId modelId = register(v.program, v.weightsRoot);
        for (uint256 i = 0; i < v.cases.length; ++i) {
            (uint256 expected, uint256 claimed) =
                judge.judgeElement(modelId, v.traceRoot, v.step, v.cases[i].element, v.cases[i].openings);
            assertEq(expected, v.cases[i].expected, "expected");
            assertEq(claimed, v.cases[i].claimed, "claimed");
        }
        uint256 random = uint256(keccak256(abi.encode(v.traceRoot, v.step)));
        ElementCase memory c = v.cases[random % v.cases.length];
        _corrupt(c, random);
        vm.expectPartialRevert(IJudge.WrongRoot.selector);
        judge.judgeElement(modelId, v.traceRoot, v.step, c.element, c.openings);
        return v.cases.length;
    }

    /// @dev One byte of one opening.
    function _corrupt(ElementCase memory c, uint256 random) private pure {
        Opening memory o = c.openings[(random >> 16) % c.openings.length];
        bytes32[] memory part = (random >> 32) % 2 == 0 || o.path.length == 0 ? o.words : o.path;
        uint256 flip = uint256(uint8(random >> 48) | 1) << (8 * (uint8(random >> 40) % 32));
        part[(random >> 64) % part.length] ^= bytes32(flip);
    }

    function _check(string memory opcode) private {
        (, uint256 compared) = forEachVector(string.concat("test/vectors/", opcode, ".json"), this.check);
        assertGe(compared, 64, "committed elements");
        string memory many = string.concat("build/vectors/", opcode, ".json");
        if (!vm.exists(many)) return;
        (, compared) = forEachVector(many, this.check);
        assertGe(compared, MANY, "elements of build/vectors");
    }

    function test_judgeElement_moveVectors_succeeds() public {
        _check("move");
    }

    function test_judgeElement_lookupVectors_succeeds() public {
        _check("lookup");
    }

    function test_judgeElement_dotVectors_succeeds() public {
        _check("dot");
    }

    function test_judgeElement_requantVectors_succeeds() public {
        _check("requant");
    }

    function test_judgeElement_rescaleVectors_succeeds() public {
        _check("rescale");
    }

    function test_judgeElement_tableVectors_succeeds() public {
        _check("table");
    }

    function test_judgeElement_arithVectors_succeeds() public {
        _check("arith");
    }

    function test_judgeElement_floatVectors_succeeds() public {
        _check("float");
    }

    function test_judgeElement_reduceVectors_succeeds() public {
        _check("reduce");
    }

    function test_judgeElement_selectVectors_succeeds() public {
        _check("select");
    }
}
