// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {IAssayCallback} from "../interfaces/IAssayCallback.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Orders} from "../libraries/Orders.sol";
import {RequestWord} from "../libraries/RequestWord.sol";
import {Claim, LANE_BOND, ModelId, Policy, Request, RequestId} from "../types/Types.sol";
import {DeliveryGas} from "./libraries/DeliveryGas.sol";

/// @notice A contract that asks one model and keeps only final outputs: the smallest consumer of Assay.
/// @dev It shows the two ways in. Push: Assay's courier calls back, after Assay has compared the output with the
/// final one. Nothing is left to check then but who calls, for which request, and the lane: this contract wrote
/// model, input, least bond and window into the request itself. Pull: anybody hands in request, claim and output,
/// and `requireFinal` decides by the same policy.
contract ToolAgent is IAssayCallback {
    /// @notice A final output. @param output the model's return data, empty until it is final
    /// @param lane how it became final @param finalAt second in which that was booked or, pulled, accepted
    struct Answer {
        bytes output;
        uint8 lane;
        uint64 finalAt;
    }

    /// @notice Terms of a question that are not the policy's. @param expiry last second for a claim
    struct Offer {
        uint96 fee;
        uint96 deliveryFee;
        uint40 expiry;
        uint32 callbackGas;
        address exclusiveProver;
        uint40 exclusiveUntil;
        uint64 salt;
    }

    event Asked(RequestId indexed requestId, bytes input);
    event Answered(RequestId indexed requestId, uint8 lane, bytes output);

    /// @notice Thrown when somebody else than the owner spends or takes this contract's ether.
    error NotOwner(address sender, address owner);
    /// @notice Thrown when a callback does not come from Assay's courier.
    error NotCourier(address sender, address courier);
    /// @notice Thrown when an answer belongs to no question of this contract.
    error NotAsked(RequestId requestId);
    /// @notice Thrown when an output became final in a lane that the policy does not name.
    error LaneRefused(uint8 lane, uint8 lanes);

    IAssay public immutable assay;
    address public immutable courier;
    address public immutable owner;
    ModelId public immutable modelId;
    uint8 public immutable lanes;
    uint96 public immutable minBond;
    uint32 public immutable minWindow;

    /// @notice Hash of a question's input, 0 if this contract did not ask it.
    mapping(RequestId => bytes32 inputHash) public asked;
    mapping(RequestId => Answer) private _answers;

    /// @param policy what an output must be final by; its inputHash is not used, each question has its own
    constructor(IAssay assay_, address owner_, Policy memory policy) {
        DeliveryGas.requireStorable(
            ModelWord.wrap(assay_.registry().modelWord(policy.modelId)).outputLength()
        );
        assay = assay_;
        courier = assay_.courier();
        owner = owner_;
        modelId = policy.modelId;
        lanes = policy.lanes;
        minBond = policy.minBond;
        minWindow = policy.minWindow;
    }

    /// @notice Files a request under this contract's policy. The value sent is fee + delivery fee.
    /// @param input the model's calldata, selector included
    function ask(bytes calldata input, Offer calldata offer) external payable returns (RequestId id) {
        _requireOwner();
        Request memory r = requestFor(keccak256(input), offer);
        id = assay.request{value: msg.value}(modelId, Orders.pack(r, input));
        asked[id] = r.inputHash;
        emit Asked(id, input);
    }

    /// @inheritdoc IAssayCallback
    function onAssayResult(bytes32 requestId, bytes calldata output, uint8 lane, uint64, uint64 finalAt)
        external
    {
        if (msg.sender != courier) revert NotCourier(msg.sender, courier);
        _store(RequestId.wrap(requestId), output, lane, finalAt);
    }

    /// @notice Takes a final output that nobody has delivered; finalized or not, final is final.
    /// @param c the claim that became final, all zeros if truth came without one
    function accept(Request calldata r, Claim calldata c, bytes calldata output) external {
        RequestId id = assay.requestIdOf(r);
        if (asked[id] == 0) revert NotAsked(id);
        assay.requireFinal(r, c, output, Policy(modelId, asked[id], lanes, minBond, minWindow));
        uint8 lane = RequestWord.wrap(assay.requestWord(id)).lane();
        _store(id, output, lane == 0 ? LANE_BOND : lane, uint64(block.timestamp));
    }

    /// @notice Takes what Assay owes this contract, such as refunds of requests that nobody answered.
    function withdraw(address to) external {
        _requireOwner();
        assay.withdraw(to);
    }

    function answerTo(RequestId id) external view returns (Answer memory) {
        return _answers[id];
    }

    /// @notice The request that `ask` files.
    function requestFor(bytes32 inputHash, Offer calldata offer) public view returns (Request memory) {
        return Request({
            requester: address(this),
            modelId: modelId,
            inputHash: inputHash,
            lanes: lanes,
            fee: offer.fee,
            deliveryFee: offer.deliveryFee,
            minBond: minBond,
            window: minWindow,
            expiry: offer.expiry,
            exclusiveProver: offer.exclusiveProver,
            exclusiveUntil: offer.exclusiveUntil,
            callback: address(this),
            callbackGas: offer.callbackGas,
            salt: offer.salt
        });
    }

    function _store(RequestId id, bytes calldata output, uint8 lane, uint64 finalAt) private {
        if (asked[id] == 0) revert NotAsked(id);
        if (lanes & lane == 0) revert LaneRefused(lane, lanes);
        // An output that was pulled first is the same one: let whoever delivers it be paid.
        if (_answers[id].lane != 0) return;
        _answers[id] = Answer(output, lane, finalAt);
        emit Answered(id, lane, output);
    }

    function _requireOwner() private view {
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
    }
}
