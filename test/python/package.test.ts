import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { freshPython, PACKAGE, pythonsHere, runPython, TOOLS_PYTHON } from "../../tools/python.ts";
import { pytest, run } from "../support/python.ts";

const python = inject("python");

describe("the Python package", () => {
  test("behavior: strictly typed, tests included", () => {
    // The sources, not what another run has installed beside the tools.
    const printed = runPython(TOOLS_PYTHON, ["-m", "mypy", "--strict"], { cwd: PACKAGE });
    expect(printed).toMatch(/^Success: no issues found in \d+ source files/m);
  });

  test("behavior: formatted, and no warning", () => {
    for (const args of [
      ["format", "--check", "-q"],
      ["check", "-q"],
    ]) {
      expect(runPython(TOOLS_PYTHON, ["-m", "ruff", ...args, "."])).toBe("");
    }
  });

  test("behavior: a strict project of somebody else sees its types", async () => {
    const folder = mkdtempSync(join(tmpdir(), "assay-typed-"));
    try {
      const args = ["-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", folder, "-c"];
      const right = "import assay\nlane: assay.Lane = assay.Lane.BOND\n";
      expect(runPython(TOOLS_PYTHON, [...args, right], { cwd: folder })).toMatch("Success");
      const wrong = await run(TOOLS_PYTHON, [...args, "import assay\nx: int = assay.read_deployment('')\n"], {
        cwd: folder,
      });
      expect(wrong.printed).toMatch('expression has type "Deployment"');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("behavior: the wheel alone is installed, with types, ABIs and licence, and needs nothing else", async () => {
    const script = [
      "import importlib.metadata as m",
      "d = m.distribution('assay')",
      "import assay, os",
      "print(os.path.dirname(assay.__file__))",
      "print(d.metadata['License-Expression'], *sorted({str(f).split('/')[0] for f in d.files}))",
      "print(*(f for f in ('py.typed', 'generated/abis.json') if os.path.exists(os.path.join(os.path.dirname(assay.__file__), f))))",
    ].join("\n");
    const { printed } = await run(python, ["-c", script], { cwd: tmpdir() });
    const [place, files, kept] = printed.trim().split("\n");
    expect(place).toMatch(/assay-python-\w+\/lib\/python3\.\d+\/site-packages\/assay$/);
    expect(files).toBe("MIT assay assay-0.1.0.dist-info");
    expect(kept).toBe("py.typed generated/abis.json");
    expect(await run(python, ["-m", "pip", "check"])).toMatchObject({ code: 0 });
  });

  test("behavior: values, orders, receipts' form, without a chain", async () => {
    const { passed } = await pytest(python, "tests/test_offline.py");
    expect(passed).toBeGreaterThanOrEqual(5);
  });

  test("behavior: on each supported Python that this machine has, the oldest among them if it is here", async () => {
    const own = runPython(python, ["--version"]).trim();
    const { here, missing } = pythonsHere();
    const others = here.filter((name) => !own.toLowerCase().replace(" ", "").startsWith(`${name}.`));
    for (const name of others) {
      const other = freshPython(["pytest", "pytest-asyncio"], name);
      try {
        for (const part of ["tests/test_offline.py", "tests/exact/test_vectors.py"])
          expect((await pytest(other.python, part)).passed, `${part} by ${name}`).toBeGreaterThanOrEqual(5);
      } finally {
        other.remove();
      }
    }
    process.stdout.write(
      `The suite ran on ${own}; also tried: ${others.join(", ") || "none"}; not here: ${missing.join(", ") || "none"}\n`,
    );
  });

  test("behavior: all vectors of test/vectors", async () => {
    const { passed, printed } = await pytest(python, "tests/exact");
    process.stdout.write(`${printed.match(/^[a-z0-9-]+: \d.*$/gm)?.join("\n")}\n`);
    expect(passed).toBeGreaterThanOrEqual(30);
  });
});
