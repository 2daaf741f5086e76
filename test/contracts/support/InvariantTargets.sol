// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

/// @notice What forge asks an invariant test for. The setters below fill the answers.
/// @dev The names of the view functions and the struct are forge's.
abstract contract InvariantTargets {
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    address[] private _targetedContracts;
    address[] private _excludedContracts;
    address[] private _targetedSenders;
    address[] private _excludedSenders;
    FuzzSelector[] private _targetedSelectors;
    FuzzSelector[] private _excludedSelectors;

    function targetContract(address target) internal {
        _targetedContracts.push(target);
    }

    function excludeContract(address target) internal {
        _excludedContracts.push(target);
    }

    function targetSender(address sender) internal {
        _targetedSenders.push(sender);
    }

    function excludeSender(address sender) internal {
        _excludedSenders.push(sender);
    }

    function targetSelector(FuzzSelector memory target) internal {
        _targetedSelectors.push(target);
    }

    function excludeSelector(FuzzSelector memory target) internal {
        _excludedSelectors.push(target);
    }

    function targetContracts() public view returns (address[] memory) {
        return _targetedContracts;
    }

    function excludeContracts() public view returns (address[] memory) {
        return _excludedContracts;
    }

    function targetSenders() public view returns (address[] memory) {
        return _targetedSenders;
    }

    function excludeSenders() public view returns (address[] memory) {
        return _excludedSenders;
    }

    function targetSelectors() public view returns (FuzzSelector[] memory) {
        return _targetedSelectors;
    }

    function excludeSelectors() public view returns (FuzzSelector[] memory) {
        return _excludedSelectors;
    }
}
