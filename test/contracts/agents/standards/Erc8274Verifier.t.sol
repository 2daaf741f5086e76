// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Erc8274Verifier} from "../../../../verifier-contracts/agents/standards/Erc8274Verifier.sol";
import {Finality, FinalityTerms} from "../../../../verifier-contracts/agents/standards/Finality.sol";
import {IProofVerifier} from "../../../../verifier-contracts/agents/standards/interfaces/IProofVerifier.sol";
import {IAssay} from "../../../../verifier-contracts/interfaces/IAssay.sol";
import {Claim, LANE_PROOF, ModelId, Request} from "../../../../verifier-contracts/types/Types.sol";
import {StandardsFixture} from "./StandardsFixture.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @dev ERC-8274, sections "IProofVerifier" and "Interface Detection".
contract Erc8274VerifierTest is StandardsFixture {
    Erc8274Verifier private verifier;

    function setUp() public override {
        super.setUp();
        verifier = new Erc8274Verifier(assay);
    }

    function test_verify_finalClaim_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW - 1);
        assertFalse(_verify(r, c, _right()), "true only after finality");
        skip(1);
        assertTrue(_verify(r, c, _right()));
        assay.finalize(r, c);
        assertTrue(_verify(r, c, _right()), "booked or not");
    }

    function test_verify_disputedClaim_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        skip(WINDOW - 1);
        assertFalse(_verify(r, c, _wrong()));
        _convict(c);
        skip(10 * WINDOW);
        assertFalse(_verify(r, c, _wrong()), "a fallen claim proves nothing");
    }

    function test_verify_truthWithoutClaim_succeeds() public {
        (Request memory r, Claim memory none) = _settled();
        assertTrue(_verify(r, none, _right()));
        assertFalse(_verify(r, none, _wrong()));
    }

    /// @dev Everything that a proof says is bound: one flipped field of the call, and it proves nothing.
    function test_verify_tampered_succeeds() public {
        (Request memory r, Claim memory c) = _finalClaim();
        bytes memory proof = abi.encode(r, c, _right());
        bytes memory metadata = abi.encode(MODEL, _anyLane());
        (bytes32 input, bytes32 output) = (r.inputHash, keccak256(_right()));
        assertTrue(verifier.verify(input, output, metadata, proof));
        assertFalse(verifier.verify(input ^ bytes32(uint256(1)), output, metadata, proof), "input");
        assertFalse(verifier.verify(input, keccak256(_wrong()), metadata, proof), "output");
        assertFalse(verifier.verify(input, keccak256(_wrong()), metadata, abi.encode(r, c, _wrong())), "both");
        bytes memory other = abi.encode(ModelId.wrap(keccak256("another")), _anyLane());
        assertFalse(verifier.verify(input, output, other, proof), "model");
        c.bond += 1;
        assertFalse(verifier.verify(input, output, metadata, abi.encode(r, c, _right())), "claim");
        c.bond -= 1;
        r.salt += 1;
        assertFalse(verifier.verify(input, output, metadata, abi.encode(r, c, _right())), "request");
    }

    function test_verify_weakerThanTerms_succeeds() public {
        (Request memory r, Claim memory c) = _finalClaim();
        bytes memory proof = abi.encode(r, c, _right());
        FinalityTerms[3] memory terms = [
            FinalityTerms(LANE_PROOF, 0, 0),
            FinalityTerms(ALL_LANES, c.bond + 1, 0),
            FinalityTerms(ALL_LANES, 0, WINDOW + 1)
        ];
        for (uint256 i; i < terms.length; ++i) {
            bytes memory metadata = abi.encode(MODEL, terms[i]);
            assertFalse(verifier.verify(r.inputHash, c.outputHash, metadata, proof));
        }
        assertTrue(
            verifier.verify(
                r.inputHash, c.outputHash, abi.encode(MODEL, FinalityTerms(ALL_LANES, c.bond, WINDOW)), proof
            )
        );
    }

    /// @dev Attack: bring so little gas that the gate runs out of it, so that a settlement acts on "false".
    function test_verify_littleGas_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        bytes memory data = abi.encodeCall(
            IProofVerifier.verify,
            (r.inputHash, c.outputHash, abi.encode(MODEL, _anyLane()), abi.encode(r, c, _right()))
        );
        uint256 answered;
        for (uint256 gasLimit = 5_000; gasLimit < 120_000; gasLimit += 1_000) {
            (bool success, bytes memory answer) = address(verifier).call{gas: gasLimit}(data);
            if (!success) continue;
            ++answered;
            assertTrue(abi.decode(answer, (bool)), "no gas limit makes a final output a false one");
        }
        assertGt(answered, 0);
    }

    function test_verify_noAssay_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Erc8274Verifier nowhere = new Erc8274Verifier(IAssay(stranger));
        vm.expectRevert(abi.encodeWithSelector(Finality.FinalityUnknown.selector, stranger));
        nowhere.verify(r.inputHash, c.outputHash, abi.encode(MODEL, _anyLane()), abi.encode(r, c, _right()));
    }

    function test_proofProfile_recomputed_succeeds() public {
        assertEq(verifier.proofSystem(), "op/assay");
        bytes32 salt = keccak256(abi.encode(block.chainid, address(assay)));
        assertEq(verifier.proofProfile(), keccak256(abi.encodePacked("op/assay", salt)));
        assertNotEq(verifier.proofProfile(), new Erc8274Verifier(_deployAssay(T)).proofProfile());
    }

    function test_supportsInterface_ids_succeeds() public view {
        assertTrue(verifier.supportsInterface(type(IProofVerifier).interfaceId));
        assertTrue(verifier.supportsInterface(type(IERC165).interfaceId));
        assertFalse(verifier.supportsInterface(0xffffffff));
    }

    function _verify(Request memory r, Claim memory c, bytes memory output) private view returns (bool) {
        return verifier.verify(
            r.inputHash, keccak256(output), abi.encode(MODEL, _anyLane()), abi.encode(r, c, output)
        );
    }
}
