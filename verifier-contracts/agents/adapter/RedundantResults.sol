// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAgentResults} from "../interfaces/IAgentResults.sol";
import {IRedundantResults} from "../interfaces/IRedundantResults.sol";
import {ModelResults} from "./ModelResults.sol";

/// @notice Rounds of redundant execution. Nobody owns it: executors and terms are fixed when it is deployed.
/// @dev A reveal is bound to its executor, so that copying another's commitment or answer gains nothing. Agreement
/// needs more than half of the executors, so that no two values can have it.
contract RedundantResults is IRedundantResults {
    /// @param agreement equal answers that make a result, more than half of the executors
    /// @param maxOutputBytes of an answer @param fee wei of a request, for the executors that agree
    /// @param bond wei of an executor, at least 1 with a model @param commitSeconds and
    /// @param revealSeconds the two phases' lengths
    /// @param challengeSeconds between agreement and finality, 0 without a model, at least 1 with one
    /// @param maxAgeSeconds after which a result is asked for anew, 0: never; a model's results do not age
    struct Terms {
        uint8 agreement;
        uint32 maxOutputBytes;
        uint96 fee;
        uint96 bond;
        uint32 commitSeconds;
        uint32 revealSeconds;
        uint32 challengeSeconds;
        uint32 maxAgeSeconds;
    }

    struct Round {
        bytes32 inputHash;
        bytes32 agreed;
        address requester;
        uint40 commitEnd;
        uint40 finalAt;
        uint8 commits;
        bool isClosed;
    }

    struct Seat {
        uint96 bond;
        uint40 freeAt;
        bool isExecutor;
    }

    uint256 private constant MAX_EXECUTORS = 16;
    uint256 private constant MAX_OUTPUT_BYTES = 1 << 14;
    uint256 private constant MAX_PERIOD = 30 days;
    address private constant BURNED = 0x000000000000000000000000000000000000dEaD;

    /// @notice Final results of the model that the agent is; zero if it is no model.
    ModelResults public immutable truth;
    Terms public terms;
    address[] private _executors;
    mapping(address => Seat) public seats;
    mapping(bytes32 roundId => Round) public rounds;
    mapping(address => uint256) public credits;
    /// @inheritdoc IRedundantResults
    mapping(bytes32 inputHash => bytes32) public roundOf;
    /// @inheritdoc IRedundantResults
    mapping(bytes32 roundId => mapping(address => bytes32)) public answerOf;
    /// @notice Whether an executor lost a bond for its answer in a round: once is enough.
    mapping(bytes32 roundId => mapping(address => bool)) public isConvicted;
    mapping(bytes32 roundId => mapping(address => bytes32)) private _commitments;
    mapping(bytes32 roundId => mapping(bytes32 => uint256)) private _votes;
    /// @dev The newest round of an input that came to an agreement, and its output.
    mapping(bytes32 inputHash => bytes32) private _agreedRound;
    mapping(bytes32 roundId => bytes) private _outputs;

    /// @param truth_ zero for an agent that is no model: then nothing but agreement makes a result
    constructor(address[] memory executors_, Terms memory terms_, ModelResults truth_) {
        uint256 count = executors_.length;
        bool hasTruth = address(truth_) != address(0);
        _requireRange(count, 2, MAX_EXECUTORS);
        _requireRange(terms_.agreement, count / 2 + 1, count);
        _requireRange(terms_.maxOutputBytes, 32, MAX_OUTPUT_BYTES);
        _requireRange(terms_.commitSeconds, 1, MAX_PERIOD);
        _requireRange(terms_.revealSeconds, 1, MAX_PERIOD);
        _requireRange(terms_.challengeSeconds, hasTruth ? 1 : 0, hasTruth ? MAX_PERIOD : 0);
        _requireRange(terms_.maxAgeSeconds, 0, hasTruth ? 0 : type(uint32).max);
        _requireRange(terms_.bond, hasTruth ? 1 : 0, type(uint96).max);
        for (uint256 i = 0; i < count; ++i) {
            if (seats[executors_[i]].isExecutor) revert ExecutorTwice(executors_[i]);
            seats[executors_[i]].isExecutor = true;
        }
        (_executors, terms, truth) = (executors_, terms_, truth_);
    }

    /// @inheritdoc IRedundantResults
    function request(bytes calldata data) external payable returns (bytes32 roundId) {
        Terms memory t = terms;
        if (msg.value != t.fee) revert WrongValue(msg.value, t.fee);
        bytes32 inputHash = keccak256(data);
        bytes32 last = roundOf[inputHash];
        if (last != 0 && !_mayAskAgain(rounds[last], t)) revert RoundNotOver(last);
        roundId = keccak256(abi.encode(block.chainid, address(this), inputHash, last));
        uint40 commitEnd = uint40(block.timestamp) + t.commitSeconds;
        roundOf[inputHash] = roundId;
        rounds[roundId] = Round(inputHash, 0, msg.sender, commitEnd, 0, 0, false);
        emit Requested(roundId, inputHash, commitEnd, data);
    }

    /// @inheritdoc IRedundantResults
    function commit(bytes32 roundId, bytes32 commitment) external {
        Round storage round = rounds[roundId];
        _requireSeated();
        if (block.timestamp >= round.commitEnd) revert OutsidePhase(block.timestamp, 0, round.commitEnd);
        if (_commitments[roundId][msg.sender] != 0) revert MovedAlready(roundId, msg.sender);
        if (commitment == 0) revert NotCommitted(roundId, msg.sender);
        _commitments[roundId][msg.sender] = commitment;
        emit Committed(roundId, msg.sender);
        // With the last commitment the reveals begin: nobody is left who could copy one.
        if (++round.commits == _executors.length) round.commitEnd = uint40(block.timestamp);
    }

    /// @inheritdoc IRedundantResults
    function reveal(bytes32 roundId, bytes calldata output, bytes32 salt) external {
        Round storage round = rounds[roundId];
        Terms memory t = terms;
        uint256 from = round.commitEnd;
        if (block.timestamp < from || block.timestamp >= from + t.revealSeconds) {
            revert OutsidePhase(block.timestamp, from, from + t.revealSeconds);
        }
        if (output.length > t.maxOutputBytes) revert AnswerTooLong(output.length, t.maxOutputBytes);
        bytes32 hash = keccak256(output);
        bytes32 commitment = _commitments[roundId][msg.sender];
        if (commitment == 0 || commitment != commitmentOf(roundId, msg.sender, hash, salt)) {
            revert NotCommitted(roundId, msg.sender);
        }
        if (answerOf[roundId][msg.sender] != 0) revert MovedAlready(roundId, msg.sender);
        answerOf[roundId][msg.sender] = hash;
        emit Revealed(roundId, msg.sender, hash);
        if (round.agreed != 0) {
            if (hash != round.agreed) emit Dissented(roundId, msg.sender, hash);
        } else if (++_votes[roundId][hash] == t.agreement) {
            _agree(roundId, round, hash, output, t);
        }
    }

    /// @inheritdoc IRedundantResults
    function refund(bytes32 roundId) external {
        Round storage round = rounds[roundId];
        uint256 end = uint256(round.commitEnd) + terms.revealSeconds;
        if (round.requester == address(0) || round.agreed != 0 || round.isClosed) {
            revert NothingToRefund(roundId);
        }
        if (block.timestamp < end) revert OutsidePhase(block.timestamp, end, type(uint256).max);
        round.isClosed = true;
        credits[round.requester] += terms.fee;
        emit Refunded(roundId, round.requester);
    }

    /// @inheritdoc IRedundantResults
    function convict(bytes32 roundId, address executor) external {
        bytes32 answer = answerOf[roundId][executor];
        bytes32 inputHash = rounds[roundId].inputHash;
        if (answer == 0 || address(truth) == address(0) || truth.recordedAt(inputHash) == 0) {
            revert NotContradicted(roundId, executor);
        }
        if (answer == keccak256(truth.outputOf(inputHash))) revert NotContradicted(roundId, executor);
        uint256 bond = seats[executor].bond;
        if (isConvicted[roundId][executor]) revert MovedAlready(roundId, executor);
        if (bond == 0) revert NotExecutor(executor);
        isConvicted[roundId][executor] = true;
        seats[executor].bond = 0;
        credits[msg.sender] += bond / 2;
        credits[BURNED] += bond - bond / 2;
        emit Convicted(roundId, executor, msg.sender, bond);
    }

    /// @inheritdoc IRedundantResults
    function deposit() external payable {
        Seat storage seat = seats[msg.sender];
        if (!seat.isExecutor) revert NotExecutor(msg.sender);
        if (seat.bond != 0) revert BondHeld(msg.sender, seat.freeAt);
        if (msg.value != terms.bond) revert WrongValue(msg.value, terms.bond);
        (seat.bond, seat.freeAt) = (uint96(msg.value), 0);
    }

    /// @inheritdoc IRedundantResults
    function retire() external {
        Seat storage seat = seats[msg.sender];
        if (seat.bond == 0 || seat.freeAt != 0) revert BondHeld(msg.sender, seat.freeAt);
        // A round in which it has committed now can still be revealed and challenged that long.
        uint256 rest = uint256(terms.commitSeconds) + terms.revealSeconds + terms.challengeSeconds;
        seat.freeAt = uint40(block.timestamp + rest);
    }

    /// @inheritdoc IRedundantResults
    function takeBond() external {
        Seat storage seat = seats[msg.sender];
        if (seat.bond == 0 || seat.freeAt == 0 || block.timestamp < seat.freeAt) {
            revert BondHeld(msg.sender, seat.freeAt);
        }
        credits[msg.sender] += seat.bond;
        (seat.bond, seat.freeAt) = (0, 0);
    }

    /// @inheritdoc IRedundantResults
    function withdraw(address account) external {
        uint256 amount = credits[account];
        credits[account] = 0;
        (bool success,) = account.call{value: amount}("");
        if (!success) revert TransferFailed(account, amount);
    }

    /// @inheritdoc IAgentResults
    function resultOf(bytes calldata data) external view returns (bool, bytes memory) {
        bytes32 inputHash = keccak256(data);
        bytes32 roundId = _agreedRound[inputHash];
        uint256 finalAt = rounds[roundId].finalAt;
        if (address(truth) != address(0)) {
            uint256 recordedAt = truth.recordedAt(inputHash);
            // Whichever was first stays: an agreement that became final before any truth was there is not undone.
            if (recordedAt != 0 && (roundId == 0 || recordedAt < finalAt)) {
                return (true, truth.outputOf(inputHash));
            }
        }
        if (roundId == 0 || block.timestamp < finalAt) return (false, "");
        uint256 maxAge = terms.maxAgeSeconds;
        if (maxAge != 0 && block.timestamp > finalAt + maxAge) return (false, "");
        return (true, _outputs[roundId]);
    }

    /// @inheritdoc IAgentResults
    function requestFor(bytes calldata data) external view returns (address, uint256, bytes memory) {
        return (address(this), terms.fee, abi.encodeCall(IRedundantResults.request, (data)));
    }

    /// @inheritdoc IRedundantResults
    function executors() external view returns (address[] memory) {
        return _executors;
    }

    /// @inheritdoc IRedundantResults
    function commitmentOf(bytes32 roundId, address executor, bytes32 outputHash, bytes32 salt)
        public
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(roundId, executor, outputHash, salt));
    }

    /// @dev The fee goes to the k that agreed first; what does not divide stays with the last of them.
    function _agree(bytes32 roundId, Round storage round, bytes32 hash, bytes calldata output, Terms memory t)
        private
    {
        round.agreed = hash;
        round.finalAt = uint40(block.timestamp) + t.challengeSeconds;
        _agreedRound[round.inputHash] = roundId;
        _outputs[roundId] = output;
        emit Agreed(roundId, hash, round.finalAt, output);
        uint256 share = t.fee / t.agreement;
        uint256 count = _executors.length;
        for (uint256 i = 0; i < count; ++i) {
            address executor = _executors[i];
            bytes32 answer = answerOf[roundId][executor];
            if (answer == hash) credits[executor] += share;
            else if (answer != 0) emit Dissented(roundId, executor, answer);
        }
        credits[msg.sender] += t.fee - share * t.agreement;
    }

    /// @dev After a round without agreement, or when its result is too old.
    function _mayAskAgain(Round storage round, Terms memory t) private view returns (bool) {
        if (round.agreed == 0) return block.timestamp >= uint256(round.commitEnd) + t.revealSeconds;
        return t.maxAgeSeconds != 0 && block.timestamp > uint256(round.finalAt) + t.maxAgeSeconds;
    }

    function _requireSeated() private view {
        Seat storage seat = seats[msg.sender];
        if (!seat.isExecutor || seat.freeAt != 0 || seat.bond < terms.bond) revert NotExecutor(msg.sender);
    }

    function _requireRange(uint256 value, uint256 min, uint256 max) private pure {
        if (value < min || value > max) revert TermOutOfRange(value, min, max);
    }
}
