// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {activeClaim} from "../libraries/ClaimWord.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Order, Orders} from "../libraries/Orders.sol";
import {
    REQUEST_BUSY,
    REQUEST_OPEN,
    REQUEST_REFUNDED,
    RequestWord,
    openRequest
} from "../libraries/RequestWord.sol";
import {Terms} from "../libraries/Terms.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {Claim, ClaimId, LANE_BOND, ModelId, Request, RequestId} from "../types/Types.sol";
import {AssayMoney} from "./AssayMoney.sol";

/// @notice Filing of requests and claims.
abstract contract AssayRequests is AssayMoney {
    using Terms for Request;
    uint256 internal constant MAX_WINDOW = 30 days;
    uint256 private constant MAX_EXPIRY_AHEAD = 365 days;
    uint256 private constant MAX_EXCLUSIVE = 600;
    uint256 private constant BASE_FEE_FACTOR = 5;

    /// @inheritdoc IAssay
    function request(ModelId modelId, bytes calldata order) external payable returns (RequestId id) {
        (Order o, bytes calldata input) = Orders.read(modelId, msg.sender, order);
        uint256 deliveryFee = o.deliveryFee();
        // SAFETY: two amounts of 96 bits.
        unchecked {
            uint256 required = o.fee() + deliveryFee;
            if (msg.value != required) revert ValueWrong(msg.value, required);
        }
        if (deliveryFee != 0 && o.callback() == 0) revert CallbackMissing(deliveryFee);
        _requireTimes(o);
        id = o.id();
        // The slot of _requests[id], computed once for reading and writing.
        uint256 slot;
        uint256 before;
        assembly ("memory-safe") {
            mstore(0, id)
            mstore(0x20, _requests.slot)
            slot := keccak256(0, 0x40)
            before := sload(slot)
        }
        if (before != 0) revert AlreadyRequested(id);
        ModelWord model = _modelWord(modelId);
        uint256 lanes = o.lanes();
        if (lanes == 0 || model.missing(lanes) != 0) {
            revert LanesInvalid(uint8(lanes), model.lanes());
        }
        if (!Inputs.isCanonical(model, input)) revert InputNotCanonical();
        RequestWord opened = openRequest(block.timestamp, model);
        assembly ("memory-safe") {
            sstore(slot, opened)
        }
        o.log(id, modelId, order.length);
        // The compiler's own return costs ninety gas more.
        assembly ("memory-safe") {
            mstore(0, id)
            return(0, 0x20)
        }
    }

    /// @inheritdoc IAssay
    function claim(Request calldata r, address operator, uint64 gasPrice, bytes calldata output)
        external
        payable
        returns (ClaimId id)
    {
        RequestId requestId = r.idOf();
        RequestWord word = _requests[requestId];
        if (word.state() != REQUEST_OPEN) revert RequestNotOpen(requestId, word.state());
        if (block.timestamp > r.expiry) revert RequestExpired(block.timestamp, r.expiry);
        _requireLane(LANE_BOND, r.lanes);
        if (
            r.exclusiveProver != address(0) && block.timestamp <= r.exclusiveUntil
                && msg.sender != r.exclusiveProver
        ) revert NotExclusiveProver(msg.sender, r.exclusiveProver, r.exclusiveUntil);
        if (output.length != word.outputLength()) {
            revert OutputLengthWrong(output.length, word.outputLength());
        }
        _requireGasPrice(gasPrice);
        (uint96 bond, uint96 ticketBond) = _bonds(gasPrice, r.minBond, word.depth(), word.attempt());
        if (msg.value != bond) revert ValueWrong(msg.value, bond);
        Claim memory c = Claim({
            requestId: requestId,
            modelId: r.modelId,
            attempt: word.attempt(),
            prover: msg.sender,
            operator: operator,
            outputHash: keccak256(output),
            bond: bond,
            ticketBond: ticketBond,
            gasPrice: gasPrice
        });
        id = Terms.idOfMemory(c);
        _requests[requestId] = word.withState(REQUEST_BUSY);
        _claims[id] = activeClaim(block.timestamp + r.window, word.depth());
        emit Claimed(id, requestId, c, uint40(block.timestamp + r.window), output);
    }

    /// @inheritdoc IAssay
    function refund(Request calldata r) external {
        RequestId id = r.idOf();
        RequestWord word = _requests[id];
        if (word.state() != REQUEST_OPEN) revert RequestNotOpen(id, word.state());
        if (block.timestamp <= r.expiry) revert NotExpired(block.timestamp, r.expiry);
        _requests[id] = word.withState(REQUEST_REFUNDED);
        emit Refunded(id);
        _credit(r.requester, uint256(r.fee) + r.deliveryFee);
    }

    /// @inheritdoc IAssay
    function bondsOf(Request calldata r, uint64 gasPrice) external view returns (uint96, uint96) {
        ModelWord model = ModelWord.wrap(registry.modelWord(r.modelId));
        if (model.isNone()) revert UnknownModel(r.modelId);
        return _bonds(gasPrice, r.minBond, model.depth(), _requests[r.idOf()].attempt());
    }

    function _bonds(uint256 gasPrice, uint256 minBond, uint256 depth, uint256 attempt)
        private
        view
        returns (uint96, uint96)
    {
        uint256 defenceCost;
        // SAFETY: two products of 64-bit factors and d < 2^8: below 2^137.
        unchecked {
            defenceCost = (gasBase + uint256(gasPerDemand) * depth) * gasPrice;
        }
        (uint256 bond, uint256 ticketBond) = Terms.bonds(defenceCost, minBond, attempt);
        // A ticket's bond is at most a tenth of the prover's.
        if (bond > type(uint96).max) revert BondTooLarge(bond, type(uint96).max);
        return (uint96(bond), uint96(ticketBond));
    }

    /// @dev A claim names its price, so that what it must send is known before it is mined; the going price may
    /// double meanwhile. It is what defence and challenge will cost, so it may not be made up.
    function _requireGasPrice(uint256 gasPrice) private view {
        uint256 going = BASE_FEE_FACTOR * block.basefee;
        if (going < gasPriceFloor) going = gasPriceFloor;
        if (gasPrice < going || gasPrice > 2 * going) revert GasPriceOutOfRange(gasPrice, going, 2 * going);
    }

    function _requireTimes(Order o) private view {
        // SAFETY: sums of seconds stay far below 2^256; a difference that wraps is above every limit.
        unchecked {
            (uint256 window, uint256 expiry, uint256 exclusiveUntil) = o.times();
            uint256 minWindow = 4 * uint256(answerSeconds);
            if (window - minWindow > MAX_WINDOW - minWindow) {
                revert WindowOutOfRange(window, minWindow, MAX_WINDOW);
            }
            uint256 first = block.timestamp + 1;
            if (expiry - first >= MAX_EXPIRY_AHEAD) {
                revert ExpiryOutOfRange(expiry, first, block.timestamp + MAX_EXPIRY_AHEAD);
            }
            uint256 longest = block.timestamp + MAX_EXCLUSIVE;
            if (exclusiveUntil > longest) revert ExclusiveTooLong(exclusiveUntil, longest);
        }
    }
}
