// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../../interfaces/IInterpreter.sol";
import {ModelId} from "../../types/Types.sol";
import {AgentIterationResult, IERCAgentExecutor} from "../interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {AgentInput} from "../libraries/AgentInput.sol";
import {Introspection} from "../libraries/Introspection.sol";
import {Asset, Clause, Clauses, WordKind} from "./Clause.sol";
import {Results} from "./Results.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";

/// @title An executor inside the chain: a small model decides, in the agent's own transaction
/// @notice Takes a prompt clause by clause. For each, the policy model (models/policy) says which tool is next and
/// which number, asset and account of the clause it is to get; other values come from results of earlier tools of
/// the clause, which say them as `name: number`.
/// @dev Its decisions are computed exactly, by EXECUTION: anybody can repeat them. That makes them verified to be the
/// model's, not right: limits belong into tools. Keeps no state; where a run stands it reads from its own reasoning.
contract PolicyExecutor is IERCAgentExecutor, ERC165 {
    /// @notice Thrown when an agent names another model. @param required the model's id in hexadecimal
    error UnknownModel(string modelId, string required);
    /// @notice Thrown when the model chose a tool that the agent does not have.
    error UnknownTool(string name);
    /// @notice Thrown when neither the clause nor an earlier result gives a value for a parameter.
    error ValueMissing(IERCAgentTool tool, string param, string clause);
    /// @notice Thrown when an amount has more decimals than its asset, or is too large.
    error AmountUnfit(string amount, uint8 decimals);
    /// @notice Thrown when a later clause is no wish that a tool can fulfil, so that the earlier ones are undone.
    error ClauseNotUnderstood(uint256 index, string clause);
    /// @notice Thrown when the reasoning of an earlier iteration is not this executor's.
    error ForeignReasoning(string reasoning);

    uint256 private constant NONE = 0;
    uint256 private constant DONE = 1;

    IInterpreter public immutable interpreter;
    ModelId public immutable policyModel;
    bytes4 public immutable selector;
    Asset[] private _assets;

    struct Place {
        uint256 clause;
        uint256 firstStep;
        string state;
    }

    struct Decision {
        uint256 intent;
        uint256 number;
        uint256 asset;
        uint256 account;
    }

    /// @param selector_ the model's function, `decide(string)`
    /// @param assets what prompts may name, few
    constructor(IInterpreter interpreter_, ModelId policyModel_, bytes4 selector_, Asset[] memory assets) {
        interpreter = interpreter_;
        policyModel = policyModel_;
        selector = selector_;
        for (uint256 i; i < assets.length; ++i) {
            _assets.push(assets[i]);
        }
    }

    /// @inheritdoc IERCAgentExecutor
    function runNextIteration(
        string memory modelId,
        string memory,
        IERCAgentTool[] memory tools,
        string[] memory agentReasoning,
        string[] memory toolResults,
        string memory prompt
    ) external view returns (AgentIterationResult memory next) {
        _requireModel(modelId);
        Asset[] memory assets = _assets;
        Place memory place = _placeOf(agentReasoning, toolResults);
        while (true) {
            Clause memory clause = Clauses.read(prompt, place.clause, place.state, assets);
            if (!clause.found) return _answer(toolResults);
            Decision memory d = _decide(clause.text);
            if (d.intent == NONE) {
                if (place.clause != 0) revert ClauseNotUnderstood(place.clause, string(clause.text));
                return _final("None of my tools can do that.");
            }
            if (d.intent != DONE) {
                string memory name = toolNames()[d.intent - 2];
                next.tool = _toolOf(tools, name);
                next.toolInput = _inputOf(next.tool, clause, d, assets, prompt, toolResults, place.firstStep);
                next.agentReasoning = string.concat(Strings.toString(place.clause), ": ", name);
                return next;
            }
            place = Place(place.clause + 1, toolResults.length, unicode"§start §other");
        }
    }

    /// @notice The tools that the model knows, in the order of its intents from 2 on.
    function toolNames() public pure returns (string[13] memory) {
        return [
            "DeployTool",
            "WithdrawTool",
            "ViewBalanceTool",
            "TransferTool",
            "SentimentTool",
            "ForecastTool",
            "OptimizerTool",
            "TradeTool",
            "CriteriaTool",
            "CreditScoreAgent",
            "DecisionTool",
            "CreditTool",
            "RetrievalTool"
        ];
    }

    /// @notice What prompts may name.
    function assetList() external view returns (Asset[] memory) {
        return _assets;
    }

    function supportsInterface(bytes4 id) public view override returns (bool) {
        return id == type(IERCAgentExecutor).interfaceId || super.supportsInterface(id);
    }

    function _decide(bytes memory text) private view returns (Decision memory) {
        bytes memory out = interpreter.infer(policyModel, abi.encodeWithSelector(selector, string(text)));
        (uint256 intent, uint256 number, uint256 asset, uint256 account) =
            abi.decode(out, (uint256, uint256, uint256, uint256));
        return Decision(intent, number, asset, account);
    }

    /// @dev Where a run stands: this executor's own words of the last iteration, and what the tool said after it.
    function _placeOf(string[] memory reasoning, string[] memory results)
        private
        pure
        returns (Place memory place)
    {
        uint256 steps = reasoning.length;
        if (steps == 0) return Place(0, 0, unicode"§start §other");
        bytes memory last = bytes(reasoning[steps - 1]);
        uint256 colon;
        while (colon < last.length && last[colon] != ":") ++colon;
        if (colon + 2 > last.length || steps != results.length) {
            revert ForeignReasoning(reasoning[steps - 1]);
        }
        (bool isNumber, uint256 clause) = Strings.tryParseUint(string(last), 0, colon);
        if (!isNumber) revert ForeignReasoning(reasoning[steps - 1]);
        place.clause = clause;
        bytes memory head = bytes.concat(bytes(Strings.toString(clause)), ":");
        place.firstStep = steps - 1;
        while (place.firstStep != 0 && _hasHead(reasoning[place.firstStep - 1], head)) --place.firstStep;
        place.state =
            string.concat(unicode"§", _lower(last, colon + 2), " ", _resultWord(results[steps - 1]));
    }

    function _hasHead(string memory text, bytes memory head) private pure returns (bool) {
        bytes memory s = bytes(text);
        if (s.length < head.length) return false;
        for (uint256 i; i < head.length; ++i) {
            if (s[i] != head[i]) return false;
        }
        return true;
    }

    /// @dev Letters from a position on, in lower case.
    function _lower(bytes memory s, uint256 start) private pure returns (string memory) {
        bytes memory word = new bytes(s.length - start);
        for (uint256 i; i < word.length; ++i) {
            bytes1 c = s[start + i];
            word[i] = c >= "A" && c <= "Z" ? c | 0x20 : c;
        }
        return string(word);
    }

    function _resultWord(string memory result) private pure returns (string memory) {
        if (Results.begins(result, "buy")) return unicode"§buy";
        if (Results.begins(result, "sell")) return unicode"§sell";
        return Results.begins(result, "hold") ? unicode"§hold" : unicode"§other";
    }

    function _toolOf(IERCAgentTool[] memory tools, string memory name) private view returns (IERCAgentTool) {
        for (uint256 i; i < tools.length; ++i) {
            // A tool that does not say its name, or says too much, is nobody's wish: the others still are.
            if (keccak256(bytes(Introspection.nameOf(tools[i]))) == keccak256(bytes(name))) return tools[i];
        }
        revert UnknownTool(name);
    }

    function _inputOf(
        IERCAgentTool tool,
        Clause memory clause,
        Decision memory d,
        Asset[] memory assets,
        string memory prompt,
        string[] memory results,
        uint256 firstStep
    ) private view returns (IERCAgentTool.Input memory) {
        IERCAgentTool.ParamDescription[] memory wanted = tool.inputDescription().paramDescriptions;
        IERCAgentTool.ParamValue[] memory params = new IERCAgentTool.ParamValue[](wanted.length);
        for (uint256 i; i < wanted.length; ++i) {
            (bool found, bytes memory value) = _earlier(wanted[i], results, firstStep);
            if (!found) (found, value) = _said(wanted[i], clause, d, assets, prompt);
            if (!found) revert ValueMissing(tool, wanted[i].name, string(clause.text));
            params[i] = IERCAgentTool.ParamValue(wanted[i].paramType, value);
        }
        return AgentInput.join(params);
    }

    /// @dev A number that a tool of this clause has told under the parameter's name, the latest first.
    function _earlier(IERCAgentTool.ParamDescription memory p, string[] memory results, uint256 firstStep)
        private
        pure
        returns (bool, bytes memory)
    {
        bool isSigned = p.paramType == IERCAgentTool.ParamType.INT;
        if (!isSigned && p.paramType != IERCAgentTool.ParamType.UINT) return (false, "");
        for (uint256 i = results.length; i > firstStep; --i) {
            (bool found, int256 value) = Results.number(results[i - 1], p.name);
            if (found && (isSigned || value >= 0)) return (true, abi.encode(value));
        }
        return (false, "");
    }

    /// @dev What the clause says. INVARIANT: a word fills in a parameter only if it is of the parameter's kind.
    function _said(
        IERCAgentTool.ParamDescription memory p,
        Clause memory clause,
        Decision memory d,
        Asset[] memory assets,
        string memory prompt
    ) private pure returns (bool, bytes memory) {
        if (p.paramType == IERCAgentTool.ParamType.STRING) {
            for (uint256 i = 2; i < clause.count; ++i) {
                if (clause.kinds[i] == WordKind.TEXT) {
                    return (true, abi.encode(Clauses.slice(prompt, clause.values[i])));
                }
            }
            // Nothing is quoted: the tool, which may be an agent, gets the clause as it is.
            return (true, abi.encode(Clauses.slice(prompt, clause.range)));
        } else if (p.paramType == IERCAgentTool.ParamType.ADDRESS) {
            bool isAsset = keccak256(bytes(p.name)) == keccak256("asset");
            uint256 word = isAsset ? d.asset : d.account;
            if (_is(clause, word, isAsset ? WordKind.ASSET : WordKind.ACCOUNT)) {
                uint256 value = clause.values[word];
                return (true, abi.encode(isAsset ? assets[value].token : address(uint160(value))));
            }
        } else if (p.paramType == IERCAgentTool.ParamType.UINT && _is(clause, d.number, WordKind.NUMBER)) {
            string memory digits = Clauses.slice(prompt, clause.values[d.number]);
            uint8 decimals =
                _is(clause, d.asset, WordKind.ASSET) ? assets[clause.values[d.asset]].decimals : 0;
            (bool fits, uint256 amount) = Results.scaled(digits, decimals);
            if (!fits) revert AmountUnfit(digits, decimals);
            return (true, abi.encode(amount));
        }
        return (false, "");
    }

    function _is(Clause memory clause, uint256 word, WordKind kind) private pure returns (bool) {
        return word < clause.count && clause.kinds[word] == kind;
    }

    function _answer(string[] memory results) private pure returns (AgentIterationResult memory) {
        return _final(results.length == 0 ? "There is nothing to do." : results[results.length - 1]);
    }

    function _final(string memory text) private pure returns (AgentIterationResult memory next) {
        next.isFinalAnswer = true;
        next.finalAnswer = text;
    }

    function _requireModel(string memory modelId) private view {
        string memory required = Strings.toHexString(uint256(ModelId.unwrap(policyModel)), 32);
        if (keccak256(bytes(modelId)) != keccak256(bytes(required))) revert UnknownModel(modelId, required);
    }
}
