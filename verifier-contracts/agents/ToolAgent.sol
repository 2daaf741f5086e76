// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {AssayConsumer} from "../consumer/AssayConsumer.sol";
import {IAssay} from "../interfaces/IAssay.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {ModelId, Policy, Request, RequestId} from "../types/Types.sol";
import {DeliveryGas} from "./libraries/DeliveryGas.sol";

/// @notice A consumer whose owner asks one model, under one policy, and which keeps the final outputs.
contract ToolAgent is AssayConsumer {
    /// @notice A final output. @param output the model's return data, empty until it is final
    /// @param lane how it became final, 0 until it is
    struct Answer {
        bytes output;
        uint8 lane;
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

    address public immutable owner;
    ModelId public immutable modelId;
    uint8 public immutable lanes;
    uint96 public immutable minBond;
    uint32 public immutable minWindow;

    mapping(RequestId => Answer) private _answers;

    /// @param policy what an output must be final by; its inputHash is not used, each question has its own
    constructor(IAssay assay_, address owner_, Policy memory policy) AssayConsumer(assay_) {
        DeliveryGas.requireStorable(
            ModelWord.wrap(assay_.registry().modelWord(policy.modelId)).outputLength()
        );
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
        id = _file(requestFor(keccak256(input), offer), input, msg.value);
        emit Asked(id, input);
    }

    /// @notice Takes what Assay owes this contract, such as refunds of requests that nobody answered.
    function withdraw(address to) external {
        _requireOwner();
        _withdraw(to);
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

    function _onFinal(RequestId id, bytes calldata output, uint8 lane) internal override {
        _answers[id] = Answer(output, lane);
        emit Answered(id, lane, output);
    }

    function _requireOwner() private view {
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
    }
}
