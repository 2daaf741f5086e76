"""A prover who rounds as he likes: a copy of ezkl whose code cuts off where the original rounds to the nearest.

Usage: lying_prover.py FOLDER ONNX SRS, or lying_prover.py witness FOLDER NAME, which it calls itself. Makes a circuit
with the settings in FOLDER, proves one input with both programs and has the original verify both proofs. Prints a JSON
object: outputs and verdicts. Exit code 3 where this machine's ezkl holds no constant by which it rounds.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# LLVM rounds x to the nearest as trunc(x + copysign(0.49999999999999994, x)).
HALF = bytes.fromhex("3fdfffffffffffff")[::-1]


def number(element):
    return str(int.from_bytes(bytes.fromhex(element), "little"))


def witness(folder, name):
    import ezkl

    at = lambda file: str(Path(folder) / file)  # noqa: E731
    made = ezkl.gen_witness(at("data.json"), at("circuit.ezkl"), at(f"{name}-witness.json"))
    ezkl.prove(at(f"{name}-witness.json"), at("circuit.ezkl"), at("proving.key"), at(f"{name}-proof.json"), at("srs"))
    public = {k: [number(e) for e in made[k][0]] for k in ("inputs", "outputs")}
    json.dump(public | {"library": ezkl.__file__}, open(at(f"{name}.json"), "w"))


def liar(folder):
    """Copies ezkl and changes its constant."""
    import ezkl

    copy = Path(folder) / "liar"
    shutil.copytree(Path(ezkl.__file__).parent, copy / "ezkl")
    for library in (copy / "ezkl").glob("*.so"):
        code = library.read_bytes()
        if HALF not in code:
            sys.exit(3)
        library.write_bytes(code.replace(HALF, bytes(8)))
    return str(copy)


def main():
    folder, onnx, srs = sys.argv[1:]
    import ezkl

    at = lambda file: str(Path(folder) / file)  # noqa: E731
    os.symlink(srs, at("srs"))
    assert ezkl.compile_circuit(onnx, at("circuit.ezkl"), at("settings.json"))
    assert ezkl.setup(at("circuit.ezkl"), at("verification.key"), at("proving.key"), srs_path=srs)
    runs = {}
    for name, path in (("honest", None), ("liar", liar(folder))):
        environment = os.environ | ({} if path is None else {"PYTHONPATH": path})
        subprocess.run(
            [sys.executable, __file__, "witness", folder, name], env=environment, check=True, stdout=sys.stderr
        )
        run = json.load(open(at(f"{name}.json")))
        assert (path or "") in run["library"]
        shown = json.load(open(at(f"{name}-proof.json")))["instances"][0]
        runs[name] = {
            "inputs": run["inputs"],
            "outputs": run["outputs"],
            "isShown": [number(e) for e in shown][-len(run["outputs"]) :] == run["outputs"],
            "isAccepted": bool(
                ezkl.verify(at(f"{name}-proof.json"), at("settings.json"), at("verification.key"), srs)
            ),
        }
    print("RESULT " + json.dumps(runs))


if sys.argv[1] == "witness":
    witness(*sys.argv[2:])
else:
    main()
