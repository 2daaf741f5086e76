// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ClaimWord} from "../../../verifier-contracts/libraries/ClaimWord.sol";
import {
    Account,
    Batch,
    BatchId,
    PromiseStatus,
    SignedClaim
} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {PromisesFixture} from "../promises/PromisesFixture.sol";

/// @notice Moves of everybody on the real contracts, and the books of what went in and out. A move that the rules
/// forbid at the moment is refused by the contract and counted.
contract PromisesHandler is PromisesFixture {
    enum Move {
        DEPOSIT,
        ANNOUNCE,
        EXIT,
        OPEN,
        OPEN_NEXT,
        PASS,
        TAKE_BACK,
        CHALLENGE,
        TIMEOUT,
        CLOSE,
        POST,
        OPEN_LEAF,
        NEXT_LEAF,
        DROP_LEAF,
        RELEASE,
        WITHDRAW,
        PULL_BURN
    }

    uint256 private constant LEAVES = 3;

    mapping(Move => uint256) public accepted;
    mapping(Move => uint256) public refused;

    uint256 public received;
    uint256 public paid;
    uint256 public lost;
    uint256 public forced;

    SignedClaim[] private _signedClaims;
    bytes[] private _outputs;
    Batch[] private _batches;
    bytes[][] private _payloads;
    Filed[] private _claims;
    mapping(uint256 claim => bool) private _isClosed;
    mapping(bytes32 digest => bool) private _wasFinal;

    function setUp() public override {
        super.setUp();
        received = 10 ether;
    }

    function _try(Move move, address from, uint256 value, bytes memory data) private returns (bool done) {
        vm.deal(from, value + 1 ether);
        vm.prank(from);
        (done,) = address(promises).call{value: value}(data);
        done ? accepted[move]++ : refused[move]++;
        if (done) received += value;
    }

    function _who(uint256 seed) private view returns (address) {
        return seed % 2 == 0 ? alice : bob;
    }

    function deposit(uint256 amount) external {
        amount = bound(amount, 0, 3 ether);
        _try(Move.DEPOSIT, alice, amount, abi.encodeCall(promises.deposit, (prover)));
    }

    function announceExit(uint256 amount) external {
        _try(Move.ANNOUNCE, prover, 0, abi.encodeCall(promises.announceExit, (bound(amount, 0, 6 ether))));
    }

    function exit() external {
        uint256 leaving = _account().leaving;
        bytes32 head = _account().head;
        if (_try(Move.EXIT, prover, 0, abi.encodeCall(promises.exit, (prover)))) {
            paid += leaving;
            assertEq(head, 0, "stake left while a promise waited");
        }
    }

    function open(uint256 who, uint256 minBond, bool isWrong, bool isOld) external {
        uint256 n = _signedClaims.length;
        if (isOld && n != 0) return _show(who % n, _who(who));
        string memory text = _text(n);
        bytes memory output = isWrong ? _wrong() : _right(text);
        SignedClaim memory s = _promise(text, output);
        s.minBond = uint96(bound(minBond, 0, 8 ether));
        s.salt = uint64(n);
        _signedClaims.push(s);
        _outputs.push(output);
        _show(n, _who(who));
    }

    function _show(uint256 n, address opener) private {
        SignedClaim memory s = _signedClaims[n];
        uint256 away = _account().away;
        bytes memory data = abi.encodeCall(promises.open, (s, _sign(s), _input(_text(n)), _outputs[n]));
        if (!_try(Move.OPEN, opener, 2 ether, data)) return;
        if (_status(s) == PromiseStatus.OPEN) {
            _claims.push(_filed(s, _text(n), _outputs[n], _account().away - away));
        }
    }

    function openNext(uint256 n) external {
        if (_signedClaims.length == 0) return;
        n %= _signedClaims.length;
        // Mostly the head.
        for (uint256 i; i < _signedClaims.length; i++) {
            if (leaves.digestOf(_signedClaims[i]) == _account().head) n = i;
        }
        SignedClaim memory s = _signedClaims[n];
        uint256 away = _account().away;
        bytes memory data = abi.encodeCall(promises.openNext, (s, _input(_text(n)), _outputs[n]));
        if (_try(Move.OPEN_NEXT, alice, 0, data)) {
            _claims.push(_filed(s, _text(n), _outputs[n], _account().away - away));
        }
    }

    function passNext(uint256 n) external {
        bytes32 behind =
            _signedClaims.length == 0 ? bytes32(0) : leaves.digestOf(_signedClaims[n % _signedClaims.length]);
        _try(Move.PASS, bob, 0, abi.encodeCall(promises.passNext, (prover, behind)));
    }

    function takeBack(uint256 n) external {
        if (_signedClaims.length == 0) return;
        bytes32 digest = leaves.digestOf(_signedClaims[n % _signedClaims.length]);
        address opener = promises.signedState(digest).opener;
        if (opener == address(0)) opener = bob;
        _try(Move.TAKE_BACK, opener, 0, abi.encodeCall(promises.takeBack, (digest)));
    }

    function challenge(uint256 n, uint256 who) external {
        if (_claims.length == 0) return;
        Filed memory f = _claims[n % _claims.length];
        vm.deal(_who(who), f.c.ticketBond);
        vm.prank(_who(who));
        try assay.challenge{value: f.c.ticketBond}(f.c) {
            accepted[Move.CHALLENGE]++;
        } catch {
            refused[Move.CHALLENGE]++;
        }
    }

    function timeout(uint256 n) external {
        if (_claims.length == 0) return;
        try assay.timeoutTrace(_claims[n % _claims.length].c) {
            accepted[Move.TIMEOUT]++;
        } catch {
            refused[Move.TIMEOUT]++;
        }
    }

    function close(uint256 n) external {
        if (_claims.length == 0) return;
        n %= _claims.length;
        Filed memory f = _claims[n];
        bool done = _try(Move.CLOSE, bob, 0, abi.encodeCall(promises.close, (f.r, f.c)));
        if (!done) return;
        assertFalse(_isClosed[n], "closed twice");
        _isClosed[n] = true;
        ClaimWord word = ClaimWord.wrap(assay.claimWord(_id(f)));
        if (word.status() == 3) lost += f.c.bond;
        else received += uint256(f.c.ticketBond / 2) * word.tickets();
    }

    function post(uint256 wrong, uint256 leafBond) external {
        uint256 n = _batches.length;
        bytes[] memory payloads = new bytes[](LEAVES);
        bytes memory data;
        for (uint256 i; i < LEAVES; i++) {
            string memory text = _text(1000 * n + i);
            payloads[i] = _leaf(text, i == wrong % 4 ? _wrong() : _right(text));
            data = bytes.concat(data, payloads[i]);
        }
        bytes memory call_ = abi.encodeCall(
            promises.post, (prover, model, uint32(W0), uint96(bound(leafBond, 0, 1 ether)), data)
        );
        if (!_try(Move.POST, signer, 0, call_)) return;
        _batches.push(Batch(prover, model, uint32(W0), uint16(LEAVES), _root(payloads)));
        _payloads.push(payloads);
    }

    function openLeaf(uint256 n, uint256 i, uint256 who) external {
        if (_batches.length == 0) return;
        n %= _batches.length;
        i %= LEAVES;
        Batch memory batch = _batches[n];
        (uint256 bond, uint256 required) = promises.leafBonds(batch);
        bytes memory data =
            abi.encodeCall(promises.openLeaf, (batch, i, _payloads[n][i], _path(_payloads[n], i)));
        if (!_try(Move.OPEN_LEAF, _who(who), required, data)) return;
        if (leaves.leafStatus(leaves.batchIdOf(batch), i) == PromiseStatus.OPEN) {
            _claims.push(_filedLeaf(_payloads[n][i], bond));
        }
    }

    /// @dev A leaf falls while another one of its batch waits for stake that a fee spike took out of reach: by single moves
    /// that is so rare that nobody would ever drop a leaf.
    function fallWhileAnotherWaits(uint256 n) external {
        uint256 filed = _claims.length;
        vm.fee(0);
        this.openLeaf(n, 0, 0);
        if (_claims.length == filed) return;
        vm.fee(1_500 gwei);
        this.openLeaf(n, 1, 1);
        this.challenge(filed, 1);
        skip(W0 / 4 + 1);
        this.timeout(filed);
        this.close(filed);
    }

    function nextLeaf(uint256 n) external {
        if (_batches.length == 0) return;
        n %= _batches.length;
        (uint256 bond,) = promises.leafBonds(_batches[n]);
        uint256 i = n % LEAVES;
        try promises.firstQueuedLeaf(leaves.batchIdOf(_batches[n])) returns (uint256 first) {
            i = first;
        } catch {}
        bytes memory data = abi.encodeCall(promises.nextLeaf, (_batches[n], _payloads[n][i]));
        if (_try(Move.NEXT_LEAF, bob, 0, data)) _claims.push(_filedLeaf(_payloads[n][i], bond));
    }

    function dropLeaf(uint256 n) external {
        if (_batches.length == 0) return;
        _try(Move.DROP_LEAF, bob, 0, abi.encodeCall(promises.dropLeaf, (_batches[n % _batches.length])));
    }

    function release(uint256 n) external {
        if (_batches.length == 0) return;
        _try(Move.RELEASE, bob, 0, abi.encodeCall(promises.release, (_batches[n % _batches.length])));
    }

    function withdraw(uint256 who) external {
        uint256 credit = promises.credits(_who(who));
        if (_try(Move.WITHDRAW, _who(who), 0, abi.encodeCall(promises.withdraw, (prover)))) paid += credit;
    }

    function pullBurn() external {
        uint256 amount = promises.burned();
        if (_try(Move.PULL_BURN, bob, 0, abi.encodeCall(promises.pullBurn, ()))) paid += amount;
    }

    function forceEther() external {
        vm.deal(address(promises), address(promises).balance + 1 gwei);
        forced += 1 gwei;
    }

    function setFee(uint256 fee) external {
        vm.fee(fee % 3 == 0 ? 1_500 gwei : fee % 3 == 1 ? 10 gwei : 0);
    }

    function wait(uint256 periodSeconds) external {
        skip(periodSeconds % 8 == 0 ? 1 days : bound(periodSeconds, 1, 2 * W0));
    }

    // What must hold

    function _deposits() private view returns (uint256 sum) {
        for (uint256 i; i < _signedClaims.length; i++) {
            sum += promises.signedState(leaves.digestOf(_signedClaims[i])).deposit;
        }
        for (uint256 n; n < _batches.length; n++) {
            for (uint256 i; i < LEAVES; i++) {
                sum += promises.leafState(leaves.batchIdOf(_batches[n]), i).deposit;
            }
        }
    }

    function checkBooks() external view {
        Account memory a = _account();
        uint256 here = uint256(a.free) + a.leaving + a.slots + _deposits() + promises.burned()
            + promises.credits(alice) + promises.credits(bob);
        assertEq(here + a.away + paid + lost, received, "books");
        assertEq(address(promises).balance, here + forced, "balance");
    }

    /// @dev Bonds in Assay are those of the claims that nobody closed.
    function checkAway() external view {
        uint256 away;
        for (uint256 i; i < _claims.length; i++) {
            if (!_isClosed[i]) away += _claims[i].c.bond;
        }
        assertEq(_account().away, away, "away");
    }

    function checkFinality() external {
        for (uint256 n; n < _batches.length; n++) {
            BatchId id = leaves.batchIdOf(_batches[n]);
            bool isFinal = leaves.isBatchFinal(id);
            assertTrue(isFinal || !_wasFinal[BatchId.unwrap(id)], "a final batch is final no more");
            _wasFinal[BatchId.unwrap(id)] = isFinal;
        }
    }

    /// @dev The queue holds each waiting promise once, forwards.
    function checkQueue() external view {
        uint256 waiting;
        bool hasHead;
        for (uint256 i; i < _signedClaims.length; i++) {
            if (_status(_signedClaims[i]) != PromiseStatus.QUEUED) continue;
            waiting++;
            if (leaves.digestOf(_signedClaims[i]) == _account().head) hasHead = true;
        }
        assertEq(waiting != 0, hasHead, "head");
        assertEq(waiting != 0, _account().tail != 0, "tail");
    }
}
