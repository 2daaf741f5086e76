// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AssayConsumer, IAssay, ModelId, RequestId, Terms} from "@assay/contracts/consumer/AssayConsumer.sol";

/// @notice Keeps what the model says of a text: 0 bearish, 1 neutral, 2 bullish; -1 before it said anything.
contract Mood is AssayConsumer {
    ModelId public immutable model;
    int256 public label = -1;

    constructor(IAssay assay, ModelId model_) AssayConsumer(assay) {
        model = model_;
    }

    /// @param terms callbackGas 200,000 for a callback; 0: somebody brings the output to `accept`, where `requireFinal`
    /// decides
    function ask(string calldata text, Terms calldata terms) external payable returns (RequestId) {
        return _ask(model, abi.encodeWithSignature("classify(string)", text), terms);
    }

    /// @notice The chain runs the model in this transaction; its weights must be published.
    function askNow(string calldata text) external {
        _keep(_infer(model, abi.encodeWithSignature("classify(string)", text)));
    }

    function _onFinal(RequestId, bytes calldata output, uint8) internal override {
        _keep(output);
    }

    function _keep(bytes memory output) private {
        (label,,,) = abi.decode(output, (int256, int256, int256, int256));
    }
}
