"""The EXECUTION lane from outside: one `eth_call` in which the chain runs a model."""

from __future__ import annotations

from typing import Any

from ..errors import AssayError
from .chain import Chain
from .effects import Steps
from .model import Model, Values
from .rpc import Reverted, call

NEXT_STEPS = {
    "NotExecutable": "Use another lane of the model.",
    "ModelHalted": "Somebody showed a fault of its execution: use another lane of the model.",
    "FastModelHalted": "Somebody showed a fault of its plan or compiled code: leave out `fast`.",
}


def infer(chain: Chain, model: Model, values: Values, fast: bool, weights: bytes | None) -> Steps[dict[str, Any]]:
    """The model's output, computed by the chain: final at once, without a request.

    Raises AssayError INPUTS_INVALID, WEIGHTS_NOT_PUBLISHED, EXECUTION_REFUSED, LANE_UNAVAILABLE; faults of the node.
    """
    data, identity = model.encode(values), bytes.fromhex(model.model_id[2:])
    context = f"run model {model.model_id} on chain"
    try:
        if weights is not None:
            to = chain.contract("interpreter")
            output = yield from call(context, to, "IInterpreter", "inferWith", identity, data, weights)
        elif fast:
            to = chain.contract("fastInterpreter")
            output = yield from call(context, to, "IFastInterpreter", "inferFast", identity, data)
        else:
            output = yield from call(context, chain.contract("interpreter"), "IInterpreter", "infer", identity, data)
    except Reverted as error:
        raise refused(model, error) from error
    return model.decode(output)


def refused(model: Model, error: Reverted) -> AssayError:
    if error.name == "WeightsNotPublished":
        return AssayError(
            "WEIGHTS_NOT_PUBLISHED",
            f"Nobody has published the weights of model {model.model_id}.",
            "Publish them with `assay model publish`, or give the content of weights.bin as `weights`.",
        )
    return AssayError(
        "EXECUTION_REFUSED",
        f"The chain did not run model {model.model_id}: {error.message}.",
        NEXT_STEPS.get(error.name, "Check model and input."),
        details={"revert": error.name},
    )
