// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {ExecutionLane} from "../../../verifier-contracts/execution/ExecutionLane.sol";
import {IPromiseReader} from "../../../verifier-contracts/interfaces/IPromiseReader.sol";
import {IPromises} from "../../../verifier-contracts/interfaces/IPromises.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {
    Account,
    Batch,
    BatchId,
    PromiseStatus,
    SignedClaim
} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {Claim, ClaimId, ModelId, Opening, Request} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "../execution/ExecutionFixture.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";

/// @notice Promises on the real Assay, registry, judge, trace reader and execution lane.
abstract contract PromisesFixture is ExecutionFixture {
    using B for B.Draft;

    uint40 internal constant T = 100;
    uint256 internal constant W0 = 4 * uint256(T);
    uint64 internal constant FLOOR = 1 gwei;
    uint64 internal constant GAS_BASE = 145_000;
    uint64 internal constant GAS_PER_DEMAND = 122_000;
    /// @dev Of the model: its one tensor has one word.
    uint256 internal constant DEPTH = 1;
    uint32 internal constant TEXT_BYTES = 200;
    uint96 internal constant MIN_BOND = 1 ether;

    Assay internal assay;
    IPromises internal promises;
    IPromiseReader internal leaves;
    /// @dev Returns the three ids of a text's first token.
    ModelId internal model;
    uint64 private _nextSalt;

    address internal immutable prover = makeAddr("prover");
    address internal immutable alice = makeAddr("alice");
    address internal immutable bob = makeAddr("bob");
    uint256 internal signerKey;
    address internal signer;

    /// @notice A promise's claim in Assay.
    struct Filed {
        Request r;
        Claim c;
    }

    function setUp() public virtual override {
        super.setUp();
        vm.warp(1_800_000_000);
        vm.fee(0);
        (signer, signerKey) = makeAddrAndKey("signer");
        assay = new Assay(
            registry,
            judge,
            reader,
            new ExecutionLane(interpreter),
            ITruth(address(0)),
            T,
            FLOOR,
            GAS_BASE,
            GAS_PER_DEMAND
        );
        promises = deployPromises();
        leaves = promises.reader();
        model = registerText(EXECUTION | BOND);
        address[5] memory accounts = [prover, alice, bob, signer, address(this)];
        for (uint256 i; i < accounts.length; i++) {
            vm.deal(accounts[i], 1_000 ether);
        }
        vm.prank(prover);
        promises.setSigner(signer, uint40(block.timestamp + 30 days));
        promises.deposit{value: 10 ether}(prover);
    }

    /// @dev By its artifact: the contract has its own settings of the optimizer, this file has not.
    function deployPromises() internal returns (IPromises) {
        return IPromises(vm.deployCode("Promises.sol:Promises", abi.encode(assay)));
    }

    function registerText(uint8 lanes) internal returns (ModelId) {
        B.Draft memory draft = B.start(1, TEXT_BYTES, 1);
        draft.step(0x010102, B.dims2(1, 3), B.NONE, B.NONE, B.NONE, 1000);
        return registry.register(chunksOf(draft.bytesOf()), 0, SELECTOR, lanes, 0);
    }

    // What is asked and said

    function _input(string memory text) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(SELECTOR, text);
    }

    function _right(string memory text) internal view returns (bytes memory) {
        return interpreter.infer(model, _input(text));
    }

    function _wrong() internal pure returns (bytes memory) {
        return abi.encode(uint256(11), uint256(22), uint256(33));
    }

    function _promise(string memory text, bytes memory output) internal view returns (SignedClaim memory s) {
        s.prover = prover;
        s.modelId = model;
        s.inputHash = keccak256(_input(text));
        s.outputHash = keccak256(output);
        s.requester = alice;
        s.issuedAt = uint40(block.timestamp);
        s.expiry = uint40(block.timestamp + 1 hours);
        s.minBond = MIN_BOND;
    }

    function _sign(SignedClaim memory s) internal view returns (bytes memory) {
        return _signBy(signerKey, s);
    }

    function _signBy(uint256 key, SignedClaim memory s) internal view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 t) = vm.sign(key, leaves.digestOf(s));
        return abi.encodePacked(r, t, v);
    }

    function _least(uint256 gasPrice) internal pure returns (uint256) {
        return 20 * (GAS_BASE + GAS_PER_DEMAND * DEPTH) * gasPrice;
    }

    // Moves

    /// @notice Opens a promise of `_promise` by `opener`. @return f its claim, if it was not queued
    function _open(SignedClaim memory s, string memory text, bytes memory output, address opener)
        internal
        returns (Filed memory f)
    {
        bytes memory signature = _sign(s);
        (,, uint256 bond, uint256 required) = promises.check(s, signature, _input(text), output);
        vm.prank(opener);
        promises.open{value: required}(s, signature, _input(text), output);
        if (_status(s) == PromiseStatus.OPEN) f = _filed(s, text, output, bond);
    }

    function _openNext(SignedClaim memory s, string memory text, bytes memory output)
        internal
        returns (Filed memory f)
    {
        uint256 away = _account().away;
        promises.openNext(s, _input(text), output);
        return _filed(s, text, output, _account().away - away);
    }

    /// @notice The claim that a promise has just become.
    function _filed(SignedClaim memory s, string memory text, bytes memory output, uint256 bond)
        internal
        returns (Filed memory)
    {
        uint256 end = uint256(s.issuedAt) + 1 days;
        if (s.expiry < end) end = s.expiry;
        uint256 left = end > block.timestamp ? end - block.timestamp : 0;
        return _claimOf(_input(text), output, bond, left + W0);
    }

    /// @notice The claim that this contract's last move has filed.
    function _claimOf(bytes memory input, bytes memory output, uint256 bond, uint256 window)
        internal
        returns (Filed memory f)
    {
        f.r.requester = address(promises);
        f.r.modelId = model;
        f.r.inputHash = keccak256(input);
        f.r.lanes = EXECUTION | BOND;
        f.r.minBond = uint96(bond);
        f.r.window = uint32(window);
        f.r.expiry = uint40(block.timestamp + 1);
        f.r.salt = _nextSalt++;
        f.c.requestId = assay.requestIdOf(f.r);
        f.c.modelId = model;
        f.c.prover = address(promises);
        f.c.operator = prover;
        f.c.outputHash = keccak256(output);
        f.c.bond = uint96(bond);
        f.c.ticketBond = uint96(bond / 10);
        f.c.gasPrice = uint64(5 * block.basefee > FLOOR ? 5 * block.basefee : FLOOR);
        assertTrue(assay.claimWord(_id(f)) != 0, "no such claim");
        assertTrue(promises.filingOf(_id(f)).prover != address(0), "not filed");
    }

    function _challenge(Filed memory f, address challenger) internal {
        vm.prank(challenger);
        assay.challenge{value: f.c.ticketBond}(f.c);
    }

    /// @notice The claim falls: its trace does not come.
    function _fell(Filed memory f) internal {
        _challenge(f, bob);
        skip(T + 1);
        assay.timeoutTrace(f.c);
    }

    /// @notice The prover commits to the right trace of its disputed claim, and is convicted of another output.
    function _convict(Filed memory f, string memory text, bytes memory output) internal {
        (bytes32[] memory tops, Opening[] memory openings) = _opening(text);
        vm.prank(signer);
        promises.commitTrace(f.c, tops);
        assay.convictOutput(f.c, output, 0, openings);
    }

    /// @notice The right trace of a text, and what opens its one tensor.
    function _opening(string memory text)
        internal
        view
        returns (bytes32[] memory tops, Opening[] memory openings)
    {
        (int256 a, int256 b, int256 c) = abi.decode(_right(text), (int256, int256, int256));
        // The one tensor is one word, so its hash is the trace's root.
        bytes32[] memory words = new bytes32[](1);
        words[0] = bytes32(abi.encodePacked(int32(a), int32(b), int32(c), bytes20(0)));
        tops = new bytes32[](1);
        tops[0] = keccak256(abi.encode(words[0]));
        openings = new Opening[](1);
        openings[0] = Opening(words, new bytes32[](0));
    }

    /// @notice The claim's window ends with nobody against it.
    function _stood(Filed memory f) internal {
        skip(f.r.window);
        promises.close(f.r, f.c);
    }

    // Batches

    function _leaf(string memory text, bytes memory output) internal pure returns (bytes memory) {
        (int256 a, int256 b, int256 c) = abi.decode(output, (int256, int256, int256));
        return abi.encodePacked(uint16(bytes(text).length), text, int32(a), int32(b), int32(c));
    }

    /// @notice A batch of `count` leaves, right ones but for the leaf `wrong`.
    function _leavesOf(uint256 count, uint256 wrong) internal view returns (bytes[] memory payloads) {
        payloads = new bytes[](count);
        for (uint256 i; i < count; i++) {
            payloads[i] = _leaf(_text(i), i == wrong ? _wrong() : _right(_text(i)));
        }
    }

    function _text(uint256 i) internal pure returns (string memory) {
        return string.concat("headline", vm.toString(i), " of today");
    }

    function _post(bytes[] memory payloads, uint96 leafBond) internal returns (Batch memory batch) {
        bytes memory data;
        for (uint256 i; i < payloads.length; i++) {
            data = bytes.concat(data, payloads[i]);
        }
        batch = Batch(prover, model, uint32(W0), uint16(payloads.length), _root(payloads));
        vm.prank(signer);
        BatchId id = promises.post(prover, model, uint32(W0), leafBond, data);
        assertEq(BatchId.unwrap(id), BatchId.unwrap(leaves.batchIdOf(batch)));
    }

    function _openLeaf(Batch memory batch, bytes[] memory payloads, uint256 i, address opener)
        internal
        returns (Filed memory f)
    {
        (uint256 bond, uint256 required) = promises.leafBonds(batch);
        bytes32[] memory path = _path(payloads, i);
        vm.prank(opener);
        promises.openLeaf{value: required}(batch, i, payloads[i], path);
        if (leaves.leafStatus(leaves.batchIdOf(batch), i) == PromiseStatus.OPEN) {
            f = _filedLeaf(payloads[i], bond);
        }
    }

    function _nextLeaf(Batch memory batch, bytes memory payload) internal returns (Filed memory) {
        (uint256 bond,) = promises.leafBonds(batch);
        promises.nextLeaf(batch, payload);
        return _filedLeaf(payload, bond);
    }

    function _filedLeaf(bytes memory payload, uint256 bond) internal returns (Filed memory) {
        (, bytes memory input, bytes memory output) = leaves.readLeaf(model, payload);
        return _claimOf(input, output, bond, W0);
    }

    // The tree, level by level as it is defined: 2^levels leaves, the missing ones zero.

    function _levels(uint256 count) internal pure returns (uint256 levels) {
        while (1 << levels < count) levels++;
    }

    function _level(bytes[] memory payloads, uint256 height) private pure returns (bytes32[] memory nodes) {
        if (height == 0) {
            nodes = new bytes32[](1 << _levels(payloads.length));
            for (uint256 i; i < payloads.length; i++) {
                nodes[i] = keccak256(payloads[i]);
            }
            return nodes;
        }
        bytes32[] memory below = _level(payloads, height - 1);
        nodes = new bytes32[](below.length / 2);
        for (uint256 i; i < nodes.length; i++) {
            nodes[i] = keccak256(abi.encode(below[2 * i], below[2 * i + 1]));
        }
    }

    function _root(bytes[] memory payloads) internal pure returns (bytes32) {
        return _level(payloads, _levels(payloads.length))[0];
    }

    function _path(bytes[] memory payloads, uint256 i) internal pure returns (bytes32[] memory path) {
        path = new bytes32[](_levels(payloads.length));
        for (uint256 height; height < path.length; height++) {
            path[height] = _level(payloads, height)[(i >> height) ^ 1];
        }
    }

    // Reading

    function _account() internal view returns (Account memory) {
        return promises.accountOf(prover);
    }

    function _status(SignedClaim memory s) internal view returns (PromiseStatus) {
        return promises.signedState(leaves.digestOf(s)).status;
    }

    function _id(Filed memory f) internal view returns (ClaimId) {
        return assay.claimIdOf(f.c);
    }

    function _assertStake(uint256 free, uint256 leaving, uint256 away, uint256 slots) internal view {
        Account memory a = _account();
        assertEq(a.free, free, "free");
        assertEq(a.leaving, leaving, "leaving");
        assertEq(a.away, away, "away");
        assertEq(a.slots, slots, "slots");
    }
}
