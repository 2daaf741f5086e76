// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {IAssayCallback} from "../interfaces/IAssayCallback.sol";
import {IExecutionLane} from "../interfaces/IExecutionLane.sol";
import {Orders} from "../libraries/Orders.sol";
import {RequestWord} from "../libraries/RequestWord.sol";
import {Claim, LANE_BOND, ModelId, Policy, Request, RequestId} from "../types/Types.sol";

/// @notice What an answer must be final by, and what is paid for it.
/// @param lanes bits of the lanes that are taken
/// @param fee wei to whoever makes the output final @param deliveryFee wei to whoever delivers the callback
/// @param minBond least bond of a claim, wei @param window seconds in which a claim can be challenged, at least 4T
/// @param expiry last second in which a claim may be made
/// @param callbackGas gas of the callback; 0: nobody calls, the output is brought by `accept`
struct Terms {
    uint8 lanes;
    uint96 fee;
    uint96 deliveryFee;
    uint96 minBond;
    uint32 window;
    uint40 expiry;
    uint32 callbackGas;
}

/// @notice A contract that asks models and is given final outputs only, each once: by Assay's callback, or by
/// `accept`, which anybody may call with what `requireFinal` takes.
abstract contract AssayConsumer is IAssayCallback {
    /// @notice Thrown when a callback does not come from Assay's courier.
    error NotCourier(address sender, address courier);
    /// @notice Thrown when an answer belongs to no question of this contract.
    error NotAsked(RequestId requestId);
    /// @notice Thrown when an output became final in a lane that the question does not name.
    error LaneRefused(uint8 lane, uint8 lanes);

    /// @dev Beside the lanes of a question that has its answer.
    uint8 private constant ANSWERED = 0x80;

    IAssay public immutable assay;
    address public immutable courier;

    uint64 private _questions;
    /// @dev Lanes of each question, 0 if this contract did not ask it.
    mapping(RequestId => uint8) private _lanes;

    constructor(IAssay assay_) {
        assay = assay_;
        courier = assay_.courier();
    }

    /// @inheritdoc IAssayCallback
    /// @dev Assay has compared the output with the final one, and this contract wrote model, input, bond and window into
    /// the request itself: what is left to check is who calls, for which question, and the lane.
    function onAssayResult(bytes32 requestId, bytes calldata output, uint8 lane, uint64, uint64) external {
        if (msg.sender != courier) revert NotCourier(msg.sender, courier);
        _take(RequestId.wrap(requestId), output, lane);
    }

    /// @notice Takes a final output that nobody has delivered; booked or not, final is final.
    /// @param c the claim that became final, all zeros if truth came without one
    function accept(Request calldata r, Claim calldata c, bytes calldata output) external {
        RequestId id = assay.requestIdOf(r);
        if (_lanes[id] == 0) revert NotAsked(id);
        assay.requireFinal(r, c, output, Policy(r.modelId, r.inputHash, r.lanes, r.minBond, r.window));
        uint8 lane = RequestWord.wrap(assay.requestWord(id)).lane();
        _take(id, output, lane == 0 ? LANE_BOND : lane);
    }

    /// @notice Files a question, which costs fee and delivery fee of this contract's ether.
    /// @param input the model's calldata, selector included
    function _ask(ModelId modelId, bytes memory input, Terms memory terms) internal returns (RequestId id) {
        Request memory r;
        r.modelId = modelId;
        r.lanes = terms.lanes;
        r.fee = terms.fee;
        r.deliveryFee = terms.deliveryFee;
        r.minBond = terms.minBond;
        r.window = terms.window;
        r.expiry = terms.expiry;
        r.callbackGas = terms.callbackGas;
        if (terms.callbackGas != 0) r.callback = address(this);
        r.salt = _questions++;
        return _file(r, input, uint256(terms.fee) + terms.deliveryFee);
    }

    /// @notice Files a question of which every term is the caller's, also who alone may answer first.
    /// @param r its callback is this contract or none @param value fee + delivery fee, of this contract's ether
    function _file(Request memory r, bytes memory input, uint256 value) internal returns (RequestId id) {
        id = assay.request{value: value}(r.modelId, Orders.pack(r, input));
        _lanes[id] = r.lanes;
    }

    /// @notice Does something with a final output. @param lane how it became final
    function _onFinal(RequestId id, bytes calldata output, uint8 lane) internal virtual;

    /// @notice The output of a model whose weights are published, computed by the chain within this call.
    function _infer(ModelId modelId, bytes memory input) internal view returns (bytes memory output) {
        return IExecutionLane(address(assay.executionAdapter())).interpreter().infer(modelId, input);
    }

    /// @notice Takes what Assay owes this contract, such as fees of questions that nobody answered (`IAssay.refund`).
    function _withdraw(address to) internal {
        assay.withdraw(to);
    }

    function _take(RequestId id, bytes calldata output, uint8 lane) private {
        uint8 lanes = _lanes[id];
        if (lanes == 0) revert NotAsked(id);
        // An output that was brought before is the same one: let whoever delivers it be paid.
        if (lanes & ANSWERED != 0) return;
        if (lanes & lane == 0) revert LaneRefused(lane, lanes);
        _lanes[id] = lanes | ANSWERED;
        _onFinal(id, output, lane);
    }
}
