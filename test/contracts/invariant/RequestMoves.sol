// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {Claim, Request} from "../../../verifier-contracts/types/Types.sol";
import {GameSpec} from "./GameSpec.sol";

/// @notice Requests, claims, deliveries and refunds by anybody at any time.
abstract contract RequestMoves is GameSpec {
    function request(uint256 seed, uint256 fee, uint256 window) external {
        if (requests.length == 12) return;
        Request memory r;
        r.requester = actor(seed);
        r.modelId = modelId;
        r.inputHash = keccak256(input);
        r.lanes = uint8(1 + seed % 7);
        if (seed % 4 != 0) r.lanes = 7;
        r.fee = uint96(bound(fee, 0, 1 ether));
        r.window = uint32(window % 6 == 0 ? 4 * T - 1 : bound(window, 4 * T, 8 * T));
        r.expiry = uint40(block.timestamp + seed % (20 * T));
        r.callback = [address(0), listener, saboteur][seed % 3];
        r.callbackGas = 300_000;
        r.deliveryFee = r.callback == address(0) ? 0 : uint96(fee % 1 gwei);
        r.salt = uint64(requests.length);
        bool allowed = r.window >= 4 * T && r.expiry > block.timestamp;
        uint256 value = uint256(r.fee) + r.deliveryFee;
        if (play(
                Move.REQUEST,
                r.requester,
                value,
                abi.encodeCall(assay.request, (r.modelId, Orders.pack(r, input))),
                allowed
            )) {
            Filed storage f = requests.push();
            (f.r, f.state, f.claim) = (r, 1, NO_CLAIM);
        }
    }

    function claim(uint256 seed, uint256 pick) external {
        if (requests.length == 0 || claims.length == 24) return;
        uint256 index = pick % requests.length;
        Filed storage f = requests[index];
        Claim memory c;
        c.requestId = assay.requestIdOf(f.r);
        c.modelId = modelId;
        c.attempt = f.attempt;
        c.prover = actor(seed);
        c.operator = actor(seed / 8);
        bytes memory output = _output(seed / 64 % 2);
        c.outputHash = keccak256(output);
        c.gasPrice = assay.gasPriceFloor();
        (c.bond, c.ticketBond) = assay.bondsOf(f.r, c.gasPrice);
        bool allowed = f.state == 1 && block.timestamp <= f.r.expiry && f.r.lanes & 4 != 0;
        bytes memory data = abi.encodeCall(assay.claim, (f.r, c.operator, c.gasPrice, output));
        if (play(Move.CLAIM, c.prover, c.bond, data, allowed)) {
            f.state = 2;
            f.claim = claims.length;
            Made storage m = claims.push();
            (m.c, m.request, m.status, m.filedAt) = (c, index, 1, block.timestamp);
            m.windowEnd = block.timestamp + f.r.window;
        }
    }

    function deliver(uint256 seed, uint256 pick) external {
        if (requests.length == 0) return;
        Filed storage f = requests[pick % requests.length];
        (Claim memory c, bytes memory output) = _resultOf(f);
        bool wrong = seed % 8 == 0;
        if (wrong) output = _output(2);
        bool allowed = f.state == 3 && f.r.callback != address(0) && f.delivered == 0 && !wrong;
        address sender = actor(seed);
        bytes memory data = abi.encodeCall(assay.deliver, (f.r, c, output));
        if (play(Move.DELIVER, sender, 0, data, allowed) && f.r.callback == listener) {
            f.delivered = 1;
            credit[sender] += f.r.deliveryFee;
        }
    }

    function reclaimDelivery(uint256 seed, uint256 pick) external {
        if (requests.length == 0) return;
        Filed storage f = requests[pick % requests.length];
        // Mostly one whose delivery fee is still there.
        for (uint256 i; i < requests.length && pick % 8 != 0; i++) {
            f = requests[(pick % 12 + i) % requests.length];
            if (f.state == 3 && f.delivered == 0 && f.r.deliveryFee != 0) break;
        }
        bool allowed = f.state == 3 && f.delivered == 0 && f.r.deliveryFee != 0;
        uint256 first = f.settledAt + 7 days;
        if (allowed && seed % 4 == 0 && block.timestamp < first) vm.warp(first - seed / 4 % 2);
        allowed = allowed && block.timestamp >= first;
        if (play(Move.RECLAIM, actor(seed), 0, abi.encodeCall(assay.reclaimDelivery, (f.r)), allowed)) {
            f.delivered = 2;
            credit[f.r.requester] += f.r.deliveryFee;
        }
    }

    function refund(uint256 seed, uint256 pick) external {
        if (requests.length == 0) return;
        Filed storage f = requests[pick % requests.length];
        bool allowed = f.state == 1 && block.timestamp > f.r.expiry;
        if (play(Move.REFUND, actor(seed), 0, abi.encodeCall(assay.refund, (f.r)), allowed)) {
            f.state = 4;
            credit[f.r.requester] += uint256(f.r.fee) + f.r.deliveryFee;
        }
    }

    function _resultOf(Filed storage f) internal view returns (Claim memory c, bytes memory output) {
        if (f.claim == NO_CLAIM) return (c, _output(0));
        c = claims[f.claim].c;
        return (c, _outputOf(c));
    }
}
