/** Faults that are put into a copy of what takes promises in at a challenger: the named test of intake.test.ts or
 *  leaves.test.ts must find each. */
import type { Mutant } from "../../../tools/mutant.ts";

const INTAKE = "challenger/promises/intake.ts";
const LEAVES = "challenger/promises/leaves.ts";
const REEXECUTE = "challenger/reexecute.ts";
const RULES = "protocol/rules/promises/";

const fault = (name: string, caughtBy: string, file: string, from: string, to: string): Mutant => ({
  ...{ name, caughtBy, edits: [{ file, from, to }] },
});

export const INTAKE_FAULTS: readonly Mutant[] = [
  fault(
    "both forms of a signature",
    "the twin of a signature",
    `${RULES}signature.ts`,
    "hexToBigInt(s) > MAX_S",
    "false",
  ),
  fault("any v", "a v of another form", `${RULES}signature.ts`, "if (v !== 27 && v !== 28)", "if (v > 28)"),
  fault(
    "64 bytes of a signature",
    "a short signature",
    `${RULES}presented.ts`,
    "[0-9a-f]{130}$/",
    "[0-9a-f]{128,130}$/",
  ),
  fault("what has expired", "its end has passed", INTAKE, "if (now > end) {", "if (now > end + 86_400) {"),
  fault(
    "what names a late expiry",
    "a day after it was issued",
    `${RULES}limits.ts`,
    "Math.min(expiry, issuedAt + PROMISE_LIMITS.maxLife)",
    "Math.max(expiry, issuedAt)",
  ),
  fault(
    "what is postdated",
    "it is postdated",
    INTAKE,
    "if (now + MAX_EARLY_SECONDS < claim.issuedAt)",
    "if (now + 3_600 < claim.issuedAt)",
  ),
  fault(
    "another contract's",
    "another contract",
    `${RULES}presented.ts`,
    " || !isAddressEqual(promises, at.promises)",
    "",
  ),
  fault("another chain's", "another chain", `${RULES}presented.ts`, "chainId !== at.chainId || ", ""),
  fault(
    "another's input",
    "another input",
    `${RULES}presented.ts`,
    '    ["INPUT_MISMATCH", "input", input, claim.inputHash],\n',
    "",
  ),
  fault(
    "another's output",
    "another output",
    `${RULES}presented.ts`,
    '    ["OUTPUT_MISMATCH", "output", output, claim.outputHash],\n',
    "",
  ),
  fault(
    "more than a transaction opens",
    "input and output that no transaction holds",
    `${RULES}presented.ts`,
    "if (size > MAX_PRESENTED_BYTES)",
    "if (size > 2 * MAX_PRESENTED_BYTES)",
  ),
  fault(
    "a key that nobody bound",
    "a key that binds nobody",
    INTAKE,
    "    await this.#requireBinding(presented);\n",
    "",
  ),
  fault(
    "what the contract refuses",
    "an output of another length",
    INTAKE,
    'if (error.details.revert === "NotYetIssued") return;',
    "return;",
  ),
  fault(
    "another key's signature for what is known",
    "a forged signature for what another contract opened",
    INTAKE,
    "if (until === 0 || issuedAt > until) {",
    "if (until !== 0 && issuedAt > until) {",
  ),
  fault(
    "what nothing could be taken by",
    "a prover without a stake",
    INTAKE,
    "if (stake < least) throw stakeTooLow(prover, stake, least);",
    "",
  ),
  fault(
    "a model that is not here",
    "a model that nobody here has",
    INTAKE,
    "if (!models.has(modelId))",
    "if (false)",
  ),
  fault(
    "a body of any size",
    "a body that is larger still",
    INTAKE,
    "2 * MAX_PRESENTED_BYTES + 4_096",
    "8 * MAX_PRESENTED_BYTES",
  ),
];

export const LEAF_FAULTS: readonly Mutant[] = [
  fault(
    "leaves beyond the batch's count",
    "more leaves than the batch says could not be checked",
    LEAVES,
    "payloads.length !== count",
    "payloads.length < count",
  ),
  fault(
    "fewer leaves than the batch's count",
    "fewer leaves than the batch says could not be checked",
    LEAVES,
    "payloads.length !== count",
    "payloads.length > count",
  ),
  fault(
    "the last leaf is left out",
    "a wrong leaf is found at each end and in the middle, with its path to the root",
    LEAVES,
    "next = Math.min(count, from + together);\n      const stated = payloads.slice(from, next)",
    "next = Math.min(count, from + together);\n      const stated = payloads.slice(from, Math.min(next, count - 1))",
  ),
  fault(
    "the path of another leaf",
    "a wrong leaf is found at each end and in the middle, with its path to the root",
    LEAVES,
    "tree?.pathOf(leaf.index)",
    "tree?.pathOf(0)",
  ),
  fault(
    "what could not be run counts as right",
    "leaves that cannot be run are no fraud, and the others are checked",
    LEAVES,
    "unchecked += 1;",
    "right += 1;",
  ),
  fault(
    "the fast path's word alone",
    "a fast path that errs makes no leaf wrong",
    REEXECUTE,
    "  let check: OutputCheck;\n",
    '  if (quick !== undefined && "output" in quick) return { kind: "wrong", honest: toHex(quick.output) };\n  let check: OutputCheck;\n',
  ),
  fault(
    "what could not be run is fraud",
    "leaves that cannot be run are no fraud, and the others are checked",
    REEXECUTE,
    'return { kind: "could-not-check", reason: error instanceof Error ? error.message : String(error) };',
    'return { kind: "wrong", honest: "0x" };',
  ),
];
