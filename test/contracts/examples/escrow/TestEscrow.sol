// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IErc8183} from "../../../../verifier-contracts/examples/escrow/IErc8183.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @notice ERC-8183's job, without fees and hooks: written from the draft's state machine.
contract TestEscrow is IErc8183 {
    using SafeERC20 for IERC20;

    error WrongStatus(JobStatus status);
    error Unauthorized(address sender);

    event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason);

    IERC20 public immutable paymentToken;
    Job[] private _jobs;

    constructor(IERC20 token) {
        paymentToken = token;
    }

    function createJob(address provider, address evaluator, uint256 expiredAt, string calldata description)
        external
        returns (uint256 jobId)
    {
        jobId = _jobs.length;
        _jobs.push(
            Job(jobId, msg.sender, provider, evaluator, description, 0, expiredAt, JobStatus.Open, address(0))
        );
    }

    function setBudget(uint256 jobId, uint256 amount) external {
        Job storage job = _at(jobId, JobStatus.Open, _jobs[jobId].provider);
        job.budget = amount;
    }

    function fund(uint256 jobId) external {
        Job storage job = _at(jobId, JobStatus.Open, _jobs[jobId].client);
        job.status = JobStatus.Funded;
        paymentToken.safeTransferFrom(job.client, address(this), job.budget);
    }

    function submit(uint256 jobId, bytes32) external {
        _at(jobId, JobStatus.Funded, _jobs[jobId].provider).status = JobStatus.Submitted;
    }

    function complete(uint256 jobId, bytes32 reason, bytes calldata) external virtual {
        Job storage job = _at(jobId, JobStatus.Submitted, _jobs[jobId].evaluator);
        job.status = JobStatus.Completed;
        paymentToken.safeTransfer(job.provider, job.budget);
        emit JobCompleted(jobId, msg.sender, reason);
    }

    function claimRefund(uint256 jobId) external {
        Job storage job = _jobs[jobId];
        bool isHeld = job.status == JobStatus.Funded || job.status == JobStatus.Submitted;
        if (!isHeld || block.timestamp < job.expiredAt) revert WrongStatus(job.status);
        job.status = JobStatus.Expired;
        paymentToken.safeTransfer(job.client, job.budget);
    }

    function getJob(uint256 jobId) external view returns (Job memory) {
        return _jobs[jobId];
    }

    function _at(uint256 jobId, JobStatus status, address sender) private view returns (Job storage job) {
        job = _jobs[jobId];
        if (job.status != status) revert WrongStatus(job.status);
        if (msg.sender != sender) revert Unauthorized(msg.sender);
    }
}
