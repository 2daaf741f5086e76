// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.20;

/// @title A pool that tokens are deployed to, as the wallet agent sees it
interface Pool {
    function deploy(address asset, uint256 amount) external;
    function withdraw(address asset, uint256 amount) external;
    function balance(address asset) external returns (uint256);
}
