import { decodeAbiParameters, encodeAbiParameters, getAddress } from "viem";
import { describe, expect, it } from "vitest";
import {
  createEngineRegistry,
  ENGINES,
  type NextStep,
  reActEngine,
} from "../../../../agent/executor/engine/engine.ts";
import { encodeToolInput } from "../../../../agent/executor/engine/tool-input.ts";
import { Registry } from "../../../../agent/executor/registry.ts";
import { PARAM_TYPES } from "../../../../agent/executor/tool.ts";
import { EVERY_TYPE, EXCHANGE, TRANSFER, VIEW, WALLET_TOOLS } from "../../../support/agent-tools.ts";

const TOKEN = "0x00000000000000000000000000000000000000aa";
const TO = "0x00000000000000000000000000000000000000bb";
const transfer = (...params: readonly object[]): string =>
  `do it\nAction: TransferTokenTool\nAction Input: ${JSON.stringify(params)}`;
const codeOf = (completion: string, tools = WALLET_TOOLS): string | undefined => {
  try {
    reActEngine.parse(completion, tools);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("parse", () => {
  // shows: E1-067, E1-068
  it.each([
    [" I now know the final answer\nFinal Answer: 10 WETH", "10 WETH"],
    ["Final Answer: two\nlines", "two\nlines"],
    ["Thought: I know.\r\nFinal Answer: yes\r\n", "yes"],
    ["Final Answer: yes\nObservation: no\nAction: ViewTokensTool\nAction Input: []", "yes"],
    ["Final Answer: yes\n\nQuestion: and now?\nFinal Answer: no", "yes"],
  ])("default: a final answer %#", (completion, answer) => {
    expect(reActEngine.parse(completion, WALLET_TOOLS)).toEqual({ kind: "answer", answer });
  });

  // shows: E1-067, E1-069, E1-072, D-26
  it("default: an action gives the tool's contract, its input and the reasoning", () => {
    const step = reActEngine.parse(" look first\nAction: ViewTokensTool\nAction Input: []\n", WALLET_TOOLS);
    expect(step).toEqual({
      kind: "action",
      tool: VIEW,
      input: { params: [], abiEncodedParams: "0x" },
      values: [],
      reasoning: "Thought: look first\nAction: ViewTokensTool\nAction Input: []",
    } satisfies NextStep);
  });

  // shows: D-29
  it("behavior: nothing after Observation: is read", () => {
    const completion =
      "look\nAction: ViewTokensTool\nAction Input: []\nObservation: none\nAction: TransferTokenTool\nAction Input: []";
    expect(reActEngine.parse(completion, WALLET_TOOLS)).toMatchObject({ kind: "action", tool: VIEW });
  });

  // shows: E1-070, D-28
  it("behavior: parameters in another order come in the order of the description", () => {
    const given = transfer(
      { name: "amount", value: "1000" },
      { value: TO, name: "to" },
      { name: "token", value: TOKEN },
    );
    const step = reActEngine.parse(given, WALLET_TOOLS);
    if (step.kind !== "action") throw new Error("no action");
    expect(step.values.map(({ name }) => name)).toEqual(["token", "to", "amount"]);
    const types = [{ type: "address" }, { type: "address" }, { type: "uint256" }] as const;
    expect(decodeAbiParameters(types, step.input.abiEncodedParams)).toEqual([
      getAddress(TOKEN),
      getAddress(TO),
      1000n,
    ]);
  });

  // shows: E1-067
  it.each([
    ["", "COMPLETION_MALFORMED"],
    ["I don't know", "COMPLETION_MALFORMED"],
    ["Action: ViewTokensTool", "COMPLETION_MALFORMED"],
    ["Action Input: []", "COMPLETION_MALFORMED"],
    ["Action Input: []\nAction: ViewTokensTool", "COMPLETION_MALFORMED"],
    ["Final Answer:", "COMPLETION_MALFORMED"],
    ["Final Answer: a\nFinal Answer: b", "COMPLETION_MALFORMED"],
    ["Final Answer: a\nThought: or not", "COMPLETION_MALFORMED"],
    ["Action: ViewTokensTool\nAction Input: []\nFinal Answer: a", "COMPLETION_MALFORMED"],
    [
      "Action: ViewTokensTool\nAction Input: []\nAction: ViewTokensTool\nAction Input: []",
      "COMPLETION_MALFORMED",
    ],
    ["Action: ViewTokensTool\nThought: hm\nAction Input: []", "COMPLETION_MALFORMED"],
    ["Action: ViewTokensTool\nAction Input: []\nThought: then", "COMPLETION_MALFORMED"],
    ["Observation: x\nFinal Answer: a", "COMPLETION_MALFORMED"],
    ["a".repeat(70_000), "COMPLETION_MALFORMED"],
    ["Action: \nAction Input: []", "TOOL_UNKNOWN"],
    ["Action: DrainWalletTool\nAction Input: []", "TOOL_UNKNOWN"],
    ["Action: viewtokenstool\nAction Input: []", "TOOL_UNKNOWN"],
    ["Action: ViewTokensTool and more\nAction Input: []", "TOOL_UNKNOWN"],
    ["Action: ViewTokensTool\nTransferTokenTool\nAction Input: []", "TOOL_UNKNOWN"],
    ["Action: __proto__\nAction Input: []", "TOOL_UNKNOWN"],
    ["Action: constructor\nAction Input: []", "TOOL_UNKNOWN"],
    ["Action: ViewTokensTool\nAction Input: none", "ACTION_INPUT_INVALID"],
    ["Action: ViewTokensTool\nAction Input: {}", "ACTION_INPUT_INVALID"],
    ["Action: ViewTokensTool\nAction Input: [] thanks", "ACTION_INPUT_INVALID"],
    ["Action: ViewTokensTool\nAction Input: ```json\n[]\n```", "ACTION_INPUT_INVALID"],
    ["Action: ViewTokensTool\nAction Input: [1]", "ACTION_INPUT_INVALID"],
    ["Action: ViewTokensTool\nAction Input: [null]", "ACTION_INPUT_INVALID"],
  ])("error: %j is %s", (completion, code) => {
    expect(codeOf(completion)).toBe(code);
  });

  // shows: E1-069
  it("error: an unknown tool is named, with those that there are", () => {
    expect(() =>
      reActEngine.parse("Action: Drain\nAction Input: []", WALLET_TOOLS),
    ).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: The model chose the tool "Drain"; the agent has: TransferTokenTool, ExchangeTokenTool, ViewTokensTool. Let the model try again.]`,
    );
  });

  const [token, to, amount] = [
    { name: "token", value: TOKEN },
    { name: "to", value: TO },
    { name: "amount", value: "1" },
  ];
  // shows: E1-070, D-28
  it.each([
    ["a missing parameter", [token, to]],
    ["an unknown parameter", [token, to, amount, { name: "memo", value: "x" }]],
    ["a parameter given twice", [token, to, amount, amount]],
    ["a third key", [token, to, { ...amount, type: "UINT" }]],
    ["no value", [token, to, { name: "amount" }]],
    ["a name that is no text", [token, to, { name: 1, value: "1" }]],
    ["__proto__", [token, to, amount, { name: "__proto__", value: 1 }]],
    ["an address of 19 bytes", [token, { name: "to", value: TO.slice(0, 40) }, amount]],
    [
      "an address with a wrong checksum",
      [
        { name: "token", value: getAddress(TOKEN).replace(/a$/i, (c) => (c === "a" ? "A" : "a")) },
        to,
        amount,
      ],
    ],
    ["a negative UINT", [token, to, { name: "amount", value: "-1" }]],
    ["a UINT of 2^256", [token, to, { name: "amount", value: `${2n ** 256n}` }]],
    ["a fraction", [token, to, { name: "amount", value: 1.5 }]],
    ["an inexact number", [token, to, { name: "amount", value: 2 ** 53 }]],
    ["a number in words", [token, to, { name: "amount", value: "1e3" }]],
    ["a hex number", [token, to, { name: "amount", value: "0x10" }]],
    ["leading zeros", [token, to, { name: "amount", value: "007" }]],
    ["a list for one value", [token, to, { name: "amount", value: ["1"] }]],
  ])("error: %s", (_what, params) => {
    expect(codeOf(transfer(...params))).toBe("ACTION_INPUT_INVALID");
  });

  // shows: E1-070
  it.each([
    ["text", 1],
    ["text", "\ud800"],
    ["who", "vitalik.eth"],
    ["flag", "true"],
    ["flag", 1],
    ["change", `${2n ** 255n}`],
    ["change", `${-(2n ** 255n) - 1n}`],
    ["texts", "a"],
    ["texts", ["a", 1]],
    ["whos", [TO, "0x"]],
    ["flags", [true, "false"]],
    ["changes", ["-0"]],
    ["counts", [1, -1]],
    ["counts", { 0: 1, length: 1 }],
  ])("error: a value of another type for %s: %j", (name, value) => {
    const params = EVERY_VALUE.map((entry) => (entry.name === name ? { name, value } : entry));
    const completion = `Action: EveryTypeTool\nAction Input: ${JSON.stringify(params)}`;
    expect(codeOf(completion, [EVERY_TYPE])).toBe("ACTION_INPUT_INVALID");
  });
});

const EVERY_VALUE = [
  { name: "text", value: "naïve “text”\n" },
  { name: "who", value: TO },
  { name: "flag", value: true },
  { name: "change", value: "-57896044618658097711785492504343953926634992332820282019728792003956564819968" },
  { name: "count", value: 7 },
  { name: "texts", value: ["a", ""] },
  { name: "whos", value: [TOKEN] },
  { name: "flags", value: [] },
  { name: "changes", value: [-1, "2"] },
  {
    name: "counts",
    value: ["115792089237316195423570985008687907853269984665640564039457584007913129639935", 0],
  },
];

describe("readToolInput", () => {
  const typed = [
    "naïve “text”\n",
    "0x00000000000000000000000000000000000000bb",
    true,
    -(2n ** 255n),
    7n,
    ["a", ""],
    ["0x00000000000000000000000000000000000000aa"],
    [],
    [-1n, 2n],
    [2n ** 256n - 1n, 0n],
  ] as const;
  const SOLIDITY = [
    "string",
    "address",
    "bool",
    "int256",
    "uint256",
    "string[]",
    "address[]",
    "bool[]",
    "int256[]",
    "uint256[]",
  ];

  // shows: E1-070, E1-071, D-28
  it("default: all ten types, one by one and together", () => {
    const completion = `Action: EveryTypeTool\nAction Input: ${JSON.stringify(EVERY_VALUE.toReversed())}`;
    const step = reActEngine.parse(completion, [EVERY_TYPE]);
    if (step.kind !== "action") throw new Error("no action");
    expect(step.input.params).toEqual(
      typed.map((value, index) => ({
        paramType: index,
        value: encodeAbiParameters([{ type: SOLIDITY[index] as string }], [value]),
      })),
    );
    expect(step.input.abiEncodedParams).toBe(
      encodeAbiParameters(
        SOLIDITY.map((type) => ({ type })),
        typed,
      ),
    );
  });

  it("behavior: types have the ordinals of the contract's enum", () => {
    expect(EVERY_TYPE.params.map(({ type }) => PARAM_TYPES.indexOf(type))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    expect(encodeToolInput(EVERY_TYPE.params, typed).params.map(({ paramType }) => paramType)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });
});

describe("createEngineRegistry", () => {
  // shows: E1-064
  it("default: engines by key, and room for another", () => {
    const registry = createEngineRegistry();
    expect(registry.get(ENGINES.RE_ACT)).toBe(reActEngine);
    const own = { ...reActEngine, id: "OWN" };
    expect(registry.register("OWN", own).get("OWN")).toBe(own);
    expect(registry.ids()).toEqual(["RE_ACT", "CHAIN_OF_THOUGHT", "OWN"]);
  });

  // shows: E1-064
  it("error: an unknown key, a key that is taken", () => {
    const registry = createEngineRegistry();
    expect(() => registry.get("PLAN")).toThrowError(expect.objectContaining({ code: "ENGINE_UNKNOWN" }));
    expect(() => registry.register(ENGINES.RE_ACT, reActEngine)).toThrowError(
      expect.objectContaining({ code: "ENGINE_TAKEN" }),
    );
  });
});

describe("Registry", () => {
  // shows: E1-063
  it("error: an unknown model is an error, not a default", () => {
    const models = new Registry<string>("model").register("llama", "x");
    expect(models.get("llama")).toBe("x");
    expect(() => models.get("llama_model_3")).toThrowErrorMatchingInlineSnapshot(
      `[BaseError: There is no model "llama_model_3" here; there are: "llama". Configure it, or name one of these.]`,
    );
    expect(() => models.get("__proto__")).toThrowError(expect.objectContaining({ code: "MODEL_UNKNOWN" }));
  });
});

describe("tools", () => {
  it("behavior: a tool of one name at two addresses is refused when read as well", () => {
    const twins = [VIEW, { ...EXCHANGE, name: VIEW.name }];
    expect(codeOf("Action: ViewTokensTool\nAction Input: []", twins)).toBe("TOOL_DUPLICATE");
    expect(codeOf("Action: ViewTokensTool\nAction Input: []", [TRANSFER])).toBe("TOOL_UNKNOWN");
  });
});
