// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {Claim, Policy, Request} from "../../types/Types.sol";
import {IErc8183} from "./IErc8183.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title Evaluator of ERC-8183 whose judgement is finality
/// @notice A job asks for the output of a model on an input. Its description, which nobody can change, ends with
/// `termsText` of the policy that the output must meet. Anybody completes it with a final output of a request that the
/// job's provider filed: the evaluator decides nothing by itself.
/// @dev Holds no state and rejects nothing: a job without a final output expires, and its escrow refunds the client.
/// So `expiredAt` must leave the time for a dispute. An escrow that pays its evaluator a share leaves it here for good.
contract FinalOutputEvaluator {
    /// @notice Thrown when the job's description does not end with these terms.
    error TermsOther(uint256 jobId, string terms);
    /// @notice Thrown when somebody else than the job's provider filed the request.
    error RequesterOther(address requester, address provider);

    IAssay public immutable assay;

    constructor(IAssay assay_) {
        assay = assay_;
    }

    /// @notice Pays the provider of a submitted job. Reverts with the error of `requireFinal` if the output is not final.
    /// @param c all zeros after truth without a claim that agreed
    function complete(
        IErc8183 escrow,
        uint256 jobId,
        Policy calldata terms,
        Request calldata r,
        Claim calldata c,
        bytes calldata output
    ) external {
        IErc8183.Job memory job = escrow.getJob(jobId);
        string memory text = termsText(terms);
        if (!_endsWith(bytes(job.description), bytes(text))) revert TermsOther(jobId, text);
        if (r.requester != job.provider) revert RequesterOther(r.requester, job.provider);
        assay.requireFinal(r, c, output, terms);
        escrow.complete(jobId, keccak256(output), "");
    }

    /// @notice What a job's description ends with: the deployment is named by the job's evaluator.
    function termsText(Policy calldata terms) public pure returns (string memory) {
        return string.concat("assay-terms:", Strings.toHexString(uint256(keccak256(abi.encode(terms))), 32));
    }

    function _endsWith(bytes memory text, bytes memory end) private pure returns (bool) {
        if (text.length < end.length) return false;
        uint256 skipped = text.length - end.length;
        for (uint256 i; i < end.length; ++i) {
            if (text[skipped + i] != end[i]) return false;
        }
        return true;
    }
}
