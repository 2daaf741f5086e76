// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ToolAgent} from "../../../verifier-contracts/agents/ToolAgent.sol";
import {ModelResults} from "../../../verifier-contracts/agents/adapter/ModelResults.sol";
import {ClaimTerms} from "../../../verifier-contracts/agents/interfaces/IClaimedModelTool.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {DeliveryGas} from "../../../verifier-contracts/agents/libraries/DeliveryGas.sol";
import {ClaimedModelTool} from "../../../verifier-contracts/agents/model/ClaimedModelTool.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {Claim, LANE_BOND, ModelId, Policy, Request} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {ModelToolFixture} from "./support/ModelToolFixture.sol";
import {Params} from "./support/Params.sol";
import {MoodyHandler} from "./support/TestTools.sol";
import {BadConverter} from "./support/WordsConverter.sol";

/// @notice The longest outputs that contracts take, and that they really arrive in a transaction of 2^24 gas with all
/// storage cold; outputs are claimed, of bytes that cost most as calldata.
contract DeliveryLimitsTest is ModelToolFixture {
    uint256 private constant TRANSACTION_GAS = 1 << 24;
    /// @dev Words of the output for a handler that gets HANDLER_GAS, one that gets two million, and none at all.
    uint256 private constant MOST_WORDS = 499;
    uint256 private constant MOST_WORDS_DEAR = 443;
    uint256 private constant MOST_WORDS_STORED = 648;

    function test_deliver_longestOutput_succeeds() public {
        (MoodyHandler handler, int256 runId, Request memory r, Claim memory c) =
            _ready(MOST_WORDS, HANDLER_GAS);
        // The dearest handler: it uses all it gets.
        handler.setMood(MoodyHandler.Mood.BURN);
        _transaction(address(assay), abi.encodeCall(assay.deliver, (r, c, _longest(MOST_WORDS))));
        assertEq(assay.credits(alice), DELIVERY_FEE, "the callback failed");
        assertEq(tool.outputOf(runId), _longest(MOST_WORDS));
    }

    function test_deliver_longestWords_succeeds() public {
        (MoodyHandler handler, int256 runId, Request memory r, Claim memory c) =
            _ready(MOST_WORDS_DEAR, 2_000_000);
        _transaction(address(assay), abi.encodeCall(assay.deliver, (r, c, _longest(MOST_WORDS_DEAR))));
        assertEq(assay.credits(alice), DELIVERY_FEE, "the callback failed");
        assertTrue(tool.runOf(runId).delivered, "not delivered");
        assertEq(handler.lastResult(), _words(_longest(MOST_WORDS_DEAR)));
    }

    /// @dev A converter that uses all it gets leaves the output booked, too.
    function test_deliver_burningConverter_succeeds() public {
        BadConverter bad = new BadConverter(BadConverter.Mood.BURN);
        ModelId id = _modelOf(MOST_WORDS);
        tool = new ClaimedModelTool(_text(1), assay, id, bad, _bondTerms(HANDLER_GAS));
        (, int256 runId, Request memory r, Claim memory c) = _run(id, MOST_WORDS);
        _transaction(address(assay), abi.encodeCall(assay.deliver, (r, c, _longest(MOST_WORDS))));
        assertEq(assay.credits(alice), DELIVERY_FEE, "the callback failed");
        assertFalse(tool.runOf(runId).delivered);
    }

    function test_accept_longestOutput_succeeds() public {
        (MoodyHandler handler, int256 runId, Request memory r, Claim memory c) =
            _ready(MOST_WORDS, HANDLER_GAS);
        handler.setMood(MoodyHandler.Mood.BURN);
        _transaction(address(tool), abi.encodeCall(tool.accept, (r, c, _longest(MOST_WORDS))));
        assertEq(tool.outputOf(runId), _longest(MOST_WORDS));
        handler.setMood(MoodyHandler.Mood.TAKE);
    }

    function test_constructor_oneWordMore_reverts() public {
        ModelId id = _modelOf(MOST_WORDS + 1);
        ClaimTerms memory terms = _bondTerms(HANDLER_GAS);
        bytes4 why = DeliveryGas.OutputTooLong.selector;
        vm.expectRevert(abi.encodeWithSelector(why, 32 * MOST_WORDS + 32, 16_783_268, TRANSACTION_GAS));
        new ClaimedModelTool(_text(1), assay, id, words, terms);
        terms = _bondTerms(2_000_000);
        id = _modelOf(MOST_WORDS_DEAR + 1);
        vm.expectRevert(abi.encodeWithSelector(why, 32 * MOST_WORDS_DEAR + 32, 16_787_052, TRANSACTION_GAS));
        new ClaimedModelTool(_text(1), assay, id, words, terms);
        // So much gas for a handler that what is requested for the callback would not fit its 32 bits either.
        terms.handlerGas = type(uint32).max;
        vm.expectRevert(
            abi.encodeWithSelector(why, 32 * MOST_WORDS_DEAR + 32, 4_517_443_402, TRANSACTION_GAS)
        );
        new ClaimedModelTool(_text(1), assay, id, words, terms);
    }

    function test_record_longestOutput_succeeds() public {
        ModelId id = _modelOf(MOST_WORDS_STORED);
        ModelResults results = _results(id);
        (Request memory r, Claim memory c) = _final(id);
        _transaction(address(results), abi.encodeCall(results.record, (r, c, _longest(MOST_WORDS_STORED))));
        assertEq(results.outputOf(r.inputHash), _longest(MOST_WORDS_STORED));
    }

    function test_toolAgentAccept_longestOutput_succeeds() public {
        ModelId id = _modelOf(MOST_WORDS_STORED);
        ToolAgent asker = new ToolAgent(assay, address(this), Policy(id, 0, LANE_BOND, 0, WINDOW));
        ToolAgent.Offer memory offer;
        (offer.expiry, offer.fee) = (uint40(block.timestamp + 1 days), FEE);
        asker.ask{value: FEE}(_calldata(), offer);
        Request memory r = this.requestFor(asker, keccak256(_calldata()), offer);
        Claim memory c = _claim(r, _longest(MOST_WORDS_STORED));
        skip(WINDOW);
        bytes memory data = abi.encodeCall(asker.accept, (r, c, _longest(MOST_WORDS_STORED)));
        _transaction(address(asker), data);
        assertEq(asker.answerTo(assay.requestIdOf(r)).output, _longest(MOST_WORDS_STORED));
    }

    function test_recordConstructor_oneWordMore_reverts() public {
        ModelId id = _modelOf(MOST_WORDS_STORED + 1);
        bytes memory why = abi.encodeWithSelector(
            DeliveryGas.OutputTooLong.selector, 32 * MOST_WORDS_STORED + 32, 16_782_861, TRANSACTION_GAS
        );
        vm.expectRevert(why);
        _results(id);
        vm.expectRevert(why);
        new ToolAgent(assay, address(this), Policy(id, 0, LANE_BOND, 0, WINDOW));
    }

    function requestFor(ToolAgent asker, bytes32 inputHash, ToolAgent.Offer calldata offer)
        external
        view
        returns (Request memory)
    {
        return asker.requestFor(inputHash, offer);
    }

    /// @dev A model of one step whose output is raw bytes: offset, length and `count - 2` words of them.
    function _modelOf(uint256 count) private returns (ModelId) {
        B.Draft memory d = B.start(3, 1, 3);
        B.weight(d, 1, 2, B.dims1(1));
        B.step(d, 0x080900, B.dims1(uint32(32 * (count - 2))), B.W0, B.NONE, B.NONE, 0);
        address[] memory chunks = new address[](1);
        chunks[0] = registry.storeChunk(B.bytesOf(d));
        return registry.register(chunks, bytes32(count), 0x11223344, LANE_BOND, 0);
    }

    /// @dev No byte is zero, and no number of 256 bits is long in words.
    function _longest(uint256 count) private pure returns (bytes memory output) {
        output = new bytes(32 * count);
        for (uint256 i; i < count; i++) {
            assembly ("memory-safe") {
                mstore(add(add(output, 32), mul(i, 32)), not(0))
            }
        }
    }

    function _calldata() private pure returns (bytes memory) {
        uint256[] memory one = new uint256[](1);
        return abi.encodeWithSelector(0x11223344, one);
    }

    function _bondTerms(uint32 handlerGas) private pure returns (ClaimTerms memory terms) {
        terms = _claimTerms();
        (terms.lanes, terms.handlerGas) = (LANE_BOND, handlerGas);
    }

    function _results(ModelId id) private returns (ModelResults) {
        return new ModelResults(
            assay, IInterpreter(address(0)), ModelResults.Terms(id, LANE_BOND, 0, WINDOW, FEE, 1 days)
        );
    }

    function _ready(uint256 count, uint32 handlerGas)
        private
        returns (MoodyHandler, int256, Request memory, Claim memory)
    {
        ModelId id = _modelOf(count);
        tool = new ClaimedModelTool(_text(1), assay, id, words, _bondTerms(handlerGas));
        return _run(id, count);
    }

    /// @dev A run of the tool whose output is final and waits for its delivery.
    function _run(ModelId, uint256 count)
        private
        returns (MoodyHandler handler, int256 runId, Request memory r, Claim memory c)
    {
        handler = new MoodyHandler();
        tool.depositFor{value: tool.price()}(address(handler));
        int256[] memory one = new int256[](1);
        (runId,) = handler.run(
            tool, Params.input(IERCAgentTool.ParamValue(IERCAgentTool.ParamType.INT_ARRAY, abi.encode(one)))
        );
        r = tool.requestOf(runId, keccak256(_calldata()), uint40(block.timestamp + 1 days));
        c = _claim(r, _longest(count));
        skip(WINDOW);
        assay.finalize(r, c);
    }

    /// @dev A request of somebody's that is final.
    function _final(ModelId id) private returns (Request memory r, Claim memory c) {
        r = _requestOf(0);
        (r.modelId, r.lanes, r.inputHash) = (id, LANE_BOND, keccak256(_calldata()));
        vm.prank(requester);
        assay.request{value: FEE}(id, Orders.pack(r, _calldata()));
        c = _claim(r, _longest(MOST_WORDS_STORED));
        skip(WINDOW);
    }

    /// @dev Sends what a transaction of the most gas leaves behind its 21,000 and its calldata, to cold contracts.
    function _transaction(address to, bytes memory data) private {
        uint256 intrinsic = 21_000;
        for (uint256 i; i < data.length; i++) {
            intrinsic += data[i] == 0 ? 4 : 16;
        }
        address[5] memory parts =
            [address(assay), assay.courier(), address(tool), address(words), address(registry)];
        for (uint256 i; i < parts.length; i++) {
            vm.cool(parts[i]);
        }
        vm.cool(to);
        vm.prank(alice);
        uint256 before = gasleft();
        (bool success, bytes memory why) = to.call{gas: TRANSACTION_GAS - intrinsic}(data);
        emit log_named_uint("gas of the transaction", intrinsic + before - gasleft());
        assertTrue(success, string(why));
    }

    event log_named_uint(string key, uint256 value);
}
