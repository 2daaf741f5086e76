// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @title A tool or agent that is paid from a balance which its caller holds there
/// @notice `run` takes no ether, so whoever calls it has put some in before, or somebody did so for him.
interface IPrepaid {
    event Deposited(address indexed account, address indexed from, uint256 amount);
    event Withdrawn(address indexed account, address indexed to, uint256 amount);

    /// @notice Thrown when an account's balance is too small. @param required wei that the call needs
    error BalanceTooSmall(address account, uint256 balance, uint256 required);
    /// @notice Thrown when ether could not be sent.
    error TransferFailed(address to, uint256 amount);

    /// @notice Adds the value sent to an account's balance. Anybody may pay for anybody. Neither this nor `withdraw` can
    /// be entered while another function of the contract is under way.
    function depositFor(address account) external payable;
    /// @notice Takes ether out of the sender's balance.
    function withdraw(address to, uint256 amount) external;
    /// @notice Wei that an account can spend here, or take out.
    function balanceOf(address account) external view returns (uint256);
    /// @notice Wei that one `run` takes from its caller's balance, at most.
    function price() external view returns (uint256);
    /// @notice Wei of a run's price that have gone back to its caller's balance so far.
    function refundedOf(int256 runId) external view returns (uint256);
}
