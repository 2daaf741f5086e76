// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {OUTPUT_WORDS} from "../generated/Codes.sol";
import {IAssay} from "../interfaces/IAssay.sol";
import {IExecutionLane} from "../interfaces/IExecutionLane.sol";
import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Claim, LANE_EXECUTION, ModelId, Policy, Request, RequestId} from "../types/Types.sol";
import {AggregatorV3Interface} from "./AggregatorV3Interface.sol";
import {ISeries} from "./ISeries.sol";

/// @title A number of a model's output over a series, read as a price feed is
/// @notice A round is an output that is final, over data of the series that are newer than the last round's. Anybody
/// writes it; nobody can write anything else.
contract ForecastFeed is AggregatorV3Interface {
    /// @param interpreter runs the model in `updateExecuted`; zero where requests alone make outputs final
    struct Sources {
        IAssay assay;
        IInterpreter interpreter;
        ISeries series;
    }

    /// @notice What an output of a request must be final by. @param minBond of a claim, wei @param minWindow seconds
    struct Terms {
        ModelId modelId;
        uint8 lanes;
        uint96 minBond;
        uint32 minWindow;
    }

    /// @param element of the output that is the answer @param decimals of it
    /// @param lower and @param upper what an answer beyond them becomes
    /// @param maxAge of the newest data, seconds: older rounds are neither written nor the latest
    struct Rules {
        uint8 element;
        uint8 decimals;
        int176 lower;
        int176 upper;
        uint32 maxAge;
        string description;
    }

    /// @param observedAt second of the newest data @param writtenAt second of the transaction
    struct Round {
        int176 answer;
        uint40 observedAt;
        uint40 writtenAt;
    }

    event Announced(bytes32 indexed inputHash, uint40 observedAt);
    /// @param output the number before it was clamped @param requestId zero where the chain computed it here
    event RoundWritten(
        uint80 indexed roundId, RequestId indexed requestId, int256 answer, int256 output, uint40 observedAt
    );

    error UnknownModel(ModelId modelId);
    /// @notice Thrown for a model whose output is not of words, or has no such element.
    error NoSuchElement(uint256 element, uint256 codec, uint256 outputLength);
    /// @notice Thrown for an interpreter other than that of Assay's execution lane: it could return anything.
    error InterpreterInvalid(IInterpreter interpreter);
    error RulesInvalid(int256 lower, int256 upper, uint256 maxAge);
    /// @notice Thrown where lanes and the interpreter do not go together.
    error LanesInvalid(uint8 lanes);
    /// @notice Thrown for a request whose input nobody announced: it is none of the series, or older than that.
    error NotAnnounced(bytes32 inputHash);
    /// @notice Thrown when the last round has data as new.
    error NotNewer(uint256 observedAt, uint256 latest);
    /// @notice Thrown when the newest data are older than `maxAge`.
    error Stale(uint256 observedAt, uint256 maxAge);
    error NoRound(uint80 roundId);

    uint256 public constant version = 1;

    IAssay public immutable assay;
    IInterpreter public immutable interpreter;
    ISeries public immutable series;
    ModelId public immutable modelId;
    bytes4 public immutable selector;
    uint8 public immutable lanes;
    uint96 public immutable minBond;
    uint32 public immutable minWindow;
    uint8 public immutable element;
    uint8 public immutable decimals;
    int176 public immutable lower;
    int176 public immutable upper;
    uint32 public immutable maxAge;
    string public description;

    /// @notice Rounds so far; the latest one's id.
    uint80 public latestRound;
    /// @notice Second of the newest data of an announced input, 0 if it was not announced.
    mapping(bytes32 inputHash => uint40) public observedAtOf;
    mapping(uint80 roundId => Round) private _rounds;

    constructor(Sources memory sources, Terms memory terms, Rules memory rules) {
        ModelWord word = ModelWord.wrap(sources.assay.registry().modelWord(terms.modelId));
        if (word.isNone()) revert UnknownModel(terms.modelId);
        if (word.outputCodec() != OUTPUT_WORDS || word.outputLength() < 32 * (uint256(rules.element) + 1)) {
            revert NoSuchElement(rules.element, word.outputCodec(), word.outputLength());
        }
        if (rules.lower > rules.upper || rules.maxAge == 0) {
            revert RulesInvalid(rules.lower, rules.upper, rules.maxAge);
        }
        bool executes = address(sources.interpreter) != address(0);
        if (
            terms.lanes == 0 || word.missing(terms.lanes) != 0
                || (executes && terms.lanes & LANE_EXECUTION == 0)
        ) {
            revert LanesInvalid(terms.lanes);
        }
        if (
            executes
                && sources.interpreter
                    != IExecutionLane(address(sources.assay.executionAdapter())).interpreter()
        ) revert InterpreterInvalid(sources.interpreter);
        (assay, interpreter, series) = (sources.assay, sources.interpreter, sources.series);
        (modelId, lanes, minBond, minWindow) = (terms.modelId, terms.lanes, terms.minBond, terms.minWindow);
        selector = word.selector();
        (element, decimals, lower, upper) = (rules.element, rules.decimals, rules.lower, rules.upper);
        (maxAge, description) = (rules.maxAge, rules.description);
    }

    /// @notice Notes the series' newest input, so that an output over it can become a round even when the series has
    /// gone on.
    function announce() external returns (bytes32 inputHash) {
        (bytes memory input, uint40 observedAt) = series.newest(selector);
        inputHash = keccak256(input);
        observedAtOf[inputHash] = observedAt;
        emit Announced(inputHash, observedAt);
    }

    /// @notice Writes the round of a final output. @param r a request of an announced input, whoever made it
    /// @param c the claim that became final, all zeros if truth came without one
    function update(Request calldata r, Claim calldata c, bytes calldata output) external {
        uint40 observedAt = observedAtOf[r.inputHash];
        if (observedAt == 0) revert NotAnnounced(r.inputHash);
        assay.requireFinal(r, c, output, Policy(modelId, r.inputHash, lanes, minBond, minWindow));
        _write(observedAt, output, assay.requestIdOf(r));
    }

    /// @notice Writes the round of what the chain computes from the series' newest input.
    function updateExecuted() external {
        if (address(interpreter) == address(0)) revert LanesInvalid(lanes);
        (bytes memory input, uint40 observedAt) = series.newest(selector);
        _write(observedAt, interpreter.infer(modelId, input), RequestId.wrap(0));
    }

    /// @inheritdoc AggregatorV3Interface
    /// @dev Reverts when there is no round, and when its data are older than `maxAge`: a consumer that forgets to
    /// look at the time reads nothing stale. `startedAt` is when the newest data were observed, `updatedAt` when the
    /// round was written.
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        uint80 id = latestRound;
        _requireFresh(_rounds[id].observedAt, id);
        return getRoundData(id);
    }

    /// @inheritdoc AggregatorV3Interface
    function getRoundData(uint80 id) public view returns (uint80, int256, uint256, uint256, uint80) {
        Round memory round = _rounds[id];
        if (round.writtenAt == 0) revert NoRound(id);
        return (id, round.answer, round.observedAt, round.writtenAt, id);
    }

    function _write(uint40 observedAt, bytes memory output, RequestId requestId) private {
        uint80 last = latestRound;
        if (observedAt <= _rounds[last].observedAt) revert NotNewer(observedAt, _rounds[last].observedAt);
        uint80 id = last + 1;
        _requireFresh(observedAt, id);
        int256 value;
        uint256 offset = 32 * (uint256(element) + 1);
        // SAFETY: the constructor has seen that outputs of this model have that many words.
        assembly ("memory-safe") {
            value := mload(add(output, offset))
        }
        int256 answer = value < lower ? int256(lower) : value > upper ? int256(upper) : value;
        // SAFETY: between two numbers of 176 bits.
        _rounds[id] = Round(int176(answer), observedAt, uint40(block.timestamp));
        latestRound = id;
        emit RoundWritten(id, requestId, answer, value, observedAt);
    }

    function _requireFresh(uint256 observedAt, uint80 id) private view {
        if (observedAt == 0) revert NoRound(id);
        if (block.timestamp > observedAt + maxAge) revert Stale(observedAt, maxAge);
    }
}
