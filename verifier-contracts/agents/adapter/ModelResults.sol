// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {IInterpreter} from "../../interfaces/IInterpreter.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {Orders} from "../../libraries/Orders.sol";
import {Claim, ModelId, Policy, Request} from "../../types/Types.sol";
import {IAgentResults} from "../interfaces/IAgentResults.sol";
import {DeliveryGas} from "../libraries/DeliveryGas.sol";

/// @notice Final results of one model: either what the chain itself computes, or what Assay made final under a policy.
/// @dev Nobody has rights here. It is one source or the other, never both: a claim that nobody convicted in time may
/// differ from the execution, and a result must not change when the second source comes to life.
contract ModelResults is IAgentResults {
    /// @notice What an output must be final by, and what a request of one pays.
    /// @param lanes that count @param minBond of a claim, wei @param minWindow seconds
    /// @param fee wei that `requestFor` offers @param expirySeconds in which its request may be claimed
    struct Terms {
        ModelId modelId;
        uint8 lanes;
        uint96 minBond;
        uint32 minWindow;
        uint96 fee;
        uint40 expirySeconds;
    }

    /// @notice Thrown when a claim is recorded where execution alone counts, or the other way round.
    error OtherSource(IInterpreter interpreter);

    event Recorded(bytes32 indexed inputHash, bytes output);

    IAssay public immutable assay;
    /// @notice Runs the model inside the call; zero if requests and claims make its results.
    IInterpreter public immutable interpreter;
    ModelId public immutable modelId;
    uint8 public immutable lanes;
    uint96 public immutable minBond;
    uint32 public immutable minWindow;
    uint96 public immutable fee;
    uint40 public immutable expirySeconds;

    /// @notice Second in which the result of an input was recorded, 0 if it was not.
    mapping(bytes32 inputHash => uint40) public recordedAt;
    mapping(bytes32 inputHash => bytes) private _outputs;

    /// @dev A model whose outputs no transaction could record is refused where they come from Assay.
    constructor(IAssay assay_, IInterpreter interpreter_, Terms memory terms) {
        if (address(interpreter_) == address(0)) {
            DeliveryGas.requireStorable(
                ModelWord.wrap(assay_.registry().modelWord(terms.modelId)).outputLength()
            );
        }
        assay = assay_;
        interpreter = interpreter_;
        modelId = terms.modelId;
        lanes = terms.lanes;
        minBond = terms.minBond;
        minWindow = terms.minWindow;
        fee = terms.fee;
        expirySeconds = terms.expirySeconds;
    }

    /// @notice Records a final output of a request. Not where execution counts.
    /// @param r a request of this input, whoever made it @param c the claim that became final, all zeros if truth came
    /// without one
    function record(Request calldata r, Claim calldata c, bytes calldata output) external {
        if (address(interpreter) != address(0)) revert OtherSource(interpreter);
        assay.requireFinal(r, c, output, Policy(modelId, r.inputHash, lanes, minBond, minWindow));
        _record(r.inputHash, output);
    }

    /// @notice Records what the chain computes. Reverts as the interpreter does where it cannot.
    function recordExecuted(bytes calldata data) external {
        if (address(interpreter) == address(0)) revert OtherSource(interpreter);
        _record(keccak256(data), interpreter.infer(modelId, data));
    }

    /// @inheritdoc IAgentResults
    function resultOf(bytes calldata data) external view returns (bool, bytes memory) {
        bytes32 inputHash = keccak256(data);
        if (recordedAt[inputHash] != 0) return (true, _outputs[inputHash]);
        if (address(interpreter) == address(0)) return (false, "");
        // A revert, for lack of gas too, says nothing about the result: it is just not there.
        try interpreter.infer(modelId, data) returns (bytes memory output) {
            return (true, output);
        } catch {
            return (false, "");
        }
    }

    /// @notice The recorded output, empty if there is none.
    function outputOf(bytes32 inputHash) external view returns (bytes memory) {
        return _outputs[inputHash];
    }

    /// @inheritdoc IAgentResults
    /// @dev Once it is final, `record` brings it here. Where execution counts there is nothing to wait for: the call
    /// says why the model cannot be run.
    function requestFor(bytes calldata data) external view returns (address, uint256, bytes memory) {
        if (address(interpreter) != address(0)) {
            return (address(this), 0, abi.encodeCall(this.recordExecuted, (data)));
        }
        Request memory r;
        r.lanes = lanes;
        r.fee = fee;
        r.minBond = minBond;
        r.window = minWindow;
        r.expiry = uint40(block.timestamp) + expirySeconds;
        return (address(assay), fee, abi.encodeCall(IAssay.request, (modelId, Orders.pack(r, data))));
    }

    /// @dev The first record of an input stays.
    function _record(bytes32 inputHash, bytes memory output) private {
        if (recordedAt[inputHash] != 0) return;
        recordedAt[inputHash] = uint40(block.timestamp);
        _outputs[inputHash] = output;
        emit Recorded(inputHash, output);
    }
}
