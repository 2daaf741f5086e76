// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {Claim, ModelId, Request} from "../../../verifier-contracts/types/Types.sol";
import {Test} from "../support/Test.sol";
import {Listener, Saboteur} from "../support/assay/Callbacks.sol";
import {HonestTruth} from "../support/assay/TestParts.sol";

/// @notice PROTOCOL.md's states written down a second time, in plain fields, beside the contract. A move asks these
/// rules first whether it is allowed; the contract must agree. The books are kept here too.
abstract contract GameSpec is Test {
    struct Filed {
        Request r;
        uint8 state;
        uint8 lane;
        uint32 attempt;
        uint256 settledAt;
        uint8 delivered;
        bytes32 result;
        uint256 claim;
    }

    struct Made {
        Claim c;
        uint256 request;
        uint256 filedAt;
        uint256 windowEnd;
        uint256 lastEvent;
        uint256 hardEnd;
        uint256 traceDeadline;
        uint256 tickets;
        uint256 owed;
        uint256 collected;
        uint8 status;
        bool hasTrace;
        bool truthShare;
        bool wasFinal;
    }

    struct Ticket {
        bool held;
        uint256 demands;
        bool collected;
    }

    struct Asked {
        uint256 deadline;
        bool answered;
    }

    enum Move {
        REQUEST,
        CLAIM,
        CHALLENGE,
        COMMIT,
        DEMAND,
        REVEAL,
        CONVICT,
        TIMEOUT_TRACE,
        TIMEOUT_DEMAND,
        SETTLE,
        FINALIZE,
        DELIVER,
        RECLAIM,
        REFUND,
        COLLECT,
        WITHDRAW,
        BURN
    }

    uint256 internal constant MOVES = 17;
    uint256 internal constant POSITIONS = 6;
    uint256 internal constant NO_CLAIM = type(uint256).max;

    Assay internal immutable assay;
    HonestTruth internal immutable truth;
    ModelId internal immutable modelId;
    uint256 internal immutable T;
    uint256 internal immutable depth;
    bytes internal input;
    address internal immutable listener = address(new Listener());
    address internal immutable saboteur;

    address[5] public actors;
    Filed[] internal requests;
    Made[] internal claims;
    mapping(uint256 claim => mapping(address => Ticket)) internal tickets;
    mapping(uint256 claim => mapping(uint256 position => Asked)) internal asked;

    mapping(Move => uint256) public accepted;
    mapping(Move => uint256) public refused;
    uint256 public tried;
    uint256 public done;

    // The books, by what was agreed. Nothing here is read from the contract.
    mapping(address => uint256) public credit;
    uint256 public received;
    uint256 public paidOut;
    uint256 public forced;
    uint256 public burned;

    constructor(Assay assay_, HonestTruth truth_, ModelId modelId_, uint256 depth_, bytes memory input_) {
        assay = assay_;
        truth = truth_;
        modelId = modelId_;
        depth = depth_;
        input = input_;
        T = assay_.answerSeconds();
        Saboteur s = new Saboteur(assay_);
        s.set(Saboteur.Way.REVERT, "");
        saboteur = address(s);
        actors = [makeAddr("ann"), makeAddr("ben"), makeAddr("cleo"), makeAddr("dan"), makeAddr("eve")];
    }

    // Rules

    function finalAt(Made storage m) internal view returns (uint256) {
        if (m.lastEvent == 0) return m.windowEnd;
        return max(m.windowEnd, min(m.lastEvent + T + 1, m.hardEnd));
    }

    function isFinal(Made storage m) internal view returns (bool) {
        return m.status == 2 || (m.status == 1 && m.owed == 0 && block.timestamp >= finalAt(m));
    }

    function isOpen(Made storage m) internal view returns (bool) {
        return m.status == 1 && !isFinal(m);
    }

    function disputeSeconds() internal view returns (uint256) {
        return (2 * depth + 2) * T + 1;
    }

    function shareOf(Made storage m) internal view returns (uint256) {
        return uint256(m.c.bond) / 2 / (m.tickets + (m.truthShare ? 1 : 0));
    }

    // Exits

    function win(Made storage m, uint8 lane) internal {
        Filed storage f = requests[m.request];
        m.status = 2;
        (f.state, f.lane, f.settledAt) = (3, lane, block.timestamp);
        credit[m.c.prover] += m.c.bond + m.tickets * (m.c.ticketBond / 2) + f.r.fee;
        burned += m.tickets * (m.c.ticketBond - m.c.ticketBond / 2);
    }

    function fall(Made storage m, bool byTruth) internal {
        m.status = 3;
        m.truthShare = byTruth;
        uint256 takers = m.tickets + (byTruth ? 1 : 0);
        burned += m.c.bond - takers * shareOf(m);
        Filed storage f = requests[m.request];
        f.claim = NO_CLAIM;
        if (!byTruth) (f.state, f.attempt) = (1, f.attempt + 1);
    }

    /// @dev Outputs 0 and 1 are claimed, 0 is true, 2 is nobody's.
    function _output(uint256 which) internal pure returns (bytes memory) {
        return abi.encode(uint256(7), which);
    }

    function _outputOf(Claim memory c) internal pure returns (bytes memory) {
        return _output(c.outputHash == keccak256(_output(0)) ? 0 : 1);
    }

    /// @notice What the contract holds for others than its creditors, by the state of every claim and request.
    function held() public view returns (uint256 total) {
        for (uint256 i; i < claims.length; i++) {
            Made storage m = claims[i];
            if (m.status == 1) total += m.c.bond + m.tickets * m.c.ticketBond;
            if (m.status == 3) total += (m.tickets - m.collected) * (m.c.ticketBond + shareOf(m));
        }
        for (uint256 i; i < requests.length; i++) {
            Filed storage f = requests[i];
            if (f.state == 1 || f.state == 2) total += f.r.fee;
            if (f.state != 4 && f.delivered == 0) total += f.r.deliveryFee;
        }
    }

    // Playing

    /// @notice Sends a move and compares the contract's answer with the rules'.
    function play(Move move, address sender, uint256 value, bytes memory data, bool allowed)
        internal
        returns (bool)
    {
        vm.deal(sender, value);
        vm.prank(sender);
        (bool success, bytes memory why) = address(assay).call{value: value}(data);
        if (success && !allowed) {
            revert(string.concat("accepted against the rules: ", vm.toString(uint256(move))));
        }
        if (!success && allowed) {
            revert(string.concat("refused: ", vm.toString(uint256(move)), " ", vm.toString(why)));
        }
        tried++;
        if (success) {
            done++;
            received += value;
            accepted[move]++;
        } else {
            refused[move]++;
        }
        return success;
    }

    function actor(uint256 seed) internal view returns (address) {
        return actors[seed % actors.length];
    }

    function min(uint256 a, uint256 b) internal pure returns (uint256) {
        return a < b ? a : b;
    }

    function max(uint256 a, uint256 b) internal pure returns (uint256) {
        return a > b ? a : b;
    }
}
