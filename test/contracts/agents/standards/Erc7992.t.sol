// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Erc7992Registry} from "../../../../verifier-contracts/agents/standards/Erc7992Registry.sol";
import {Erc7992Verifier} from "../../../../verifier-contracts/agents/standards/Erc7992Verifier.sol";
import {
    IERCZKMLRegistry,
    IERCZKMLRegistryErrors
} from "../../../../verifier-contracts/agents/standards/interfaces/IERCZKMLRegistry.sol";
import {
    IERCZKMLVerifier
} from "../../../../verifier-contracts/agents/standards/interfaces/IERCZKMLVerifier.sol";
import {IModelRegistry} from "../../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {Claim, ModelId, Request, RequestId} from "../../../../verifier-contracts/types/Types.sol";
import {TestRegistry} from "../../support/assay/TestParts.sol";
import {StandardsFixture} from "./StandardsFixture.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice Also says which key a model has.
contract KeyedRegistry is TestRegistry {
    mapping(ModelId => bytes32) public vkHash;

    function setKey(ModelId modelId, bytes32 key) external {
        vkHash[modelId] = key;
    }

    function proofModelOf(ModelId modelId) external view returns (uint256, bytes32, address[] memory) {
        if (this.modelWord(modelId) == 0) revert IModelRegistry.UnknownModel(modelId);
        return (this.modelWord(modelId), vkHash[modelId], new address[](0));
    }
}

