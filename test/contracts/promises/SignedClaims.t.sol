// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IPromises} from "../../../verifier-contracts/interfaces/IPromises.sol";
import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {PromiseStatus, SignedClaim, SignedState} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {PromisesFixture} from "./PromisesFixture.sol";

/// @notice Opening of signed claims: every condition, and what becomes of them.
contract SignedClaimsTest is PromisesFixture {
    uint256 private constant ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    string private constant TEXT = "shares rise";

    /// @dev `check` and `open` refuse for the same reason.
    function _refused(SignedClaim memory s, bytes memory signature, bytes memory why) private {
        _refusedContent(s, signature, _input(TEXT), _right(TEXT), why);
    }

    function _refusedContent(
        SignedClaim memory s,
        bytes memory signature,
        bytes memory input,
        bytes memory output,
        bytes memory why
    ) private {
        vm.expectRevert(why);
        promises.check(s, signature, input, output);
        vm.expectRevert(why);
        promises.open{value: 1 ether}(s, signature, input, output);
    }

    function test_open_default_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        bytes32 digest = leaves.digestOf(s);
        (bytes32 found, uint256 end, uint256 bond, uint256 required) =
            promises.check(s, _sign(s), _input(TEXT), _right(TEXT));
        assertEq(found, digest);
        assertEq(end, s.expiry);
        assertEq(bond, MIN_BOND);
        assertEq(required, MIN_BOND / 10);
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        _assertStake(9 ether, 0, 1 ether, 0);
        SignedState memory state = promises.signedState(digest);
        assertTrue(state.status == PromiseStatus.OPEN && state.shown);
        assertEq(state.opener, alice);
        assertEq(state.deposit, required);
        assertEq(f.r.window, 1 hours + W0);
        assertEq(f.c.operator, prover);
        assertEq(promises.filingOf(_id(f)).origin, digest);
    }

    function test_open_longLife_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.expiry = type(uint40).max;
        skip(1 days);
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        assertEq(f.r.window, W0);
    }

    function test_open_valueAbove_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (bytes memory signature, bytes memory output) = (_sign(s), _right(TEXT));
        vm.prank(alice);
        promises.open{value: 3 ether}(s, signature, _input(TEXT), output);
        assertEq(promises.credits(alice), 3 ether - MIN_BOND / 10);
    }

    function test_open_smallMinBond_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.minBond = 0;
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        assertEq(f.c.bond, _least(FLOOR));
    }

    /// @dev A promise holds for what it names as far as the stake goes.
    function test_open_minBondAboveStake_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.minBond = 11 ether;
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        assertEq(f.c.bond, 10 ether);
        _assertStake(0, 0, 10 ether, 0);
    }

    function test_open_baseFee_succeeds() public {
        vm.fee(10 gwei);
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.minBond = 0;
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        assertEq(f.c.bond, _least(50 gwei));
        assertEq(f.c.gasPrice, 50 gwei);
    }

    function test_open_fromLeaving_succeeds() public {
        vm.prank(prover);
        promises.announceExit(9.5 ether);
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        _assertStake(0, 9 ether, 1 ether, 0);
        _stood(f);
        // Half of the deposit is the prover's.
        _assertStake(0.5 ether + MIN_BOND / 20, 9.5 ether, 0, 0);
    }

    function test_open_unboundLater_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        vm.prank(prover);
        promises.setSigner(signer, uint40(block.timestamp + T));
        skip(T + 1);
        bytes memory signature = _sign(s);
        promises.open{value: 1 ether}(s, signature, _input(TEXT), _right(TEXT));
        _claimOf(_input(TEXT), _right(TEXT), MIN_BOND, 1 hours - T - 1 + W0);
    }

    function test_open_queues_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.minBond = 10 ether;
        _open(s, TEXT, _right(TEXT), alice);
        s.salt = 1;
        (bytes memory signature, bytes memory output) = (_sign(s), _right(TEXT));
        bytes32 digest = leaves.digestOf(s);
        vm.expectEmit(address(promises));
        emit IPromises.Queued(digest, prover, bob, 1 ether, s, _input(TEXT), output);
        vm.prank(bob);
        promises.open{value: 1 ether}(s, signature, _input(TEXT), output);
        assertTrue(_status(s) == PromiseStatus.QUEUED);
        assertEq(_account().head, leaves.digestOf(s));
        assertEq(_account().tail, leaves.digestOf(s));
    }

    function test_open_twice_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        bytes32 digest = leaves.digestOf(s);
        _refused(
            s,
            _sign(s),
            abi.encodeWithSelector(IPromisesErrors.AlreadyOpened.selector, digest, PromiseStatus.OPEN)
        );
        _stood(f);
        _refused(
            s,
            _sign(s),
            abi.encodeWithSelector(IPromisesErrors.AlreadyOpened.selector, digest, PromiseStatus.CLOSED)
        );
    }

    function test_open_signatureLength_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (uint8 v, bytes32 r, bytes32 t) = vm.sign(signerKey, leaves.digestOf(s));
        bytes memory compact = abi.encodePacked(r, t | bytes32(uint256(v - 27) << 255));
        _refused(s, compact, abi.encodeWithSelector(IPromisesErrors.SignatureLengthWrong.selector, 64, 65));
        _refused(s, "", abi.encodeWithSelector(IPromisesErrors.SignatureLengthWrong.selector, 0, 65));
        _refused(
            s,
            bytes.concat(_sign(s), hex"00"),
            abi.encodeWithSelector(IPromisesErrors.SignatureLengthWrong.selector, 66, 65)
        );
    }

    function test_open_malleable_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (uint8 v, bytes32 r, bytes32 t) = vm.sign(signerKey, leaves.digestOf(s));
        bytes32 twin = bytes32(ORDER - uint256(t));
        assertEq(ecrecover(leaves.digestOf(s), 55 - v, r, twin), signer);
        _refused(
            s,
            abi.encodePacked(r, twin, 55 - v),
            abi.encodeWithSelector(IPromisesErrors.SignatureMalleable.selector, twin, bytes32(ORDER / 2))
        );
    }

    function test_open_signatureInvalid_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (uint8 v, bytes32 r, bytes32 t) = vm.sign(signerKey, leaves.digestOf(s));
        uint8 other = v - 27;
        _refused(
            s,
            abi.encodePacked(r, t, other),
            abi.encodeWithSelector(IPromisesErrors.SignatureInvalid.selector, other)
        );
    }

    /// @dev Anybody makes r and s for which s·R = z·G: they are of no key.
    function test_open_signatureOfInfinity_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        uint256 z = uint256(leaves.digestOf(s)) % ORDER;
        // R is the generator, whose y is even.
        uint256 r = 0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798;
        (uint256 t, uint8 v) = z > ORDER / 2 ? (ORDER - z, 28) : (z, 27);
        bytes memory why = abi.encodeWithSelector(IPromisesErrors.SignatureInvalid.selector, v);
        _refused(s, abi.encodePacked(r, t, v), why);
    }

    function test_open_otherKey_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (address other, uint256 key) = makeAddrAndKey("other");
        bytes memory why =
            abi.encodeWithSelector(IPromisesErrors.SignerNotBound.selector, other, prover, 0, s.issuedAt);
        _refused(s, _signBy(key, s), why);
    }

    /// @dev A contract at the signer's address, however agreeable, signs nothing.
    function test_open_codeOfSigner_succeeds() public {
        vm.etch(signer, hex"60005260206000f3");
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        _open(s, TEXT, _right(TEXT), alice);
        assertTrue(_status(s) == PromiseStatus.OPEN);
    }

    function test_open_issuedBehindUntil_reverts() public {
        uint40 until = uint40(block.timestamp + T);
        vm.prank(prover);
        promises.setSigner(signer, until);
        skip(T + 1);
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        _refused(
            s,
            _sign(s),
            abi.encodeWithSelector(IPromisesErrors.SignerNotBound.selector, signer, prover, until, s.issuedAt)
        );
        s.issuedAt = until;
        _open(s, TEXT, _right(TEXT), alice);
    }

    function test_open_issuedLater_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.issuedAt += 1;
        _refused(
            s,
            _sign(s),
            abi.encodeWithSelector(IPromisesErrors.NotYetIssued.selector, block.timestamp, s.issuedAt)
        );
        skip(1);
        _open(s, TEXT, _right(TEXT), alice);
    }

    function test_open_expired_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        skip(1 hours + 1);
        _refused(
            s,
            _sign(s),
            abi.encodeWithSelector(IPromisesErrors.PromiseExpired.selector, block.timestamp, s.expiry)
        );
        s.expiry += 1;
        _open(s, TEXT, _right(TEXT), alice);
    }

    function test_open_pastMaxLife_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.expiry = type(uint40).max;
        skip(1 days + 1);
        _refused(
            s,
            _sign(s),
            abi.encodeWithSelector(
                IPromisesErrors.PromiseExpired.selector, block.timestamp, s.issuedAt + 1 days
            )
        );
    }

    function test_open_otherInput_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        bytes memory input = _input("shares fall");
        _refusedContent(
            s,
            _sign(s),
            input,
            _right(TEXT),
            abi.encodeWithSelector(IAssayErrors.InputHashMismatch.selector, keccak256(input), s.inputHash)
        );
    }

    function test_open_otherOutput_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        _refusedContent(
            s,
            _sign(s),
            _input(TEXT),
            _wrong(),
            abi.encodeWithSelector(IAssayErrors.OutputMismatch.selector, keccak256(_wrong()), s.outputHash)
        );
    }

    function test_open_unknownModel_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.modelId = ModelId.wrap(keccak256("another"));
        _refused(s, _sign(s), abi.encodeWithSelector(IAssayErrors.UnknownModel.selector, s.modelId));
    }

    function test_open_withoutBondLane_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.modelId = registry.registerProofModel(SELECTOR, 2, 1, keccak256("key"));
        _refused(s, _sign(s), abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, BOND, uint8(2)));
        s.modelId = registerText(EXECUTION);
        _refused(s, _sign(s), abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, BOND, EXECUTION));
    }

    function test_open_inputNotCanonical_reverts() public {
        bytes memory input = bytes.concat(_input(TEXT), hex"00");
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.inputHash = keccak256(input);
        bytes memory why = abi.encodeWithSelector(IAssayErrors.InputNotCanonical.selector);
        _refusedContent(s, _sign(s), input, _right(TEXT), why);
        input = _input(string(new bytes(TEXT_BYTES + 1)));
        s.inputHash = keccak256(input);
        _refusedContent(s, _sign(s), input, _right(TEXT), why);
    }

    function test_open_outputLength_reverts() public {
        bytes memory output = bytes.concat(_right(TEXT), hex"00");
        SignedClaim memory s = _promise(TEXT, output);
        _refusedContent(
            s,
            _sign(s),
            _input(TEXT),
            output,
            abi.encodeWithSelector(IAssayErrors.OutputLengthWrong.selector, 97, 96)
        );
    }

    function test_open_value_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (bytes memory signature, bytes memory output) = (_sign(s), _right(TEXT));
        uint256 required = MIN_BOND / 10;
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.DepositTooLow.selector, required - 1, required)
        );
        promises.open{value: required - 1}(s, signature, _input(TEXT), output);
    }

    /// @dev Whichever field of a signed claim is changed, its signature is another key's, or nobody's.
    function testFuzz_open_changedField_reverts(uint256 field, uint256 change) public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        bytes memory signature = _sign(s);
        field = bound(field, 0, 8);
        uint8[9] memory bits = [160, 255, 255, 255, 160, 40, 40, 96, 64];
        change = bound(change, 1, 2 ** uint256(bits[field]) - 1);
        assembly {
            let at := add(s, mul(32, field))
            mstore(at, xor(mload(at), change))
        }
        (bool done,) = address(promises).call{value: 1 ether}(
            abi.encodeCall(promises.open, (s, signature, _input(TEXT), _right(TEXT)))
        );
        assertFalse(done);
    }

    /// @dev Bits beyond a field are refused as well: there is one encoding of a signed claim.
    function testFuzz_open_dirtyBits_reverts(uint256 field, uint256 bit) public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        uint8[6] memory fields = [0, 4, 5, 6, 7, 8];
        uint8[6] memory bits = [160, 160, 40, 40, 96, 64];
        field = bound(field, 0, 5);
        bit = bound(bit, bits[field], 255);
        bytes memory sent = abi.encodeCall(promises.open, (s, _sign(s), _input(TEXT), _right(TEXT)));
        uint256 at = 36 + 32 * uint256(fields[field]);
        assembly {
            let place := add(sent, at)
            mstore(place, xor(mload(place), shl(bit, 1)))
        }
        vm.expectRevert(bytes(""));
        this.forward{value: 1 ether}(sent);
    }

    function forward(bytes calldata sent) external payable {
        (bool done, bytes memory why) = address(promises).call{value: msg.value}(sent);
        assembly {
            if iszero(done) { revert(add(why, 32), mload(why)) }
        }
    }
}
