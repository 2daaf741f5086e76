// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Runs registered models on chain: the EXECUTION lane's function, callable by any contract in its own
/// transaction. `infer` runs the program record by record, every step by itself, and is what settles requests;
/// IFastInterpreter has forms that cost less.
interface IInterpreter {
    /// @notice Emitted when a step's tensor was shown to differ from what the judge computes: from now on the chain runs
    /// the model no more. @param stored the element that the interpreter made, @param expected the judge's; for a codec
    /// step the roots of both tensors
    event ExecutionHalted(
        ModelId indexed modelId, uint256 step, uint256 element, uint256 stored, uint256 expected
    );

    /// @notice Emitted likewise for a run with compiled layers: from now on the chain runs them no more.
    event CompiledHalted(
        ModelId indexed modelId, uint256 step, uint256 element, uint256 stored, uint256 expected
    );

    /// @notice Thrown when a model's weights are not published: publish them, or give them as `inferWith` takes them.
    error WeightsNotPublished(ModelId modelId);
    /// @notice Thrown when a model has no EXECUTION lane. @param lanes those that it has
    error NotExecutable(ModelId modelId, uint8 lanes);
    /// @notice Thrown when the calldata is not the canonical encoding of an input of the model.
    error InputNotCanonical();
    /// @notice Thrown when weights that came along are longer or shorter than the model's.
    error WrongWeightsLength(uint256 length, uint256 required);
    /// @notice Thrown when weights that came along are not the model's.
    error WrongWeights(bytes32 folded, bytes32 weightsRoot);
    /// @notice Thrown for a model whose execution was halted (`haltExecution`): use another lane.
    error ModelHalted(ModelId modelId);
    /// @notice Thrown for a model whose compiled layers were halted (`haltCompiled`): call `infer`.
    error CompiledModelHalted(ModelId modelId);
    /// @notice Thrown by `haltExecution` and `haltCompiled` when the run's element is the judge's.
    error NoDifference(uint256 stored);

    /// @notice The model's return data for its calldata, with the published weights. Total: for canonical calldata of
    /// a model whose weights are published and that is not halted it reverts for lack of gas alone.
    /// @param input the model's calldata, selector included
    function infer(ModelId modelId, bytes calldata input) external view returns (bytes memory output);

    /// @notice The same with weights that came along, for a model whose weights nobody published: once they are, they
    /// are what is read, so that what runs is what `haltExecution` looks at.
    /// @param weights the stream of all weight rows (IWeightStore)
    function inferWith(ModelId modelId, bytes calldata input, bytes calldata weights)
        external
        view
        returns (bytes memory output);

    /// @notice `infer`, with the compiled code of those DOT steps that have it (ILayerBuilder). Settles nothing.
    function inferCompiled(ModelId modelId, bytes calldata input) external view returns (bytes memory output);

    /// @notice The tensor of a step on the way of `infer`, to be compared with another implementation's.
    /// @param step index of the step @return stored its bytes, row-major, without padding
    function tensorAt(ModelId modelId, bytes calldata input, uint256 step)
        external
        view
        returns (bytes memory stored);

    /// @notice Halts the model for good if an element that `infer` computes on the way is not the one that the judge
    /// computes from the same operands. Anybody may call it; it needs the published weights.
    /// @param input canonical calldata of the model @param step index of the step
    /// @param element row-major index in the step's tensor; 0 for a codec step, whose tensor is compared whole
    /// @dev Reverts with NoDifference if the element is right, and with IJudge's errors if there is no such element.
    function haltExecution(ModelId modelId, bytes calldata input, uint256 step, uint256 element) external;

    /// @notice Halts the model for good if the return data of `infer` is not what the judge makes of the last step's
    /// tensor: its form, or an element of it. Anybody may call it; errors as of `haltExecution`, whose event it emits, the
    /// step being the number of steps.
    /// @param element index below the tensor's elements, any if the form is wrong
    function haltOutput(ModelId modelId, bytes calldata input, uint256 element) external;

    /// @notice Halts the model's compiled layers for good if an element that `inferCompiled` computes on the way is not
    /// the judge's; `infer` goes on. Arguments and errors as of `haltExecution`. It does not run the model plainly, which
    /// may take more gas than a transaction has.
    function haltCompiled(ModelId modelId, bytes calldata input, uint256 step, uint256 element) external;

    /// @notice Whether the model was halted.
    function isHalted(ModelId modelId) external view returns (bool);

    /// @notice Whether the model's compiled layers were halted, by themselves or with the model.
    function isCompiledHalted(ModelId modelId) external view returns (bool);
}
