// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {
    Account,
    Batch,
    BatchId,
    BatchState,
    Filing,
    LeafState,
    SignedClaim,
    SignedState
} from "../types/PromiseTypes.sol";
import {Claim, ClaimId, ModelId, Request} from "../types/Types.sol";
import {IAssay} from "./IAssay.sol";
import {IAssayErrors} from "./IAssayErrors.sol";
import {IPromiseReader} from "./IPromiseReader.sol";
import {IPromisesErrors} from "./IPromisesErrors.sol";

/// @notice Promises: answers that a prover signs off chain, and batches of answers whose data it posts, both backed by
/// stake. Whoever doubts one opens it, and it becomes an ordinary claim in Assay. Rules: docs/PROMISES.md.
interface IPromises is IAssayErrors, IPromisesErrors {
    event Deposited(address indexed prover, address indexed from, uint256 amount);
    event ExitAnnounced(address indexed prover, uint256 amount, uint40 exitAt);
    event Exited(address indexed prover, address indexed to, uint256 amount);
    /// @param until last second in which what the key signs binds
    event SignerSet(address indexed prover, address indexed key, uint40 until);
    event Queued(
        bytes32 indexed digest,
        address indexed prover,
        address indexed opener,
        uint96 deposit,
        SignedClaim signed,
        bytes input,
        bytes output
    );
    event Opened(
        bytes32 indexed digest,
        address indexed prover,
        ClaimId indexed claimId,
        address opener,
        uint96 deposit,
        SignedClaim signed
    );
    /// @notice The head has been too dear from this second on, with all stake at home.
    event HeadTooDear(address indexed prover, bytes32 indexed digest);
    /// @notice The head went to the end of the queue.
    event Passed(address indexed prover, bytes32 indexed digest);
    event TakenBack(address indexed prover, bytes32 indexed digest);
    /// @param data the leaves, one after another
    event Posted(
        BatchId indexed batchId,
        address indexed prover,
        ModelId indexed modelId,
        uint96 bond,
        uint40 windowEnd,
        Batch batch,
        bytes data
    );
    event LeafQueued(
        BatchId indexed batchId, uint256 indexed index, address indexed opener, uint96 deposit, bytes payload
    );
    event LeafOpened(
        BatchId indexed batchId,
        uint256 indexed index,
        ClaimId indexed claimId,
        address opener,
        uint96 deposit
    );
    event LeafDropped(BatchId indexed batchId, uint256 indexed index);
    event Released(BatchId indexed batchId, uint256 amount);
    /// @param origin digest of the signed claim, or id of the batch
    event Closed(ClaimId indexed claimId, bytes32 indexed origin, bool fallen);
    event Credited(address indexed account, uint256 amount);
    event Withdrawn(address indexed account, address indexed to, uint256 amount);
    event Burned(uint256 amount);

    /// @notice Adds the ether sent to a prover's free stake.
    function deposit(address prover) external payable;
    /// @notice Free stake of the sender begins to leave: it backs promises on, and can be taken out in eight days.
    /// A later announcement, also of 0, puts off all that is leaving.
    function announceExit(uint256 amount) external;
    /// @notice Pays out all that is leaving.
    function exit(address to) external;
    /// @notice Binds the sender to what a key signs with issuedAt up to `until`, before this call too.
    function setSigner(address key, uint40 until) external;

    /// @notice Opens a signed claim: it becomes a claim in Assay, or waits in its prover's queue until there is stake.
    /// The value sent is at least the deposit (`check`), the rest is credited.
    /// @param signature r, s and v, 65 bytes
    function open(
        SignedClaim calldata signed,
        bytes calldata signature,
        bytes calldata input,
        bytes calldata output
    ) external payable;
    /// @notice Makes the first of a queue a claim in Assay.
    function openNext(SignedClaim calldata signed, bytes calldata input, bytes calldata output) external;
    /// @notice Notes that a head is too dear, or moves it to the end of its queue when it was for long enough.
    /// @param behind digest of an entry that the stake reaches for; not read before
    function passNext(address prover, bytes32 behind) external;
    /// @notice The opener of a signed claim whose bond is above all stake of its prover gets his deposit back. It can be
    /// opened again, by anybody: no stake leaves for so long.
    function takeBack(bytes32 digest) external;
    /// @notice Passes a trace on to Assay.
    function commitTrace(Claim calldata c, bytes32[] calldata tops) external;
    /// @notice Books the end of a claim that a promise became, and finalizes it if need be.
    function close(Request calldata r, Claim calldata c) external;

    /// @notice Posts a batch. @param leafBond wei that stand for each leaf, see `requireFinalLeaf`
    /// @param data compact leaves, one after another (docs/PROMISES.md)
    function post(address prover, ModelId modelId, uint32 window, uint96 leafBond, bytes calldata data)
        external
        returns (BatchId);
    /// @notice Opens a leaf: it becomes a claim in Assay, or waits until there is stake.
    /// @param payload the leaf's bytes in the batch's data @param path siblings up to the root, bottom up
    function openLeaf(Batch calldata batch, uint256 index, bytes calldata payload, bytes32[] calldata path)
        external
        payable;
    /// @notice Makes the first waiting leaf of a batch a claim in Assay.
    function nextLeaf(Batch calldata batch, bytes calldata payload) external;
    /// @notice Gives the first waiting leaf's opener his deposit back: the batch has fallen.
    function dropLeaf(Batch calldata batch) external;
    /// @notice Makes a batch's idle slots free stake again.
    function release(Batch calldata batch) external;

    function withdraw(address to) external;
    function pullBurn() external;

    /// @notice What `open` finds of a signed claim, by the same code: reverts with the reason where `open` would.
    /// @return digest of the signed claim
    /// @return end last second in which it can be shown
    /// @return bond of its claim now, wei
    /// @return required least value to send, wei
    function check(
        SignedClaim calldata signed,
        bytes calldata signature,
        bytes calldata input,
        bytes calldata output
    ) external view returns (bytes32 digest, uint256 end, uint256 bond, uint256 required);
    /// @notice What opening a leaf of this batch would cost now.
    /// @return bond of its claim, wei
    /// @return required least value to send, wei
    function leafBonds(Batch calldata batch) external view returns (uint256 bond, uint256 required);

    function accountOf(address prover) external view returns (Account memory);
    /// @notice Last second in which what the key signs binds the prover, 0 if it never did.
    function boundUntil(address prover, address key) external view returns (uint40);
    function signedState(bytes32 digest) external view returns (SignedState memory);
    function batchState(BatchId batchId) external view returns (BatchState memory);
    function leafState(BatchId batchId, uint256 index) external view returns (LeafState memory);
    /// @notice Index of the leaf that waits first. Reverts if none does.
    function firstQueuedLeaf(BatchId batchId) external view returns (uint256 index);
    /// @notice Where a claim came from, zeros if it is none of a promise, or closed.
    function filingOf(ClaimId claimId) external view returns (Filing memory);
    function credits(address account) external view returns (uint256);
    /// @notice Wei that the next pullBurn sends away.
    function burned() external view returns (uint256);

    function assay() external view returns (IAssay);
    /// @notice Reads promises, and is the gate of final leaves.
    function reader() external view returns (IPromiseReader);
    /// @notice W0, seconds: the window of a claim that a promise becomes, beyond the promise's end.
    function baseWindow() external view returns (uint256);
}
