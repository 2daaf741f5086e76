// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {ExecutedModelTool} from "../../../verifier-contracts/agents/model/ExecutedModelTool.sol";
import {ModelTool, ModelToolText} from "../../../verifier-contracts/agents/model/ModelTool.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "../execution/ExecutionFixture.sol";
import {Params} from "./support/Params.sol";
import {ScriptedExecutor} from "./support/ScriptedExecutor.sol";
import {PlainAgent} from "./support/TestAgents.sol";
import {WordsConverter} from "./support/WordsConverter.sol";

/// @dev Shipped models and those of the vectors as tools, executed in the caller's transaction.
contract ExecutedModelToolTest is ExecutionFixture {
    WordsConverter private words;

    function setUp() public override {
        super.setUp();
        words = new WordsConverter();
    }

    function _toolOf(ModelId modelId, uint256 params) private returns (ExecutedModelTool) {
        ModelToolText memory t;
        (t.name, t.description) = ("ModelTool", "runs a model");
        (t.paramNames, t.paramDescriptions) = (new string[](params), new string[](params));
        for (uint256 i; i < params; i++) {
            (t.paramNames[i], t.paramDescriptions[i]) = ("values", "what the model takes");
        }
        return new ExecutedModelTool(t, interpreter, registry, modelId, words);
    }

    /// @dev The typed input whose calldata a vector has, made by reading it and not by what the tool does.
    function _typed(ModelId modelId, bytes calldata input) private view returns (IERCAgentTool.Input memory) {
        uint256 word = registry.modelWord(modelId);
        uint256 codec = uint8(word >> 160);
        bytes calldata arguments = input[4:];
        if (codec == 1) return AgentInput.prompt(abi.decode(arguments, (string)));
        if (codec == 2) {
            IERCAgentTool.ParamValue[] memory lists = new IERCAgentTool.ParamValue[](3);
            uint256[][3] memory prices;
            (prices[0], prices[1], prices[2]) = abi.decode(arguments, (uint256[], uint256[], uint256[]));
            for (uint256 i; i < 3; i++) {
                lists[i] = IERCAgentTool.ParamValue(IERCAgentTool.ParamType.UINT_ARRAY, abi.encode(prices[i]));
            }
            return AgentInput.join(lists);
        }
        uint256 count = uint32(word >> 176);
        if (codec == 3) {
            int256[] memory numbers = new int256[](count);
            for (uint256 i; i < count; i++) {
                numbers[i] = int16(uint16(bytes2(arguments[64 + 2 * i:66 + 2 * i])));
            }
            return
                Params.input(IERCAgentTool.ParamValue(IERCAgentTool.ParamType.INT_ARRAY, abi.encode(numbers)));
        }
        uint256[] memory all = new uint256[](count);
        for (uint256 i; i < count; i++) {
            all[i] = uint8(arguments[64 + i]);
        }
        return Params.input(IERCAgentTool.ParamValue(IERCAgentTool.ParamType.UINT_ARRAY, abi.encode(all)));
    }

    function check(ModelId modelId, bytes calldata input, bytes calldata output) external {
        uint256 params = uint8(registry.modelWord(modelId) >> 160) == 2 ? 3 : 1;
        ExecutedModelTool tool = _toolOf(modelId, params);
        (int256 runId, string memory result) = tool.run(_typed(modelId, input), address(0));
        assertEq(runId, -1);
        assertEq(result, words.convertToString(output));
    }

    function checkRun(bytes memory blob) external returns (uint256) {
        RunVector memory v = abi.decode(blob, (RunVector));
        ModelId modelId = registerRun(v);
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        this.check(modelId, v.input, v.output);
        return 1;
    }

    // shows: E1-002, E1-028
    function test_run_vectors_succeeds() public {
        (uint256 vectors,) = forEachVector("test/vectors/run.json", this.checkRun);
        assertGe(vectors, 40);
    }

    function _first() private returns (ModelId modelId, bytes memory input, bytes memory output) {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        ModelRun memory run = readModelRun(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))));
        vm.closeFile(path);
        return (publishRun(run), run.inputs[0], run.outputs[0]);
    }

    function typed(ModelId modelId, bytes calldata input) external view returns (IERCAgentTool.Input memory) {
        return _typed(modelId, input);
    }

    // shows: E1-003, E1-007
    function test_run_insideAgent_succeeds() public {
        (ModelId modelId, bytes memory input, bytes memory output) = _first();
        ExecutedModelTool tool = _toolOf(modelId, 1);
        assertEq(ModelId.unwrap(tool.modelId()), ModelId.unwrap(modelId));
        IERCAgentTool[] memory list = new IERCAgentTool[](1);
        list[0] = tool;
        ScriptedExecutor executor = new ScriptedExecutor();
        PlainAgent agent = new PlainAgent(address(executor), "Scoring Agent", list, 3);
        executor.onTool("score", tool, this.typed(modelId, input), "");
        executor.onAnswer("score", "scored");
        agent.run(AgentInput.prompt("score"), address(0));
        assertEq(executor.asked(1).toolResults[0], words.convertToString(output));
    }

    function test_constructor_refused_reverts() public {
        ModelId none = ModelId.wrap(keccak256("none"));
        ModelToolText memory text;
        IInterpreter where = interpreter;
        vm.expectRevert(abi.encodeWithSelector(ModelTool.UnknownModel.selector, none));
        new ExecutedModelTool(text, where, registry, none, words);
    }
}
