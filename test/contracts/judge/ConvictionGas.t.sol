// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {CodecJudge} from "../../../verifier-contracts/CodecJudge.sol";
import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {Judge} from "../../../verifier-contracts/Judge.sol";
import {TraceReader} from "../../../verifier-contracts/TraceReader.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {
    DOT_ACTIVATIONS,
    DOT_INTEGER,
    DOT_PLANES,
    DOT_RESCALED
} from "../../../verifier-contracts/types/Program.sol";
import {Claim, Opening, Request} from "../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../libraries/NaiveTree.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {TraceFixture} from "./TraceFixture.sol";

/// @dev A whole dispute over a DOT element with the contracts as they are deployed: gas of convictElement by the
/// length of the dot product. With --isolate -vv each number is a whole cold transaction, calldata included.
contract ConvictionGasTest is TraceFixture {
    using B for B.Draft;

    uint16 private constant N = B.NONE;

    event log_named_uint(string key, uint256 val);

    /// @dev Every tensor is noise, so the DOT step's elements are wrong (checked below).
    /// @param variant of DOT: of activations both operands are step 0, and there is one matrix for all rows
    function _program(uint32 k, uint256 variant) private {
        bool areActivations = variant == DOT_ACTIVATIONS;
        B.Draft memory d = B.start(3, 16, 1);
        uint32 length = areActivations ? 64 : k;
        d.weight(2, 0, B.dims2(64, length));
        commit(weightTensors, 64, (length + 31) / 32 + 1);
        for (uint256 i = 1; i < 8; ++i) {
            d.weight(1, 0, B.dims1(1));
            commit(weightTensors, 1, 1);
        }
        commitStep(d, 0x080900, B.dims2(16, variant >= DOT_PLANES ? 2 * k : k), 0x8001, N, N, 0);
        if (areActivations) {
            commitStep(d, 0x040302, B.dims2(16, 16), 0, 0, N, 16);
        } else if (variant >= DOT_PLANES) {
            commitStep(d, bytes3(uint24(0x040002 + variant * 256)), B.dims2(16, 64), 0, 0x8000, N, 1);
        } else {
            commitStep(d, 0x040100, B.dims2(16, 64), 0, 0x8000, N, 1);
        }
        for (uint256 i = 2; i < 16; ++i) {
            commitStep(d, 0x080900, B.dims1(2), 0x8001, N, N, 0);
        }
        registerCommitted(d);
    }

    function _challenged(Assay assay) private returns (Claim memory c) {
        Request memory r;
        bytes memory input = abi.encodePacked(SELECTOR, abi.encode(32, 1, 0));
        (r.requester, r.modelId, r.inputHash, r.lanes) = (address(this), modelId, keccak256(input), BOND);
        (r.window, r.expiry) = (1000, uint40(block.timestamp + 1 days));
        assay.request(r.modelId, Orders.pack(r, input));
        bytes memory output = new bytes(64);
        (c.modelId, c.prover, c.outputHash, c.gasPrice) = (modelId, address(this), keccak256(output), 1 gwei);
        c.requestId = assay.requestIdOf(r);
        (c.bond, c.ticketBond) = assay.bondsOf(r, 1 gwei);
        assay.claim{value: c.bond}(r, address(0), 1 gwei, output);
        assay.challenge{value: c.ticketBond}(c);
        bytes32[] memory tops = new bytes32[](16);
        for (uint256 i = 0; i < 16; ++i) {
            tops[i] = NaiveTree.rootOf(
                NaiveTree.leaves(stepTensors[i].words, stepTensors[i].rows, stepTensors[i].perRow)
            );
        }
        assay.commitTrace(c, tops);
    }

    function _convict(uint32 k, uint256 limit) private {
        _convict(k, DOT_INTEGER, "dot ", limit);
    }

    function _convict(uint32 k, uint256 variant, string memory kind, uint256 limit) private {
        vm.deal(address(this), 100 ether);
        vm.warp(1_800_000_000);
        _program(k, variant);
        judge = new Judge(registry, new FloatJudge(), new CodecJudge());
        Assay assay = new Assay(
            registry,
            judge,
            new TraceReader(registry),
            ITruth(address(0)),
            ITruth(address(0)),
            100,
            1 gwei,
            1,
            1
        );
        Claim memory c = _challenged(assay);
        uint16 matrix = variant == DOT_ACTIVATIONS ? 0 : 0x8000;
        Opening[] memory list = openings(wordOf(1, 0, 0), rowOf(0, 0), rowOf(matrix, 0));
        uint256 element = 0;
        // The elements of the word that is opened.
        for (; element < (variant == DOT_INTEGER ? 32 : 8); ++element) {
            list[2] = rowOf(matrix, element);
            (uint256 expected, uint256 claimed) = judge.judgeElement(modelId, traceRoot, 1, element, list);
            if (expected != claimed) break;
        }
        assay.convictElement(c, 1, element, list);
        string memory name = string.concat(kind, vm.toString(k));
        uint256 used = vm.snapshotGasLastCall("convictElement", name);
        emit log_named_uint(string.concat("convict ", name), used);
        assertLt(used, limit);
    }

    function test_convictElement_dot64_succeeds() public {
        _convict(64, 140_000);
    }

    function test_convictElement_dot256_succeeds() public {
        _convict(256, 150_000);
    }

    function test_convictElement_dot512_succeeds() public {
        _convict(512, 165_000);
    }

    function test_convictElement_dot768_succeeds() public {
        _convict(768, 180_000);
    }

    function test_convictElement_dot992_succeeds() public {
        _convict(992, 200_000);
    }

    function test_convictElement_activations64_succeeds() public {
        _convict(64, DOT_ACTIVATIONS, "dot of activations ", 140_000);
    }

    function test_convictElement_activations1024_succeeds() public {
        _convict(1024, DOT_ACTIVATIONS, "dot of activations ", 200_000);
    }

    function test_convictElement_planes64_succeeds() public {
        _convict(64, DOT_PLANES, "dot of planes ", 150_000);
    }

    function test_convictElement_planes576_succeeds() public {
        _convict(576, DOT_PLANES, "dot of planes ", 220_000);
    }

    function test_convictElement_planes992_succeeds() public {
        _convict(992, DOT_PLANES, "dot of planes ", 290_000);
    }

    function test_convictElement_planes1536_succeeds() public {
        _convict(1536, DOT_PLANES, "dot of planes ", 360_000);
    }

    function test_convictElement_planes2016_succeeds() public {
        _convict(2016, DOT_PLANES, "dot of planes ", 460_000);
    }

    function test_convictElement_rescaled1536_succeeds() public {
        _convict(1536, DOT_RESCALED, "dot rescaled ", 360_000);
    }
}
