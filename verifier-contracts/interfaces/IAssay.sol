// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Claim, ClaimId, Fall, ModelId, Opening, Policy, Request, RequestId, Truth} from "../types/Types.sol";
import {IAssayErrors} from "./IAssayErrors.sol";
import {IJudge} from "./IJudge.sol";
import {IModelRegistry} from "./IModelRegistry.sol";
import {ITraceReader} from "./ITraceReader.sol";
import {ITruth} from "./ITruth.sol";

/// @notice Requests, claims, the game and the money. States, deadlines and amounts: docs/PROTOCOL.md.
interface IAssay is IAssayErrors {
    /// @param order the requester's 20 bytes, then what he sent: with the model it is the Request and its input
    event Requested(RequestId indexed requestId, ModelId indexed modelId, bytes order);
    event Claimed(
        ClaimId indexed claimId, RequestId indexed requestId, Claim claim, uint40 windowEnd, bytes output
    );
    event Challenged(
        ClaimId indexed claimId, address indexed challenger, uint40 traceDeadline, uint40 hardEnd
    );
    event TraceCommitted(ClaimId indexed claimId, bytes32 traceRoot, bytes32[] tops);
    event Demanded(ClaimId indexed claimId, address indexed challenger, uint64 position, uint40 deadline);
    event Revealed(ClaimId indexed claimId, uint64 position, bytes32[] content);
    /// @param step the convicted step, or the step of the unanswered position
    /// @param element index of the convicted element, or the unanswered position
    /// @param expected stored bytes of the right element, or the right root; of an output IJudge.judgeOutput's
    /// @param claimed the trace's stored bytes or root; of an output IJudge.judgeOutput's
    event Fell(
        ClaimId indexed claimId,
        RequestId indexed requestId,
        Fall reason,
        uint256 step,
        uint256 element,
        uint256 expected,
        uint256 claimed
    );
    /// @notice A request has its final output. claimId is zero when truth came without a claim that agreed.
    event Finalized(RequestId indexed requestId, ClaimId indexed claimId, uint8 lane, bytes32 outputHash);
    /// @notice Truth settled a request.
    event Settled(RequestId indexed requestId, address indexed submitter, uint8 lane, bytes output);
    event Delivered(RequestId indexed requestId, address indexed by, bool success);
    event DeliveryReclaimed(RequestId indexed requestId);
    event Refunded(RequestId indexed requestId);
    event Collected(ClaimId indexed claimId, address indexed owner, uint256 amount);
    event ProofHalted(ModelId indexed modelId);
    event Credited(address indexed account, uint256 amount);
    event Withdrawn(address indexed account, address indexed to, uint256 amount);
    /// @notice Burned ether left for the dead address.
    event Burned(uint256 amount);

