// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelRegistry} from "../../../verifier-contracts/ModelRegistry.sol";
import {COORDINATES} from "../../../verifier-contracts/libraries/Coordinate.sol";
import {ProofLane} from "../../../verifier-contracts/proof/ProofLane.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {Test} from "../support/Test.sol";

/// @notice The real registry and PROOF lane with the model and the proofs of test/vectors/proofs.json
/// (test/support/make-proof-vectors.ts).
abstract contract ProofFixture is Test {
    uint256 internal constant COUNT = 8;
    /// @dev Public signals of the model: nine of the input, one of output and binding.
    uint256 internal constant SIGNALS = 10;
    /// @dev Orders of the scalar and of the base field.
    uint256 internal constant SCALARS =
        21888242871839275222246405745257275088548364400416034343698204186575808495617;
    uint256 internal constant COORDINATES =
        21888242871839275222246405745257275088696311157297823662689037894645226208583;

    ModelRegistry internal registry;
    ProofLane internal lane;
    ModelId internal model;
    bytes internal key;
    bytes32 internal vkHash;
    bytes internal program;
    bytes4 internal selector;
    uint8 internal lanes;
    bytes32 internal weightsRoot;
    address internal submitter;
    address internal other;
    bytes[] internal inputs;
    bytes[] internal outputs;
    bytes[] internal proofs;
    bytes internal otherProof;
    bytes internal forgedOutput;
    bytes internal forgedProof;

    function setUp() public virtual {
        string memory json = vm.readFile("test/vectors/proofs.json");
        registry = new ModelRegistry();
        // Proofs are bound to the contract's address. Its code holds its constants; it has no storage yet.
        address place = vm.parseJsonAddress(json, ".proofLane");
        vm.etch(place, address(new ProofLane(registry)).code);
        lane = ProofLane(place);
        key = vm.parseJsonBytes(json, ".key");
        vkHash = vm.parseJsonBytes32(json, ".vkHash");
        program = vm.parseJsonBytes(json, ".program");
        selector = bytes4(vm.parseJsonBytes(json, ".selector"));
        lanes = uint8(vm.parseJsonUint(json, ".lanes"));
        weightsRoot = vm.parseJsonBytes32(json, ".weightsRoot");
        submitter = vm.parseJsonAddress(json, ".submitter");
        other = vm.parseJsonAddress(json, ".other");
        inputs = vm.parseJsonBytesArray(json, ".inputs");
        outputs = vm.parseJsonBytesArray(json, ".outputs");
        proofs = vm.parseJsonBytesArray(json, ".proofs");
        otherProof = vm.parseJsonBytes(json, ".otherProof");
        forgedOutput = vm.parseJsonBytes(json, ".forgedOutput");
        forgedProof = vm.parseJsonBytes(json, ".forgedProof");
        model = _register(vkHash);
        lane.storeKey(model, key);
        assertEq(ModelId.unwrap(model), vm.parseJsonBytes32(json, ".modelId"), "another model");
    }

    function _register(bytes32 keyHash) internal returns (ModelId) {
        address[] memory chunks = new address[](1);
        chunks[0] = registry.storeChunk(program);
        return registry.register(chunks, weightsRoot, selector, lanes, keyHash);
    }

    /// @notice The same program with another key, stored.
    function _registerKey(bytes memory otherKey) internal returns (ModelId id) {
        id = _register(keccak256(otherKey));
        lane.storeKey(id, otherKey);
    }

    /// @dev A point off the curve costs all the gas that the precompile is given.
    uint256 internal constant GAS = 4_000_000;

    function _isTrue(bytes memory output, bytes memory proof) internal view returns (bool) {
        return lane.isTrue{gas: GAS}(model, inputs[0], output, proof, submitter);
    }

    /// @notice A copy with one bit flipped.
    function _flipped(bytes memory data, uint256 bit) internal pure returns (bytes memory copy) {
        copy = bytes.concat(data);
        copy[bit / 8] ^= bytes1(uint8(1 << (bit % 8)));
    }

    function _word(bytes memory data, uint256 index) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 0x20), shl(5, index)))
        }
    }

    /// @notice A copy with another word.
    function _with(bytes memory data, uint256 index, uint256 word) internal pure returns (bytes memory copy) {
        copy = bytes.concat(data);
        assembly ("memory-safe") {
            mstore(add(add(copy, 0x20), shl(5, index)), word)
        }
    }
}
