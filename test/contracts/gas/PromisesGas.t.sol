// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Batch, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {Opening, Policy} from "../../../verifier-contracts/types/Types.sol";
import {BatchFixture} from "../promises/BatchFixture.sol";

/// @notice Gas of promises. With --isolate, as `npm run snapshot` runs it, each figure is a whole transaction.
contract PromisesGasTest is BatchFixture {
    uint256 private constant HEADLINES = 1024;
    uint256 private constant PER_INFERENCE = 500;
    uint256 private constant READ_LIMIT = 30_000;

    /// @dev Gas of a byte of the log that holds the data, and of a transaction and a token under EIP-7623's floor.
    uint256 private constant LOG_BYTE = 8;
    uint256 private constant TRANSACTION = 21_000;
    uint256 private constant FLOOR_TOKEN = 10;

    event log_named_uint(string key, uint256 val);

    function _measure(string memory move) private returns (uint256 used) {
        used = vm.snapshotGasLastCall("promises", move);
        emit log_named_uint(move, used);
    }

    /// @dev Headlines of some hundred bytes; the outputs are not what the model computes, nobody opens one.
    function _headlines(uint256 count) private pure returns (bytes[] memory payloads, bytes memory data) {
        bytes memory text =
            "Shares of the maker of turbines rose six percent after it lifted its outlook for the year";
        payloads = new bytes[](count);
        uint256 size = 2 + text.length + 4 + 12;
        data = new bytes(count * size);
        for (uint256 i; i < count; i++) {
            bytes memory leaf = abi.encodePacked(
                uint16(text.length + 4),
                text,
                bytes4(uint32(0x20202020 + i)),
                int32(1),
                int32(-700),
                int32(900)
            );
            payloads[i] = leaf;
            assembly {
                mcopy(add(add(data, 32), mul(i, size)), add(leaf, 32), size)
            }
        }
    }

    /// @dev Tokens of EIP-7623: one for a zero byte, four for another.
    function _tokens(bytes memory data) private pure returns (uint256 tokens) {
        for (uint256 i; i < data.length; i++) {
            tokens += data[i] == 0 ? 1 : 4;
        }
    }

    /// @notice Gas of `post` itself, the transaction and its calldata not counted.
    function timedPost(bytes calldata data) external returns (uint256 used) {
        bytes memory sent = abi.encodeCall(promises.post, (prover, model, uint32(W0), 0, data));
        address target = address(promises);
        bool done;
        assembly {
            used := gas()
            done := call(gas(), target, 0, add(sent, 32), mload(sent), 0, 0)
            used := sub(used, gas())
        }
        assertTrue(done);
    }

    function test_post_gas_succeeds() public {
        vm.prank(prover);
        promises.setSigner(address(this), type(uint40).max);
        uint256[4] memory counts = [uint256(1), 16, 128, HEADLINES];
        for (uint256 i; i < 4; i++) {
            (, bytes memory data) = _headlines(counts[i]);
            string memory what = string.concat("post, headlines: ", vm.toString(counts[i]));
            uint256 state = vm.snapshotState();
            uint256 execution = this.timedPost(data) - LOG_BYTE * data.length;
            vm.revertToState(state);
            promises.post(prover, model, uint32(W0), 0, data);
            _measure(what);
            vm.revertToState(state);
            bytes memory call_ = abi.encodeCall(promises.post, (prover, model, uint32(W0), 0, data));
            emit log_named_uint(
                "  of it the floor of its calldata", TRANSACTION + FLOOR_TOKEN * _tokens(call_)
            );
            emit log_named_uint("  bytes of a leaf", data.length / counts[i]);
            emit log_named_uint("  execution an inference, without the log", execution / counts[i]);
            if (counts[i] == HEADLINES) {
                vm.snapshotValue("promises", "post, execution an inference of 1,024", execution / HEADLINES);
                assertLe(execution / HEADLINES, PER_INFERENCE);
            }
        }
    }

    function timedRead(
        Batch calldata batch,
        uint256 index,
        bytes calldata payload,
        bytes32[] calldata path,
        Policy calldata p
    ) external view returns (uint256 used) {
        used = gasleft();
        leaves.requireFinalLeaf(batch, index, payload, path, p);
        return used - gasleft();
    }

    function test_requireFinalLeaf_gas_succeeds() public {
        (bytes[] memory payloads, bytes memory data) = _headlines(HEADLINES);
        vm.prank(signer);
        promises.post(prover, model, uint32(W0), 0, data);
        Batch memory batch = Batch(prover, model, uint32(W0), uint16(HEADLINES), _root(payloads));
        skip(W0);
        uint256 index = 777;
        (, bytes memory input,) = leaves.readLeaf(model, payloads[index]);
        Policy memory p = Policy(model, keccak256(input), BOND, 0, uint32(W0));
        bytes32[] memory path = _path(payloads, index);
        vm.cool(address(leaves));
        vm.cool(address(promises));
        vm.cool(address(registry));
        uint256 used = this.timedRead(batch, index, payloads[index], path, p);
        emit log_named_uint("requireFinalLeaf, of 1,024, all cold", used);
        vm.snapshotValue("promises", "requireFinalLeaf, of 1,024", used);
        assertLe(used, READ_LIMIT);
    }

    function test_open_gas_succeeds() public {
        string memory text = "Shares of the maker of turbines rose six percent after it lifted its outlook";
        bytes memory output = _right(text);
        SignedClaim memory s = _promise(text, output);
        bytes memory signature = _sign(s);
        promises.open{value: MIN_BOND / 10}(s, signature, _input(text), output);
        _measure("open");
        Filed memory f = _filed(s, text, output, MIN_BOND);
        skip(f.r.window);
        promises.close(f.r, f.c);
        _measure("close, final");
        s = _promise(text, output);
        s.minBond = 20 ether;
        f = _open(s, text, output, alice);
        s.salt = 1;
        signature = _sign(s);
        promises.open{value: 2 ether}(s, signature, _input(text), output);
        _measure("open, queued");
        skip(f.r.window);
        promises.close(f.r, f.c);
        promises.openNext(s, _input(text), output);
        _measure("openNext");
    }

    /// @dev A leaf of 1,024 that is wrong: opened, challenged, interrogated, convicted, closed.
    function test_openLeaf_wholeDispute_succeeds() public {
        string memory text = "Shares of the maker of turbines rose six percent after it lifted its outlook";
        bytes[] memory payloads = new bytes[](HEADLINES);
        bytes memory data;
        for (uint256 i; i < HEADLINES; i++) {
            payloads[i] = _leaf(text, _wrong());
        }
        data = new bytes(HEADLINES * payloads[0].length);
        for (uint256 i; i < HEADLINES; i++) {
            bytes memory leaf = payloads[i];
            assembly {
                mcopy(add(add(data, 32), mul(i, mload(leaf))), add(leaf, 32), mload(leaf))
            }
        }
        vm.prank(signer);
        promises.post(prover, model, uint32(W0), 0, data);
        Batch memory batch = Batch(prover, model, uint32(W0), uint16(HEADLINES), _root(payloads));
        bytes32[] memory path = _path(payloads, 777);
        (uint256 bond, uint256 required) = promises.leafBonds(batch);
        vm.prank(alice);
        promises.openLeaf{value: required}(batch, 777, payloads[777], path);
        uint256 total = _measure("leaf 1: openLeaf, of 1,024");
        Filed memory f = _filedLeaf(payloads[777], bond);
        _challenge(f, bob);
        total += vm.snapshotGasLastCall("promises", "leaf 2: challenge");
        total += _convictMeasured(f, text);
        promises.close(f.r, f.c);
        total += _measure("leaf 5: close, fallen");
        emit log_named_uint("leaf's dispute in all", total);
        vm.snapshotValue("promises", "leaf's dispute in all, a model of one step", total);
        assertLe(total, 800_000);
    }

    function _convictMeasured(Filed memory f, string memory text) private returns (uint256 total) {
        (bytes32[] memory tops, Opening[] memory openings) = _opening(text);
        vm.prank(signer);
        promises.commitTrace(f.c, tops);
        total = _measure("leaf 3: commitTrace");
        assay.convictOutput(f.c, _wrong(), 0, openings);
        total += _measure("leaf 4: convictOutput");
    }
}