    /// @notice Files the sender's request. The value sent is fee + delivery fee.
    /// @param order Request and input as docs/PROTOCOL.md, section 2 packs them; contracts use libraries/Orders.sol
    function request(ModelId modelId, bytes calldata order) external payable returns (RequestId);
    function claim(Request calldata r, address operator, uint64 gasPrice, bytes calldata output)
        external
        payable
        returns (ClaimId);
    function challenge(Claim calldata c) external payable;
    function commitTrace(Claim calldata c, bytes32[] calldata tops) external;
    function demand(Claim calldata c, bytes32 traceRoot, uint64 position) external;
    function reveal(Claim calldata c, uint64 position, bytes32[] calldata content, bytes32[] calldata path)
        external;
    function convictElement(Claim calldata c, uint256 step, uint256 element, Opening[] calldata openings)
        external;
    /// @param input the request's input, or for a step of variant claimed the claim's output
    function convictCodec(
        Request calldata r,
        Claim calldata c,
        uint256 step,
        bytes calldata input,
        bytes32 tensorRoot,
        bytes32[] calldata path
    ) external;
    /// @param output the claim's output @param openings of IJudge.judgeOutput
    function convictOutput(
        Claim calldata c,
        bytes calldata output,
        uint256 element,
        Opening[] calldata openings
    ) external;
    function timeoutTrace(Claim calldata c) external;
    function timeoutDemand(Claim calldata c, uint64 position) external;
    /// @notice Makes an output final because the chain executed the model, or verified a proof.
    /// @param c the request's active claim; not read while the request is OPEN
    function settle(
        Request calldata r,
        Claim calldata c,
        uint8 lane,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence
    ) external;
    /// @notice Settles many requests of one model by proofs that share most of their pairings, each exactly as `settle`
    /// would; one wrong proof, or one request that cannot be settled, rejects all of them. No limit but gas.
    /// @param submitter the sender, to whom the proofs are bound
    /// @param batch settlements as docs/PROTOCOL.md, section 2 packs them; contracts read them by
    /// libraries/Settlements.sol
    function settleBatch(ModelId modelId, address submitter, bytes[] calldata batch) external;
    /// @notice Ends the PROOF lane of a model for good, by two truths that contradict each other on one input.
    /// Anybody may show evidence that was bound to somebody else: nothing is paid for it.
    /// @param proof a truth of lane PROOF @param other a truth of lane PROOF or EXECUTION with another output
    function haltProof(ModelId modelId, bytes calldata input, Truth calldata proof, Truth calldata other)
        external;
    function finalize(Request calldata r, Claim calldata c) external;
    function deliver(Request calldata r, Claim calldata c, bytes calldata output) external;
    function reclaimDelivery(Request calldata r) external;
    function refund(Request calldata r) external;
    function collect(Claim calldata c, address owner) external;
    function withdraw(address to) external;
    function pullBurn() external;

    function requestIdOf(Request calldata r) external view returns (RequestId);
    function claimIdOf(Claim calldata c) external view returns (ClaimId);
    function requestWord(RequestId id) external view returns (uint256);
    function claimWord(ClaimId id) external view returns (uint256);
    function traceRootOf(ClaimId id) external view returns (bytes32);
    /// @return held true if the owner has a ticket @return demands made with it @return collected share taken
    function ticketOf(ClaimId id, address owner)
        external
        view
        returns (bool held, uint8 demands, bool collected);
    /// @return deadline of the demand, 0 if never demanded @return answered true once revealed
    function demandOf(ClaimId id, uint64 position) external view returns (uint40 deadline, bool answered);
    function isFinal(ClaimId id) external view returns (bool);
    function resultOf(RequestId id) external view returns (bytes32 outputHash);
    function credits(address account) external view returns (uint256);
    /// @notice Wei that the next pullBurn sends away.
    function burned() external view returns (uint256);
    function isProofHalted(ModelId modelId) external view returns (bool);
    /// @notice Bonds of a claim on this request now, at this gas price.
    /// @return bond prover's @return ticketBond challenger's
    function bondsOf(Request calldata r, uint64 gasPrice)
        external
        view
        returns (uint96 bond, uint96 ticketBond);
    /// @notice The gate that agents use. Reverts with the reason unless `output` is final under the policy.
    /// @param c the final claim, or all zeros after truth without an agreeing claim
    function requireFinal(Request calldata r, Claim calldata c, bytes calldata output, Policy calldata p)
        external
        view;

    function registry() external view returns (IModelRegistry);
    function judge() external view returns (IJudge);
    function traceReader() external view returns (ITraceReader);
    /// @notice Adapter of the EXECUTION lane, zero if it is unavailable.
    function executionAdapter() external view returns (ITruth);
    /// @notice Adapter of the PROOF lane, zero if it is unavailable.
    function proofAdapter() external view returns (ITruth);
    /// @notice The contract that callbacks come from. It holds no money and no rights.
    function courier() external view returns (address);
    function answerSeconds() external view returns (uint40);
    function gasPriceFloor() external view returns (uint64);
    function gasBase() external view returns (uint64);
    function gasPerDemand() external view returns (uint64);
}
