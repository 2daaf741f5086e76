// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ITruth} from "../../../../verifier-contracts/interfaces/ITruth.sol";
import {ModelId, Opening} from "../../../../verifier-contracts/types/Types.sol";

// Small counterparts of Assay for tests of the clock and the money: what they say stands in the arguments of the
// move, so a test decides the verdict and the machine decides what follows. Games over real traces use the real ones.

/// @notice Holds model words.
contract TestRegistry {
    mapping(ModelId => uint256) public modelWord;

    function setModel(ModelId modelId, uint256 word) external {
        modelWord[modelId] = word;
    }
}

/// @notice A trace has the root tops[0]; positions below INSIDE exist; a reveal folds to content[0].
contract TestTraceReader {
    uint64 public constant INSIDE = 1000;

    function shapeAt(ModelId, uint64 position) external pure returns (uint256) {
        return position < INSIDE ? 1 : 0;
    }

    function checkReveal(uint256, uint64, bytes32[] calldata content, bytes32[] calldata)
        external
        pure
        returns (bytes32)
    {
        return content[0];
    }

    function foldTops(uint256, bytes32[] calldata tops) external pure returns (bytes32) {
        return tops[0];
    }
}

/// @notice Finds the element `step` where the claim says `element`, the codec root path[0]; of an output the hash
/// `element` is right.
contract TestJudge {
    function judgeElement(ModelId, bytes32, uint256 step, uint256 element, Opening[] calldata)
        external
        pure
        returns (uint256 expected, uint256 claimed)
    {
        return (step, element);
    }

    function judgeCodec(ModelId, bytes32, uint256, bytes calldata, bytes32, bytes32[] calldata path)
        external
        pure
        returns (bytes32 expectedRoot, bool isOutput)
    {
        // Of a path of two, the bytes have to be the claimed output.
        return (path[0], path.length == 2);
    }

    function judgeOutput(ModelId, bytes32, bytes calldata output, uint256 element, Opening[] calldata)
        external
        pure
        returns (uint256 expected, uint256 claimed)
    {
        return (element, uint256(keccak256(output)));
    }
}

/// @notice Accepts the right output of an input, with evidence made for the submitter.
contract HonestTruth is ITruth {
    mapping(ModelId => mapping(bytes32 inputHash => bytes32)) public right;

    function setRight(ModelId modelId, bytes calldata input, bytes calldata output) external {
        right[modelId][keccak256(input)] = keccak256(output);
    }

    function evidenceFor(address submitter) public pure returns (bytes memory) {
        return abi.encode(submitter);
    }

    function isTrue(
        ModelId modelId,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence,
        address submitter
    ) public view virtual returns (bool) {
        return right[modelId][keccak256(input)] == keccak256(output)
            && keccak256(evidence) == keccak256(evidenceFor(submitter));
    }
}

/// @notice A proof system that somebody broke: it also accepts any output with forged evidence.
contract LyingTruth is HonestTruth {
    function forgeryFor(address submitter) public pure returns (bytes memory) {
        return abi.encode("forged", submitter);
    }

    function isTrue(
        ModelId modelId,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence,
        address submitter
    ) public view override returns (bool) {
        return keccak256(evidence) == keccak256(forgeryFor(submitter))
            || super.isTrue(modelId, input, output, evidence, submitter);
    }
}
