// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LayerBuilder} from "../../../../verifier-contracts/execution/LayerBuilder.sol";
import {CompiledLayer} from "../../../../verifier-contracts/execution/compiled/CompiledLayer.sol";
import {Parameters} from "../../../../verifier-contracts/libraries/Parameters.sol";
import {Dot} from "../../../../verifier-contracts/opcodes/Dot.sol";
import {Requant} from "../../../../verifier-contracts/opcodes/Requant.sol";
import {ModelId} from "../../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../../libraries/NaiveTree.sol";
import {ProgramBuilder} from "../../registry/ProgramBuilder.sol";
import {RegistryTest} from "../../registry/RegistryTest.sol";

/// @notice One DOT step on raw bytes: step 1 of a program whose weight tensor 1 it reads.
/// @param length K @param rows N @param groups G @param outputs M @param variant 0 or 1 @param code 0 u8, 1 s8
/// @param words all real words of the weights
struct LayerCase {
    uint32 length;
    uint32 rows;
    uint32 groups;
    uint32 outputs;
    uint8 variant;
    uint8 code;
    bytes32[] words;
}

/// @notice Registers, compiles and runs single layers, and computes them with the judge's kernels.
abstract contract LayerFixture is RegistryTest {
    using ProgramBuilder for ProgramBuilder.Draft;

    uint256 internal constant STEP = 1;

    LayerBuilder internal builder;

    function setUp() public virtual override {
        super.setUp();
        builder = new LayerBuilder(registry);
    }

    function rowWords(LayerCase memory l) internal pure returns (uint256) {
        return (l.length + 31) / 32 + 1;
    }

    function width(LayerCase memory l) internal pure returns (uint256) {
        return l.variant == 0 ? 4 : 1;
    }

    /// @notice Registers the layer between a tensor that is not compiled and nothing else.
    function registerLayer(LayerCase memory l) internal returns (ModelId) {
        bytes32[] memory roots = weightRoots(l);
        bytes32 root = NaiveTree.rootOf(NaiveTree.padded(roots));
        return register(programOf(l), root);
    }

    function programOf(LayerCase memory l) internal pure returns (bytes memory) {
        uint32 inputs = l.outputs * l.groups;
        ProgramBuilder.Draft memory d = ProgramBuilder.start(4, inputs * l.length, 3);
        d.weight(1, 0, ProgramBuilder.dims1(5));
        d.weight(2, 0, ProgramBuilder.dims2(l.rows, l.length));
        d.weight(1, 0, ProgramBuilder.dims1(7));
        bytes3 codec = bytes3(abi.encodePacked(uint8(1), uint8(4), l.code));
        d.step(codec, ProgramBuilder.dims2(inputs, l.length), NONE, NONE, NONE, 0);
        uint8 output = l.variant == 0 ? 2 : l.code;
        bytes3 dot = bytes3(abi.encodePacked(uint8(4), l.variant, output));
        d.step(dot, ProgramBuilder.dims2(l.outputs, l.rows), 0, ProgramBuilder.W1, NONE, l.groups);
        return d.bytesOf();
    }

    uint16 private constant NONE = ProgramBuilder.NONE;

    /// @notice Roots of the three weight tensors, two of which are of no matter.
    function weightRoots(LayerCase memory l) internal pure returns (bytes32[] memory roots) {
        roots = new bytes32[](3);
        roots[0] = keccak256("plain");
        roots[1] = NaiveTree.rootOf(NaiveTree.leaves(l.words, l.rows, rowWords(l)));
        roots[2] = keccak256("plain too");
    }

    /// @notice Words of consecutive rows.
    function rowsOf(LayerCase memory l, uint256 first, uint256 count)
        internal
        pure
        returns (bytes32[] memory words)
    {
        uint256 perRow = rowWords(l);
        words = new bytes32[](count * perRow);
        for (uint256 i = 0; i < words.length; ++i) {
            words[i] = l.words[first * perRow + i];
        }
    }

    /// @notice Siblings that fold rows first .. first + count − 1 to the weights root.
    function siblingsOf(LayerCase memory l, uint256 first, uint256 count)
        internal
        pure
        returns (bytes32[] memory siblings)
    {
        bytes32[] memory nodes = NaiveTree.leaves(l.words, l.rows, rowWords(l));
        nodes = NaiveTree.up(nodes, NaiveTree.log2(NaiveTree.powerOfTwo(rowWords(l))));
        uint256 last = first + count - 1;
        siblings = new bytes32[](0);
        while (nodes.length > 1) {
            bytes32[] memory pair = new bytes32[]((first & 1) + (1 - (last & 1)));
            if (first & 1 == 1) pair[0] = nodes[first - 1];
            if (last & 1 == 0) pair[pair.length - 1] = nodes[last + 1];
            siblings = NaiveTree.concat(siblings, pair);
            nodes = NaiveTree.levelUp(nodes);
            (first, last) = (first / 2, last / 2);
        }
        return NaiveTree.concat(siblings, NaiveTree.pathOf(NaiveTree.padded(weightRoots(l)), 1));
    }

    function rowsFrom(LayerCase memory l, uint256 first, uint256 partRows) internal pure returns (uint256) {
        return l.rows - first < partRows ? l.rows - first : partRows;
    }

    function buildPart(ModelId modelId, LayerCase memory l, uint256 first, uint256 partRows)
        internal
        returns (address)
    {
        uint256 count = rowsFrom(l, first, partRows);
        return builder.build(modelId, STEP, first, rowsOf(l, first, count), siblingsOf(l, first, count));
    }

    /// @notice Builds all parts and binds them.
    function compile(LayerCase memory l) internal returns (ModelId modelId) {
        modelId = registerLayer(l);
        (, uint256 partRows) = builder.stepParts(modelId, STEP);
        for (uint256 first = 0; first < l.rows; first += partRows) {
            buildPart(modelId, l, first, partRows);
        }
        builder.bind(modelId);
    }

    /// @notice The output tensor through the directory.
    function runCompiled(ModelId modelId, LayerCase memory l, bytes memory activations)
        public
        view
        returns (bytes memory output)
    {
        uint256 cursor = CompiledLayer.open(address(builder), modelId);
        assertFalse(CompiledLayer.isAt(cursor, 0), "step 0 is no DOT");
        assertTrue(CompiledLayer.isAt(cursor, STEP), "compiled");
        output = new bytes(width(l) * l.rows * l.outputs);
        uint256 a;
        uint256 o;
        assembly {
            a := add(activations, 32)
            o := add(output, 32)
        }
        cursor = CompiledLayer.run(cursor, a, activations.length, o, l.outputs, width(l) * l.rows);
        assertFalse(CompiledLayer.isAt(cursor, STEP), "behind the step");
    }

    /// @notice The output tensor by the kernels of the judge, element by element.
    function runJudged(LayerCase memory l, bytes memory activations)
        internal
        pure
        returns (bytes memory output)
    {
        output = new bytes(width(l) * l.rows * l.outputs);
        uint256 next;
        for (uint256 e = 0; e < l.rows * l.outputs; ++e) {
            uint256 row = Dot.activationRow(e, l.rows, l.groups);
            bytes memory a = new bytes((l.length + 31) / 32 * 32);
            for (uint256 i = 0; i < l.length; ++i) {
                a[i] = activations[row * l.length + i];
            }
            bytes32[] memory w = rowsOf(l, e % l.rows, 1);
            uint256 aAt;
            uint256 wAt;
            assembly {
                aAt := add(a, 32)
                wAt := add(w, 32)
            }
            (int256 acc, Parameters parameters) = Dot.accumulate(aAt, l.length, wAt);
            if (l.variant == 0) {
                for (uint256 i = 0; i < 4; ++i) {
                    output[next++] = bytes1(uint8(uint256(acc) >> (24 - 8 * i)));
                }
            } else {
                uint256 stored = Requant.clamp(Requant.scale(acc, parameters), parameters);
                output[next++] = bytes1(uint8(stored));
            }
        }
    }

    /// @notice Compares all outputs. @return elements compared
    function compare(ModelId modelId, LayerCase memory l, bytes memory activations)
        internal
        view
        returns (uint256)
    {
        assertEq(runCompiled(modelId, l, activations), runJudged(l, activations), "compiled = judge");
        return l.rows * l.outputs;
    }
}
