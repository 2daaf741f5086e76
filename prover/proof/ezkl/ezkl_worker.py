"""Runs one stage of ezkl: a JSON object on standard input, one on standard output, ezkl's own messages on the other.

One process a stage: memory goes back to the system, a crash costs one stage, and killing it cancels the work.
"""

import asyncio
import json
import os
import resource
import sys
import time

import development_srs


def version(_):
    import ezkl

    return {"version": ezkl.__version__}


# Fraction bits are never rounded away: ezkl would round a number with more than this many times the inputs' bits, and
# its circuits leave the direction of a rounding to the prover (operations.ts).
NEVER = 1000
# Digits of 14 bits by which numbers are compared. More than 8 leave ezkl's integers of 128 bits.
DIGITS = range(2, 9)


def settings(r):
    """Calibrates: chooses scales, digits and rows from data, `scales` being the candidates. Inputs and outputs are
    public; weights are fixed, that is part of the key: ezkl's default would let a prover choose them."""
    import ezkl

    def calibrate(digits):
        args = public_args()
        args.scale_rebase_multiplier = NEVER
        args.decomp_legs = digits
        require(ezkl.gen_settings(r["onnx"], r["settings"], py_run_args=args))
        require(
            ezkl.calibrate_settings(
                r["data"],
                r["onnx"],
                r["settings"],
                r["target"],
                scales=r["scales"],
                scale_rebase_multiplier=[NEVER],
                max_logrows=r["maxLogrows"],
            )
        )

    for digits in DIGITS:
        try:
            calibrate(digits)
            break
        except RuntimeError:
            if digits == DIGITS[-1]:
                raise
    # Other inputs may lead to greater numbers than the data's.
    if digits < DIGITS[-1]:
        calibrate(digits + 1)
    return {}


def public_args():
    import ezkl

    args = ezkl.PyRunArgs()
    args.input_visibility = "public"
    args.output_visibility = "public"
    args.param_visibility = "fixed"
    return args


def operations(r):
    """ezkl's table of the operations that a circuit with these settings consists of."""
    import ezkl

    args = public_args()
    with open(r["settings"]) as file:
        chosen = json.load(file)["run_args"]
    for name in NUMBERS:
        setattr(args, name, chosen[name])
    args.variables = [tuple(variable) for variable in chosen["variables"]]
    return {"table": ezkl.table(r["onnx"], args)}


# What of ezkl's settings decides on the operations.
NUMBERS = (
    "input_scale",
    "param_scale",
    "scale_rebase_multiplier",
    "rebase_frac_zero_constants",
    "decomp_base",
    "decomp_legs",
    "bounded_log_lookup",
    "epsilon",
)


def circuit(r):
    import ezkl

    require(ezkl.compile_circuit(r["onnx"], r["circuit"], r["settings"]))
    return {}


def srs(r):
    """The development SRS, unless the file is there."""
    path = r["srs"]
    if not os.path.exists(path):
        part = f"{path}.{os.getpid()}.part"
        development_srs.write(part, r["logrows"])
        os.replace(part, path)
    return {}


def setup(r):
    import ezkl

    require(ezkl.setup(r["circuit"], r["vk"], r["pk"], srs_path=r["srs"]))
    return {}


def verifier(r):
    """Writes the verifier's Solidity. Then ezkl looks for a compiler on the network and fails: the file is good."""
    import ezkl

    async def create():
        await ezkl.create_evm_verifier(
            vk_path=r["vk"],
            settings_path=r["settings"],
            sol_code_path=r["solidity"],
            abi_path=r["solidity"] + ".abi",
            srs_path=r["srs"],
            reusable=False,
        )

    try:
        asyncio.run(create())
    except RuntimeError as error:
        if not os.path.exists(r["solidity"]):
            raise
        print(error, file=sys.stderr)
    return {}


def witness(r):
    """Runs the circuit on `data`. Returns field elements as decimal strings, inputs and outputs in order."""
    import ezkl

    result = ezkl.gen_witness(r["data"], r["circuit"], r["witness"])
    return {
        "inputs": [numbers(tensor) for tensor in result["inputs"]],
        "outputs": [numbers(tensor) for tensor in result["outputs"]],
    }


def witnesses(r):
    """Runs the circuit on each file of `data`, one after the other. Returns the outputs of each, as `witness` does."""
    import ezkl

    runs = (ezkl.gen_witness(path, r["circuit"], r["witness"]) for path in r["data"])
    return {"outputs": [[numbers(tensor) for tensor in run["outputs"]] for run in runs]}


def prove(r):
    import ezkl

    ezkl.prove(r["witness"], r["circuit"], r["pk"], r["proof"], r["srs"])
    with open(r["proof"]) as file:
        proof = json.load(file)
    return {"proof": proof["hex_proof"], "instances": [n for part in proof["instances"] for n in numbers(part)]}


def verify(r):
    import ezkl

    try:
        return {"valid": bool(ezkl.verify(r["proof"], r["settings"], r["vk"], r["srs"]))}
    except RuntimeError as error:
        # Only the proof system itself decides; a file that cannot be read is no verdict.
        if "[halo2]" in str(error):
            return {"valid": False}
        raise


def numbers(elements):
    """Field elements, 32 bytes little-endian in hex, as decimal strings."""
    return [str(int.from_bytes(bytes.fromhex(e), "little")) for e in elements]


def require(done):
    if not done:
        raise RuntimeError("ezkl returned False")


STAGES = {f.__name__: f for f in (version, settings, operations, circuit, srs, setup, verifier, witness, witnesses, prove, verify)}


def main():
    request = json.load(sys.stdin)
    # ezkl prints tables to standard output: keep that for the answer alone.
    answers = os.dup(1)
    os.dup2(2, 1)
    start = time.monotonic()
    try:
        answer = {"ok": True, **STAGES[request["stage"]](request)}
    except BaseException as error:  # ezkl's panics are no Exceptions
        answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
    answer["seconds"] = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer["memoryBytes"] = peak if sys.platform == "darwin" else peak * 1024
    os.write(answers, json.dumps(answer).encode() + b"\n")
    # Not sys.exit: ezkl's threads crash when the interpreter is taken down.
    os._exit(0)


main()
