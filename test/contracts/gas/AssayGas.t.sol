// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Claim, Request} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {Listener} from "../support/assay/Callbacks.sol";
import {DisputeFixture} from "../support/assay/DisputeFixture.sol";

/// @notice Gas of the moves. With --isolate, as `npm run snapshot` runs it, each figure is a whole transaction: the
/// 21,000 and the calldata are in, every account and slot is cold. Without, figures are lower and limits hold easily.
contract AssayGasTest is DisputeFixture {
    using B for B.Draft;

    uint256 private constant INPUT_BYTES = 216;
    uint256 private constant DISPUTE_LIMIT = 760_000;

    event log_named_uint(string key, uint256 val);

    /// @dev A model that takes 216 bytes (calldata of 292) and returns 64.
    function _order() private returns (Request memory r, Claim memory c, Dispute memory d) {
        B.Draft memory draft = B.start(4, uint32(INPUT_BYTES), 1);
        draft.step(0x010400, B.dims1(2), B.NONE, B.NONE, B.NONE, 0);
        d.program = draft.bytesOf();
        d.selector = SELECTOR;
        bytes memory text = new bytes(INPUT_BYTES);
        for (uint256 i; i < INPUT_BYTES; i++) {
            text[i] = bytes1(uint8(97 + i % 26));
        }
        d.input = abi.encodeWithSelector(SELECTOR, text);
        d.output = abi.encode(uint256(uint8(text[0])), uint256(uint8(text[1])));
        r = _requestOf(d);
        c = _claimOf(r, d);
    }

    function _measure(string memory move) private returns (uint256 used) {
        used = vm.snapshotGasLastCall("assay", move);
        emit log_named_uint(move, used);
    }

    /// @dev Somebody's first request for a model, and somebody's first fall, also pay for slots that all share.
    function _warmUp(Request memory r, Claim memory c, Dispute memory d) private {
        r.salt = 99;
        c.requestId = assay.requestIdOf(r);
        _file(r, d);
        _claim(r, c, d);
        _challenge(c);
        skip(T + 1);
        assay.timeoutTrace(c);
    }

    function test_claim_gas_succeeds() public {
        (Request memory r, Claim memory c, Dispute memory d) = _order();
        (Request memory before,,) = _order();
        _warmUp(before, _claimOf(before, d), d);
        _file(r, d);
        assertLe(_measure("request, calldata of 292 bytes"), 58_000);
        _claim(r, c, d);
        assertLe(_measure("claim, output of 64 bytes"), 64_000);
        skip(WINDOW);
        assay.finalize(r, c);
        assertLe(_measure("finalize"), 66_000);
        vm.prank(prover);
        assay.withdraw(prover);
        _measure("withdraw");
    }

    function test_deliver_gas_succeeds() public {
        (Request memory r, Claim memory c, Dispute memory d) = _order();
        (r.callback, r.callbackGas) = (address(new Listener()), 400_000);
        c.requestId = assay.requestIdOf(r);
        _file(r, d);
        _claim(r, c, d);
        skip(WINDOW);
        assay.finalize(r, c);
        assay.deliver(r, c, d.output);
        _measure("deliver, with a callback that stores seven words");
    }

    function test_refund_gas_succeeds() public {
        (Request memory r,, Dispute memory d) = _order();
        _file(r, d);
        skip(2 days);
        assay.refund(r);
        _measure("refund");
    }

    function test_timeoutTrace_gas_succeeds() public {
        (Request memory r, Claim memory c, Dispute memory d) = _order();
        _file(r, d);
        _claim(r, c, d);
        _challenge(c);
        skip(T + 1);
        assay.timeoutTrace(c);
        _measure("timeoutTrace");
        assay.collect(c, challenger);
        _measure("collect");
    }

    /// @dev 64 steps, tensors of 128 KB, K = 768: seven transactions, no zero word in the trace.
    function test_convictElement_wholeDispute_succeeds() public {
        Dispute memory d = _readDispute("test/vectors/dispute-large.json");
        Request memory r = _requestOf(d);
        _warmUp(r, _claimOf(r, d), d);
        r = _requestOf(d);
        _file(r, d);
        Claim memory c = _claimOf(r, d);
        _claim(r, c, d);
        _challenge(c);
        uint256 total = _measure("dispute 1: challenge");
        _commit(c, d);
        total += _measure("dispute 2: commitTrace, 64 roots");
        assertEq(d.reveals.length, 2);
        for (uint256 i; i < 2; i++) {
            _demand(c, d, i);
            total += _measure(i == 0 ? "dispute 3: demand" : "dispute 5: demand");
            _reveal(c, d, i);
            total += _measure(i == 0 ? "dispute 4: reveal, 64 hashes" : "dispute 6: reveal, 64 words");
        }
        assay.convictElement(c, d.step, d.element, d.openings);
        uint256 conviction = _measure("dispute 7: convictElement, K = 768");
        assertLe(conviction, 180_000);
        total += conviction;
        vm.snapshotValue("assay", "dispute in all", total);
        emit log_named_uint("dispute in all", total);
        assertLe(total, DISPUTE_LIMIT);
    }
}
