// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentAdapter} from "../../../verifier-contracts/agents/adapter/AgentAdapter.sol";
import {ModelResults} from "../../../verifier-contracts/agents/adapter/ModelResults.sol";
import {Erc7007Verify} from "../../../verifier-contracts/agents/standards/Erc7007Verify.sol";
import {Erc7992Registry} from "../../../verifier-contracts/agents/standards/Erc7992Registry.sol";
import {Erc7992Verifier} from "../../../verifier-contracts/agents/standards/Erc7992Verifier.sol";
import {Erc8004Validator, Statement} from "../../../verifier-contracts/agents/standards/Erc8004Validator.sol";
import {Erc8274Verifier} from "../../../verifier-contracts/agents/standards/Erc8274Verifier.sol";
import {IERCZKMLRegistry} from "../../../verifier-contracts/agents/standards/interfaces/IERCZKMLRegistry.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {Claim, ModelId, Request, RequestId} from "../../../verifier-contracts/types/Types.sol";
import {RedundantFixture} from "../agents/adapter/RedundantFixture.sol";
import {KeyedRegistry} from "../agents/standards/Erc7992.t.sol";
import {StandardsFixture} from "../agents/standards/StandardsFixture.sol";
import {TestIdentityRegistry, TestValidationRegistry} from "../agents/standards/TestValidationRegistry.sol";
import {AgentMeasurement} from "./AgentGas.t.sol";

// Gas of reading agents off chain through adapters, and of what other protocols ask of a verifier; whole transactions
// as in AgentGas.t.sol.

contract AdapterGasTest is RedundantFixture, AgentMeasurement {
    // shows: E0-23
    function test_reveal_roundGas_succeeds() public {
        bytes memory answer = _price("3021.45");
        bytes32 roundId = _request(_call());
        _measure("redundant results, request of 132 bytes");
        _commit(roundId, 0, answer);
        assertLt(_measure("redundant results, commit"), 130_000);
        _commit(roundId, 1, answer);
        _commit(roundId, 2, _price("0"));
        _reveal(roundId, 0, answer);
        _measure("redundant results, reveal");
        _reveal(roundId, 1, answer);
        assertLt(_measure("redundant results, reveal that agrees, 96 bytes"), 300_000);
        _reveal(roundId, 2, _price("0"));
        _measure("redundant results, reveal that dissents");
        oracle.getPrice(URL, PATH);
        assertLt(_measure("agent adapter, read of an agreed result of 96 bytes"), 100_000);
    }

    // shows: E0-23
    function test_record_modelGas_succeeds() public {
        ModelResults truth = _deployWithTruth();
        AgentAdapter model = new AgentAdapter(truth);
        bytes32 roundId = _round(_input(), _wrong(), _right(), _right());
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        truth.record(r, c, _right());
        assertLt(_measure("model results, record of a final claim, 64 bytes"), 250_000);
        results.convict(roundId, executors[0]);
        _measure("redundant results, convict");
        (bool success,) = address(model).call(_input());
        _measure("agent adapter, read of a recorded model result of 64 bytes");
        assertTrue(success);
    }
}

contract StandardsGasTest is StandardsFixture, AgentMeasurement {
    // shows: E0-23
    function test_verify_gas_succeeds() public {
        Erc8274Verifier proofs = new Erc8274Verifier(assay);
        Erc7007Verify content = new Erc7007Verify(assay, MODEL, _anyLane());
        (Request memory r, Claim memory c) = _finalClaim();
        bytes memory proof = abi.encode(r, c, _right());
        _send(
            address(proofs),
            abi.encodeCall(proofs.verify, (r.inputHash, c.outputHash, abi.encode(MODEL, _anyLane()), proof))
        );
        assertLt(_measure("ERC-8274, verify a final claim"), 120_000);
        _send(address(content), abi.encodeCall(content.verify, (_input(), _right(), abi.encode(r, c))));
        assertLt(_measure("ERC-7007, verify a final claim"), 120_000);
    }

    // shows: E0-23
    function test_verifyInference_gas_succeeds() public {
        KeyedRegistry models = new KeyedRegistry();
        models.setModel(MODEL, _modelWord(ALL_LANES, DEPTH));
        Erc7992Registry listings = new Erc7992Registry(IModelRegistry(address(models)));
        Erc7992Verifier verifier = new Erc7992Verifier(assay, listings, _anyLane());
        uint256 id = listings.registerModel(
            IERCZKMLRegistry.ModelCommitment(ModelId.unwrap(MODEL), 0, 0, verifier.FINAL(), "")
        );
        (Request memory r, Claim memory c) = _finalClaim();
        bytes32 commitment = RequestId.unwrap(assay.requestIdOf(r));
        verifier.verifyInference(id, commitment, _right(), abi.encode(r, c));
        assertLt(_measure("ERC-7992, verify a final claim"), 150_000);
    }

    // shows: E0-23
    function test_respond_gas_succeeds() public {
        TestIdentityRegistry identity = new TestIdentityRegistry();
        TestValidationRegistry validations = new TestValidationRegistry(identity);
        Erc8004Validator validator = new Erc8004Validator(assay, validations, _anyLane());
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        vm.prank(prover);
        uint256 agentId = identity.register();
        Statement memory statement =
            Statement(block.chainid, address(assay), address(identity), agentId, 0, r, c, _right());
        vm.prank(prover);
        validations.validationRequest(address(validator), agentId, "", keccak256(abi.encode(statement)));
        validator.respond(statement);
        assertLt(_measure("ERC-8004, soft answer"), 250_000);
        skip(WINDOW);
        validator.respond(statement);
        assertLt(_measure("ERC-8004, hard answer"), 150_000);
    }

    /// @dev As a transaction: a static call would be measured without its base.
    function _send(address to, bytes memory data) private {
        (bool success, bytes memory answer) = to.call(data);
        assertTrue(success && abi.decode(answer, (bool)));
    }
}
