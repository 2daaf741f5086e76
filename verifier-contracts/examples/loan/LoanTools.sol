// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TypedTool} from "../../agents/TypedTool.sol";
import {OnChainModel} from "../OnChainModel.sol";
import {CriteriaDao} from "./CriteriaDao.sol";
import {LoanPool} from "./LoanPool.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title The pool's criteria as they are now
contract CriteriaTool is TypedTool {
    CriteriaDao public immutable dao;

    constructor(CriteriaDao dao_)
        TypedTool(
            "CriteriaTool",
            "Reads the present lending criteria, which members change by vote. Use it first, in every evaluation",
            new ParamDescription[](0)
        )
    {
        dao = dao_;
    }

    function _use(bytes memory) internal view override returns (string memory) {
        return string.concat("version ", Strings.toString(dao.version()), ". ", dao.criteria());
    }
}

/// @title Points of an application, computed on chain from the facts that the pool holds
contract CreditTool is TypedTool {
    OnChainModel private _model;
    LoanPool public immutable pool;

    constructor(OnChainModel memory model, LoanPool pool_)
        TypedTool(
            "CreditTool",
            "Computes the credit score of a loan application from its facts",
            _one(ParamDescription(ParamType.UINT, "application", "number of the application"))
        )
    {
        _model = model;
        pool = pool_;
    }

    function _use(bytes memory values) internal override returns (string memory) {
        uint256 id = abi.decode(values, (uint256));
        uint256[2] memory facts = pool.application(id).facts;
        uint256[] memory lanes = new uint256[](2);
        (lanes[0], lanes[1]) = (facts[0], facts[1]);
        bytes memory out = _model.interpreter.infer(_model.id, abi.encodeWithSelector(_model.selector, lanes));
        int256 points = abi.decode(out, (int256));
        pool.recordScore(id, points);
        return string.concat("score: ", Strings.toStringSigned(points));
    }
}

/// @title Approves or denies by the pool's limit
/// @notice Takes no score: what anybody says that it is does not matter.
contract DecisionTool is TypedTool {
    /// @notice Thrown when somebody else than the loan agent uses the tool.
    error NotAgent(address sender, address agent);

    LoanPool public immutable pool;

    constructor(LoanPool pool_)
        TypedTool(
            "DecisionTool",
            "Approves or denies a loan application that has a credit score, by the limit of the pool",
            _one(ParamDescription(ParamType.UINT, "application", "number of the application"))
        )
    {
        pool = pool_;
    }

    function _use(bytes memory values) internal override returns (string memory) {
        if (msg.sender != address(pool.agent())) revert NotAgent(msg.sender, address(pool.agent()));
        uint256 id = abi.decode(values, (uint256));
        (bool approved, int256 points) = pool.decide(id);
        return string.concat(
            approved ? "approved" : "denied",
            ", score: ",
            Strings.toStringSigned(points),
            ", limit: ",
            Strings.toStringSigned(pool.limit())
        );
    }
}
