// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentClient} from "../../../../verifier-contracts/agents/AgentClient.sol";
import {ClaimTerms} from "../../../../verifier-contracts/agents/interfaces/IClaimedModelTool.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "../../../../verifier-contracts/agents/interfaces/ToolResultConverter.sol";
import {ClaimedModelTool} from "../../../../verifier-contracts/agents/model/ClaimedModelTool.sol";
import {ModelToolText} from "../../../../verifier-contracts/agents/model/ModelTool.sol";
import {LANE_BOND, LANE_PROOF, Request, RequestId} from "../../../../verifier-contracts/types/Types.sol";
import {SettleFixture} from "../../proof/SettleFixture.sol";
import {Params} from "./Params.sol";
import {MoodyHandler} from "./TestTools.sol";
import {WordsConverter} from "./WordsConverter.sol";

/// @notice A claimed model tool over the real registry, Assay and PROOF lane, with real proofs.
abstract contract ModelToolFixture is SettleFixture {
    uint96 internal constant DELIVERY_FEE = 0.002 ether;
    uint32 internal constant HANDLER_GAS = 300_000;

    ClaimedModelTool internal tool;
    WordsConverter internal words;
    AgentClient internal client;

    function setUp() public virtual override {
        super.setUp();
        words = new WordsConverter();
        tool = _newTool(words);
        client = new AgentClient(address(this));
        vm.deal(address(this), 100 ether);
    }

    function _claimTerms() internal pure returns (ClaimTerms memory) {
        return ClaimTerms({
            lanes: LANE_PROOF | LANE_BOND,
            fee: FEE,
            deliveryFee: DELIVERY_FEE,
            minBond: 0,
            window: WINDOW,
            expirySeconds: 1 days,
            handlerGas: HANDLER_GAS
        });
    }

    function _text(uint256 params) internal pure returns (ModelToolText memory t) {
        (t.name, t.description) = ("ScoreTool", "scores a list of bytes");
        (t.paramNames, t.paramDescriptions) = (new string[](params), new string[](params));
        for (uint256 i; i < params; i++) {
            (t.paramNames[i], t.paramDescriptions[i]) = ("numbers", "bytes");
        }
    }

    function _newTool(ToolResultConverter converter) internal returns (ClaimedModelTool) {
        return new ClaimedModelTool(_text(1), assay, model, converter, _claimTerms());
    }

    /// @notice The bytes in a vector's calldata, behind selector, offset and length.
    function _numbers(uint256 i) internal view returns (uint256[] memory numbers) {
        numbers = new uint256[](uint32(registry.modelWord(model) >> 176));
        for (uint256 j; j < numbers.length; j++) {
            numbers[j] = uint8(inputs[i][68 + j]);
        }
    }

    function _listInput(uint256[] memory numbers) internal pure returns (IERCAgentTool.Input memory) {
        return Params.input(IERCAgentTool.ParamValue(IERCAgentTool.ParamType.UINT_ARRAY, abi.encode(numbers)));
    }

    function _toolInput(uint256 i) internal view returns (IERCAgentTool.Input memory) {
        return _listInput(_numbers(i));
    }

    function _ask() internal returns (int256 runId, Request memory r) {
        (runId,) = client.ask{value: tool.price()}(tool, _toolInput(0));
        r = _filed(runId);
    }

    function _askByHandler() internal returns (MoodyHandler handler, int256 runId, Request memory r) {
        handler = new MoodyHandler();
        tool.depositFor{value: tool.price()}(address(handler));
        (runId,) = handler.run(tool, _toolInput(0));
        r = _filed(runId);
    }

    /// @notice The request that a run filed in this second.
    function _filed(int256 runId) internal view returns (Request memory r) {
        r = tool.requestOf(runId, keccak256(inputs[0]), uint40(block.timestamp + 1 days));
        assertEq(_raw(r), RequestId.unwrap(tool.runOf(runId).requestId), "another request");
    }

    function _raw(Request memory r) internal view returns (bytes32) {
        return RequestId.unwrap(assay.requestIdOf(r));
    }

    function _words(bytes memory output) internal view returns (string memory) {
        return words.convertToString(output);
    }

    receive() external payable {}
}