/// @dev ERC-7992, sections "Interfaces" and "Security".
contract Erc7992Test is StandardsFixture {
    bytes32 private constant KEY = keccak256("key");
    bytes4 private constant TRUTH = bytes4(keccak256("assay-truth-v1"));
    bytes4 private constant FINAL = bytes4(keccak256("assay-final-v1"));

    Erc7992Registry private listings;
    Erc7992Verifier private verifier;

    function setUp() public override {
        super.setUp();
        KeyedRegistry models = new KeyedRegistry();
        models.setModel(MODEL, _modelWord(ALL_LANES, DEPTH));
        models.setKey(MODEL, KEY);
        listings = new Erc7992Registry(IModelRegistry(address(models)));
        verifier = new Erc7992Verifier(assay, listings, _anyLane());
    }

    // Registry

    function test_registerModel_listing_succeeds() public {
        IERCZKMLRegistry.ModelCommitment memory listed = _commitment(FINAL);
        vm.expectEmit(true, true, true, true, address(listings));
        emit IERCZKMLRegistry.ModelRegistered(1, alice, listed);
        uint256 first = _list(FINAL);
        uint256 second = _list(FINAL);
        assertNotEq(first, second);
        (IERCZKMLRegistry.ModelCommitment memory read, bool deprecated, address owner) =
            listings.getModel(first);
        assertEq(abi.encode(read), abi.encode(listed));
        assertFalse(deprecated);
        assertEq(owner, alice);
    }

    function test_registerModel_unknownModel_reverts() public {
        IERCZKMLRegistry.ModelCommitment memory c = _commitment(FINAL);
        c.modelHash = keccak256("another");
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, c.modelHash));
        listings.registerModel(c);
    }

    function test_registerModel_otherKey_reverts() public {
        IERCZKMLRegistry.ModelCommitment memory c = _commitment(FINAL);
        c.vkHash = keccak256("another");
        vm.expectRevert(abi.encodeWithSelector(Erc7992Registry.CommitmentWrong.selector, c.modelHash, KEY));
        listings.registerModel(c);
        c = _commitment(FINAL);
        c.circuitHash = KEY;
        vm.expectRevert(abi.encodeWithSelector(Erc7992Registry.CommitmentWrong.selector, c.modelHash, KEY));
        listings.registerModel(c);
    }

    function test_updateModel_always_reverts() public {
        uint256 id = _list(FINAL);
        vm.expectRevert(abi.encodeWithSelector(IERCZKMLRegistry.NotModelOwner.selector, id, bob));
        vm.prank(bob);
        listings.updateModel(id, _commitment(TRUTH));
        vm.expectRevert(abi.encodeWithSelector(Erc7992Registry.CommitmentFixed.selector, id));
        vm.prank(alice);
        listings.updateModel(id, _commitment(TRUTH));
    }

    function test_deprecateModel_byOthers_reverts() public {
        uint256 id = _list(FINAL);
        vm.expectRevert(abi.encodeWithSelector(IERCZKMLRegistry.NotModelOwner.selector, id, bob));
        vm.prank(bob);
        listings.deprecateModel(id);
        vm.expectRevert(abi.encodeWithSelector(IERCZKMLRegistry.ModelNotFound.selector, id + 1));
        listings.deprecateModel(id + 1);
    }

    // Verifier

    function test_verifyInference_final_succeeds() public {
        uint256 id = _list(FINAL);
        (Request memory r, Claim memory c) = _finalClaim();
        bytes32 commitment = RequestId.unwrap(assay.requestIdOf(r));
        vm.expectEmit(true, true, true, true, address(verifier));
        emit IERCZKMLVerifier.InferenceVerified(id, commitment, _right(), bob);
        vm.prank(bob);
        verifier.verifyInference(id, commitment, _right(), abi.encode(r, c));
        assertEq(bytes32(verifier.proofSystemOf(id)), bytes32(FINAL));
        assertEq(verifier.registry(), address(listings));
    }

    function test_verifyInference_notFinal_reverts() public {
        uint256 id = _list(FINAL);
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW - 1);
        _expect(id, r, c, _right(), abi.encodeWithSelector(IERCZKMLVerifier.InvalidProof.selector));
    }

    function test_verifyInference_otherOutput_reverts() public {
        uint256 id = _list(FINAL);
        (Request memory r, Claim memory c) = _finalClaim();
        _expect(id, r, c, _wrong(), abi.encodeWithSelector(IERCZKMLVerifier.InvalidProof.selector));
    }

    /// @dev Replay: the same input asked anew has another commitment, and the old proof does not serve it.
    function test_verifyInference_otherCommitment_reverts() public {
        uint256 id = _list(FINAL);
        (Request memory r, Claim memory c) = _finalClaim();
        Request memory again = _newRequest();
        again.salt = r.salt + 1;
        _file(again);
        bytes32 commitment = RequestId.unwrap(assay.requestIdOf(again));
        vm.expectRevert(IERCZKMLVerifier.InputCommitmentMismatch.selector);
        verifier.verifyInference(id, commitment, _right(), abi.encode(r, c));
    }

    function test_verifyInference_otherModel_reverts() public {
        KeyedRegistry models = KeyedRegistry(address(listings.models()));
        ModelId other = ModelId.wrap(keccak256("another"));
        models.setModel(other, 1);
        IERCZKMLRegistry.ModelCommitment memory listed = _commitment(FINAL);
        (listed.modelHash, listed.vkHash) = (ModelId.unwrap(other), 0);
        uint256 id = listings.registerModel(listed);
        (Request memory r, Claim memory c) = _finalClaim();
        _expect(id, r, c, _right(), abi.encodeWithSelector(IERCZKMLVerifier.ModelMismatch.selector));
    }

    function test_verifyInference_deprecated_reverts() public {
        uint256 id = _list(FINAL);
        (Request memory r, Claim memory c) = _finalClaim();
        vm.prank(alice);
        listings.deprecateModel(id);
        vm.expectRevert(abi.encodeWithSelector(IERCZKMLRegistryErrors.ModelDeprecated.selector, id));
        vm.prank(alice);
        listings.deprecateModel(id);
        _expect(
            id,
            r,
            c,
            _right(),
            abi.encodeWithSelector(IERCZKMLVerifier.VerificationRefused_ModelDeprecated.selector, id)
        );
    }

    /// @dev A claim that only stood through its window is not what `assay-truth-v1` says.
    function test_verifyInference_truthSystem_succeeds() public {
        uint256 id = _list(TRUTH);
        (Request memory r, Claim memory none) = _settled();
        verifier.verifyInference(id, RequestId.unwrap(assay.requestIdOf(r)), _right(), abi.encode(r, none));
        Request memory bonded = _newRequest();
        bonded.salt = 2;
        _file(bonded);
        Claim memory c = _claim(bonded, prover, _right());
        skip(WINDOW);
        _expect(id, bonded, c, _right(), abi.encodeWithSelector(IERCZKMLVerifier.InvalidProof.selector));
    }

    function test_verifyInference_otherSystem_reverts() public {
        bytes4 groth = bytes4(keccak256("groth16-bn254-v1"));
        uint256 id = _list(groth);
        (Request memory r, Claim memory c) = _finalClaim();
        bytes memory why = abi.encodeWithSelector(IERCZKMLVerifier.UnsupportedProofSystem.selector, groth);
        _expect(id, r, c, _right(), why);
    }

    function test_supportsInterface_ids_succeeds() public view {
        assertTrue(verifier.supportsInterface(type(IERCZKMLVerifier).interfaceId));
        assertTrue(listings.supportsInterface(type(IERCZKMLRegistry).interfaceId));
        assertTrue(listings.supportsInterface(type(IERC165).interfaceId));
        assertFalse(verifier.supportsInterface(0xffffffff));
    }

    function _commitment(bytes4 system) private pure returns (IERCZKMLRegistry.ModelCommitment memory) {
        return IERCZKMLRegistry.ModelCommitment(ModelId.unwrap(MODEL), 0, KEY, system, "ipfs://model");
    }

    function _list(bytes4 system) private returns (uint256) {
        vm.prank(alice);
        return listings.registerModel(_commitment(system));
    }

    function _expect(uint256 id, Request memory r, Claim memory c, bytes memory output, bytes memory why)
        private
    {
        bytes32 commitment = RequestId.unwrap(assay.requestIdOf(r));
        vm.expectRevert(why);
        verifier.verifyInference(id, commitment, output, abi.encode(r, c));
    }
}
