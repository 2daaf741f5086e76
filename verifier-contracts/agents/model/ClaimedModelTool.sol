// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {IAssayCallback} from "../../interfaces/IAssayCallback.sol";
import {Orders} from "../../libraries/Orders.sol";
import {
    DELIVERED,
    RECLAIMED,
    REQUEST_DONE,
    REQUEST_OPEN,
    REQUEST_REFUNDED,
    RequestWord
} from "../../libraries/RequestWord.sol";
import {Claim, LANE_BOND, ModelId, Policy, Request, RequestId} from "../../types/Types.sol";
import {Prepaid} from "../Prepaid.sol";
import {ToolMetadata} from "../ToolMetadata.sol";
import {ClaimTerms, IClaimedModelTool, ModelRun} from "../interfaces/IClaimedModelTool.sol";
import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../interfaces/IPrepaid.sol";
import {ToolResultConverter} from "../interfaces/ToolResultConverter.sol";
import {BoundedCall} from "../libraries/BoundedCall.sol";
import {Conversion} from "../libraries/Conversion.sol";
import {DeliveryGas} from "../libraries/DeliveryGas.sol";
import {ResultHandler} from "../libraries/ResultHandler.sol";
import {ModelTool, ModelToolText} from "./ModelTool.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice A model tool that answers later (IClaimedModelTool).
/// @dev A handler that fails, burns its gas or is gone changes nothing but its own delivery. While a run is filed,
/// delivered or refunded, none of these may be entered again.
contract ClaimedModelTool is IClaimedModelTool, ModelTool, Prepaid {
    /// @dev Gas for the converter, a view that makes a short text: for a few words; then for reading and converting each
    /// word of the output.
    uint256 private constant CONVERT_GAS = 200_000;
    uint256 private constant CONVERT_GAS_PER_WORD = 6_000;

    IAssay public immutable assay;
    address private immutable _courier;
    ClaimTerms private _terms;
    uint256 private immutable _convertGas;
    uint32 private immutable _callbackGas;
    int256 public runCount;
    mapping(int256 runId => ModelRun) private _runs;
    mapping(int256 runId => bytes) private _outputs;
    mapping(int256 runId => uint256) public refundedOf;
    mapping(RequestId => int256) private _runIdPlusOne;

    /// @param assay_ where requests are filed @param modelId_ with the lanes of the terms
    /// @param converter puts the model's return data in words
    constructor(
        ModelToolText memory text,
        IAssay assay_,
        ModelId modelId_,
        ToolResultConverter converter,
        ClaimTerms memory terms_
    ) ModelTool(text, assay_.registry(), modelId_, terms_.lanes, converter) {
        assay = assay_;
        _courier = assay_.courier();
        _terms = terms_;
        uint256 outputLength = _modelWord.outputLength();
        _convertGas = CONVERT_GAS + CONVERT_GAS_PER_WORD * DeliveryGas.words(outputLength);
        uint256 handing = _convertGas + terms_.handlerGas + BoundedCall.RESERVE;
        uint256 callbackGas = DeliveryGas.store(outputLength) + (handing + 2 * BoundedCall.RESERVE) * 64 / 63;
        // INVARIANT: what is requested here can be delivered in a transaction.
        DeliveryGas.requireDeliverable(outputLength, callbackGas);
        _callbackGas = uint32(callbackGas);
    }

    /// @dev Ether comes in by depositFor, or from Assay while a refund is collected.
    receive() external payable {
        if (msg.sender != address(assay)) revert NotAssay(msg.sender);
    }

    /// @inheritdoc IERCAgentTool
    function run(IERCAgentTool.Input memory input, address resultHandler)
        public
        virtual
        nonReentrant
        returns (int256 runId, string memory)
    {
        bytes memory data = _calldataOf(input);
        ResultHandler.requireClient(resultHandler);
        uint256 paid = price();
        _charge(msg.sender, paid);
        runId = runCount++;
        Request memory r = requestOf(runId, keccak256(data), uint40(block.timestamp + _terms.expirySeconds));
        RequestId id = assay.request{value: paid}(modelId, Orders.pack(r, data));
        ModelRun storage mine = _runs[runId];
        (mine.payer, mine.resultHandler, mine.requestId) = (msg.sender, resultHandler, id);
        _runIdPlusOne[id] = runId + 1;
        emit RunRequested(runId, id, msg.sender, resultHandler, data);
        return (runId, "");
    }

    /// @inheritdoc IAssayCallback
    function onAssayResult(bytes32 requestId, bytes calldata output, uint8 lane, uint64, uint64 finalAt)
        external
        nonReentrant
    {
        if (msg.sender != _courier) revert NotCourier(msg.sender, _courier);
        int256 runId = runIdOf(RequestId.wrap(requestId));
        _store(runId, output, lane, finalAt);
        // Booked is booked: a delivery that finds too little gas is left to whoever brings more.
        if (!_runs[runId].delivered && BoundedCall.hasGas(_deliveryGas())) _deliver(runId);
    }

    /// @inheritdoc IClaimedModelTool
    function accept(Request calldata r, Claim calldata c, bytes calldata output) external nonReentrant {
        RequestId id = assay.requestIdOf(r);
        int256 runId = runIdOf(id);
        Policy memory p = Policy(modelId, r.inputHash, _terms.lanes, _terms.minBond, _terms.window);
        assay.requireFinal(r, c, output, p);
        uint8 lane = RequestWord.wrap(assay.requestWord(id)).lane();
        _store(runId, output, lane == 0 ? LANE_BOND : lane, uint64(block.timestamp));
        if (!_runs[runId].delivered) _deliver(runId);
    }

    /// @inheritdoc IClaimedModelTool
    function deliver(int256 runId) external nonReentrant {
        ModelRun storage r = _finalRun(runId);
        if (r.delivered) revert AlreadyDelivered(runId);
        _deliver(runId);
    }

    /// @inheritdoc IClaimedModelTool
    function refund(Request calldata r) external nonReentrant {
        RequestId id = assay.requestIdOf(r);
        int256 runId = runIdOf(id);
        if (refundedOf[runId] != 0) revert AlreadyRefunded(runId);
        uint256 word = assay.requestWord(id);
        uint8 state = uint8(word);
        uint256 amount;
        if (state == REQUEST_OPEN || state == REQUEST_REFUNDED) {
            if (state == REQUEST_OPEN) assay.refund(r);
            amount = price();
        } else if (state == REQUEST_DONE && word & DELIVERED == 0) {
            if (word & RECLAIMED == 0) assay.reclaimDelivery(r);
            amount = _terms.deliveryFee;
        } else {
            revert NotRefundable(id, state);
        }
        refundedOf[runId] = amount;
        // Anybody may have brought the request to an end before: then the ether is there, or came with another's.
        if (assay.credits(address(this)) != 0) assay.withdraw(address(this));
        _credit(_runs[runId].payer, amount);
        emit RunRefunded(runId, _runs[runId].payer, amount);
    }

    /// @inheritdoc IClaimedModelTool
    function runOf(int256 runId) external view returns (ModelRun memory) {
        return _runs[runId];
    }

    /// @inheritdoc IClaimedModelTool
    function runIdOf(RequestId requestId) public view returns (int256) {
        int256 plusOne = _runIdPlusOne[requestId];
        if (plusOne == 0) revert UnknownRequest(requestId);
        return plusOne - 1;
    }

    /// @inheritdoc IClaimedModelTool
    function requestOf(int256 runId, bytes32 inputHash, uint40 expiry)
        public
        view
        returns (Request memory r)
    {
        ClaimTerms memory t = _terms;
        r.requester = address(this);
        r.modelId = modelId;
        r.inputHash = inputHash;
        (r.lanes, r.fee, r.deliveryFee, r.minBond) = (t.lanes, t.fee, t.deliveryFee, t.minBond);
        (r.window, r.expiry) = (t.window, expiry);
        (r.callback, r.callbackGas) = (address(this), _callbackGas);
        r.salt = uint64(uint256(runId));
    }

    /// @inheritdoc IClaimedModelTool
    function outputOf(int256 runId) external view returns (bytes memory) {
        _finalRun(runId);
        return _outputs[runId];
    }

    /// @inheritdoc IClaimedModelTool
    function resultOf(int256 runId) external view returns (string memory) {
        _finalRun(runId);
        return Conversion.toText(resultConverter, _outputs[runId]);
    }

    /// @inheritdoc IClaimedModelTool
    function terms() external view returns (ClaimTerms memory) {
        return _terms;
    }

    /// @inheritdoc IPrepaid
    function price() public view returns (uint256) {
        return uint256(_terms.fee) + _terms.deliveryFee;
    }

    /// @inheritdoc ToolMetadata
    function supportsInterface(bytes4 id) public view virtual override(ToolMetadata, IERC165) returns (bool) {
        return id == type(IPrepaid).interfaceId || super.supportsInterface(id);
    }

    /// @dev An output that was pulled first is the same one: final is final.
    function _store(int256 runId, bytes calldata output, uint8 lane, uint64 finalAt) private {
        ModelRun storage r = _runs[runId];
        if (r.lane != 0) return;
        (r.lane, r.finalAt) = (lane, finalAt);
        _outputs[runId] = output;
        emit ResultFinal(runId, r.requestId, lane, output);
    }

    /// @dev INVARIANT: a handler that took a result is never called for it again.
    function _deliver(int256 runId) private {
        BoundedCall.requireGas(_deliveryGas());
        ModelRun storage r = _runs[runId];
        r.delivered = true;
        bool success;
        try this.resultOf{gas: _convertGas}(runId) returns (string memory result) {
            success = ResultHandler.notify(r.resultHandler, _terms.handlerGas, runId, result);
        } catch {}
        if (!success) r.delivered = false;
        emit ResultDelivered(runId, r.resultHandler, success);
    }

    function _deliveryGas() private view returns (uint256) {
        return _convertGas + _terms.handlerGas + BoundedCall.RESERVE;
    }

    function _finalRun(int256 runId) private view returns (ModelRun storage r) {
        r = _runs[runId];
        if (r.payer == address(0)) revert UnknownRun(runId);
        if (r.lane == 0) revert NotFinal(runId);
    }
}
