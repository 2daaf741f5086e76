// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {IPromises} from "../interfaces/IPromises.sol";
import {CLAIM_ACTIVE, CLAIM_FALLEN, ClaimWord} from "../libraries/ClaimWord.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Orders} from "../libraries/Orders.sol";
import {PromiseIds} from "../libraries/PromiseIds.sol";
import {
    Account,
    BatchId,
    BatchState,
    Filing,
    LeafState,
    PromiseStatus,
    SignedState
} from "../types/PromiseTypes.sol";
import {Claim, ClaimId, LANE_PROOF, ModelId, Request} from "../types/Types.sol";
import {PromisesStake} from "./PromisesStake.sol";

/// @notice Promises become claims in Assay, and claims end. This contract is requester and prover of all of them.
abstract contract PromisesFiling is PromisesStake {
    using PromiseIds for Claim;

    /// @notice What a claim is made of. @param slot wei of the bond that a slot gives
    struct Draft {
        address prover;
        ModelId modelId;
        ModelWord word;
        uint256 bond;
        uint256 slot;
        uint256 window;
        bytes32 origin;
        uint256 leaf;
        bool isLeaf;
    }

    uint64 private _salt;

    /// @inheritdoc IPromises
    function commitTrace(Claim calldata c, bytes32[] calldata) external {
        _requireProver(_requireFiled(c.idAt(address(assay))).prover);
        // Takes the same arguments.
        _forward(IAssay.commitTrace.selector);
    }

    /// @inheritdoc IPromises
    function close(Request calldata, Claim calldata c) external {
        ClaimId id = c.idAt(address(assay));
        Filing memory f = _requireFiled(id);
        delete _filings[id];
        ClaimWord word = ClaimWord.wrap(assay.claimWord(id));
        // Takes the same arguments.
        if (word.status() == CLAIM_ACTIVE) _forward(IAssay.finalize.selector);
        bool fallen = word.status() == CLAIM_FALLEN;
        emit Closed(id, f.origin, fallen);
        (address opener, uint96 amount) = f.isLeaf ? _endLeaf(f, fallen) : _endSigned(f.origin);
        Account storage a = _accounts[f.prover];
        a.away -= c.bond;
        if (fallen) {
            _credit(opener, amount);
            return;
        }
        uint96 back = c.bond - f.fromLeaving;
        if (f.slot) {
            BatchState storage batch = _batches[BatchId.wrap(f.origin)];
            // A slot of a batch that fell has nothing left to back.
            if (!batch.fallen) {
                back -= batch.bond;
                a.slots += batch.bond;
                ++batch.idle;
            }
        }
        a.leaving += f.fromLeaving;
        // Half of what was staked against a right claim, and half of what its opener put down.
        a.free += back + uint96(uint256(c.ticketBond / 2) * word.tickets()) + amount / 2;
        burned += amount - amount / 2;
        _pullCredit();
    }

    /// @dev Files a request and answers it. The bond comes from the slot, then from
    /// free stake, then from leaving stake; the caller has seen that there is enough.
    /// SAFETY: Assay calls nobody, so nothing is entered again before the claim's id is known.
    function _file(Draft memory d, bytes memory input, bytes memory output) internal returns (ClaimId id) {
        Account storage a = _accounts[d.prover];
        uint96 rest = uint96(d.bond - d.slot);
        uint96 fromLeaving = rest > a.free ? rest - a.free : 0;
        a.free -= rest - fromLeaving;
        a.leaving -= fromLeaving;
        a.slots -= uint96(d.slot);
        a.away += uint96(d.bond);
        uint64 gasPrice = uint64(_gasPrice());
        Request memory r;
        r.requester = address(this);
        r.modelId = d.modelId;
        r.inputHash = keccak256(input);
        // A proof's key may have been made by whoever signed: such a truth could not be trusted with the stake.
        r.lanes = d.word.lanes() & ~LANE_PROOF;
        r.minBond = uint96(d.bond);
        r.window = uint32(d.window);
        // The soonest that Assay takes: what falls is claimed again by nobody.
        r.expiry = uint40(block.timestamp + 1);
        // INVARIANT: a counter, so that nobody's promise has another's request.
        r.salt = _salt++;
        // Of the claim the prover is the operator. A key is not: it could be unbound, and lost, before the claim's end.
        assay.request(d.modelId, Orders.pack(r, input));
        id = assay.claim{value: d.bond}(r, d.prover, gasPrice, output);
        _filings[id] = Filing(d.prover, fromLeaving, d.origin, uint16(d.leaf), d.isLeaf, d.slot != 0);
    }

    /// @dev Calls Assay with this call's own arguments.
    function _forward(bytes4 selector) private {
        address target = address(assay);
        assembly ("memory-safe") {
            let free := mload(0x40)
            calldatacopy(free, 0, calldatasize())
            mstore(0, selector)
            mcopy(free, 0, 4)
            if iszero(call(gas(), target, 0, free, calldatasize(), 0, 0)) {
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
        }
    }

    /// @return opener of the signed claim @return amount his deposit, wei
    function _endSigned(bytes32 digest) private returns (address opener, uint96 amount) {
        SignedState storage state = _signed[digest];
        (opener, amount) = (state.opener, state.deposit);
        (state.status, state.deposit) = (PromiseStatus.CLOSED, 0);
    }

    /// @return opener of the leaf @return amount his deposit, wei
    function _endLeaf(Filing memory f, bool fallen) private returns (address opener, uint96 amount) {
        BatchId id = BatchId.wrap(f.origin);
        LeafState storage leaf = _leaves[id][f.leaf];
        (opener, amount) = (leaf.opener, leaf.deposit);
        leaf.deposit = 0;
        BatchState storage batch = _batches[id];
        --batch.open;
        if (fallen) batch.fallen = true;
    }

    function _requireFiled(ClaimId id) private view returns (Filing memory f) {
        f = _filings[id];
        if (f.prover == address(0)) revert NotOpen(id);
    }
}
