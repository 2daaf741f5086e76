// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @title What an evaluator needs of ERC-8183 (draft): jobs, and the call that pays the provider
interface IErc8183 {
    enum JobStatus {
        Open,
        Funded,
        Submitted,
        Completed,
        Rejected,
        Expired
    }

    struct Job {
        uint256 id;
        address client;
        address provider;
        address evaluator;
        string description;
        uint256 budget;
        uint256 expiredAt;
        JobStatus status;
        address hook;
    }

    function getJob(uint256 jobId) external view returns (Job memory);

    /// @notice By the job's evaluator, once the provider has submitted: pays the budget out.
    function complete(uint256 jobId, bytes32 reason, bytes calldata optParams) external;
}
