// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Leaves} from "../../../verifier-contracts/libraries/Leaves.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {PromiseIds} from "../../../verifier-contracts/libraries/PromiseIds.sol";
import {Batch, BatchId, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {VectorFixture} from "../judge/VectorFixture.sol";

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
        (bytes32 root, uint256 count) = this.rootOf(word, v.data);
        assertEq(root, v.batch.root);
        assertEq(count, v.batch.count);
        this.requireIn(root, count, v.index, v.payload, v.path);
        (bytes memory input, bytes memory output) = this.contentOf(word, v.payload);
        assertEq(input, v.input);
        assertEq(output, v.output);
        return 1;
    }

    function rootOf(ModelWord word, bytes calldata data) external pure returns (bytes32, uint256) {
        return Leaves.rootOf(word, data);
    }

    function contentOf(ModelWord word, bytes calldata leaf)
        external
        pure
        returns (bytes memory, bytes memory)
    {
        return (Leaves.inputOf(word, leaf), Leaves.outputOf(word, leaf));
    }

    function requireIn(
        bytes32 root,
        uint256 count,
        uint256 index,
        bytes calldata leaf,
        bytes32[] calldata path
    ) external pure {
        Leaves.requireIn(root, count, index, leaf, path);
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
