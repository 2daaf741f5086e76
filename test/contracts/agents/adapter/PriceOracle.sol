// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

/// @dev The consumer that the agent text shows (specs/003, lines 509-533), with its names and signatures.
interface IJsonSelector {
    function fetch(string calldata url, string calldata selector) external returns (string memory);
}

contract PriceOracle {
    address public jsonAgent;

    constructor(address _jsonAgent) {
        jsonAgent = _jsonAgent;
    }

    function getPrice(string calldata apiUrl, string calldata path) external returns (string memory) {
        // The calldata encoding is identical to a contract call
        return IJsonSelector(jsonAgent).fetch(apiUrl, path);
    }
}
