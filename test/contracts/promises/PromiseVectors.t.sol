// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {PromiseIds} from "../../../verifier-contracts/libraries/PromiseIds.sol";
import {Batch, BatchId, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {VectorFixture} from "../judge/VectorFixture.sol";
import {LeavesHarness} from "../support/LeavesHarness.sol";

/// @notice Digests, ids, leaves and trees that TypeScript made (test/support/promise-vectors.ts documents the structs).
contract PromiseVectorsTest is VectorFixture {
    using PromiseIds for SignedClaim;
    using PromiseIds for Batch;

    struct SignedVector {
        uint256 chainId;
        address promises;
        SignedClaim signed;
        bytes32 digest;
    }

    struct BatchVector {
        uint256 modelWord;
        uint256 chainId;
        address promises;
        Batch batch;
        bytes32 batchId;
        bytes data;
        uint256 index;
        bytes payload;
        bytes32[] path;
        bytes input;
        bytes output;
    }

    LeavesHarness private immutable _leaves = new LeavesHarness();

    function checkSigned(bytes memory blob) external returns (uint256) {
        SignedVector memory v = abi.decode(blob, (SignedVector));
        vm.chainId(v.chainId);
        assertEq(this.digestOf(v.signed, v.promises), v.digest);
        vm.chainId(v.chainId + 1);
        assertNotEq(this.digestOf(v.signed, v.promises), v.digest);
        return 1;
    }

    function digestOf(SignedClaim calldata signed, address promises) external view returns (bytes32) {
        return signed.digestOf(promises);
    }

    function checkBatch(bytes memory blob) external returns (uint256) {
        BatchVector memory v = abi.decode(blob, (BatchVector));
        vm.chainId(v.chainId);
        assertEq(BatchId.unwrap(v.batch.idOf(v.promises)), v.batchId);
        ModelWord word = ModelWord.wrap(v.modelWord);
        (bytes32 root, uint256 count) = _leaves.rootOf(word, v.data);
        assertEq(root, v.batch.root);
        assertEq(count, v.batch.count);
        _leaves.requireIn(root, count, v.index, v.payload, v.path);
        (bytes memory input, bytes memory output) = _leaves.contentOf(word, v.payload);
        assertEq(input, v.input);
        assertEq(output, v.output);
        return 1;
    }

    function test_digestOf_vectors_succeeds() public {
        (uint256 vectors,) = forEachVector("test/vectors/signed-claims.json", this.checkSigned);
        assertEq(vectors, 24);
    }

    function test_rootOf_vectors_succeeds() public {
        (uint256 vectors,) = forEachVector("test/vectors/batches.json", this.checkBatch);
        assertEq(vectors, 36);
    }
}
