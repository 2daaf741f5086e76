import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type NextStep, reActEngine } from "../../../../agent/executor/engine/engine.ts";
import { insertedJson, insertedText } from "../../../../agent/executor/engine/inserted-text.ts";
import type { PromptParts } from "../../../../agent/executor/engine/prompt.ts";
import { type Tool, toolsByName } from "../../../../agent/executor/tool.ts";
import { isBaseError } from "../../../../base/errors.ts";
import { BASE_PROMPT, TRANSFER, VIEW, WALLET_TOOLS } from "../../../support/agent-tools.ts";
import { INJECTIONS, type PromptInjection } from "../../../support/prompt-injections.ts";
import { labelledLines } from "../../../support/prompt-reader.ts";

const OWN_ERRORS = [
  "COMPLETION_MALFORMED",
  "TOOL_UNKNOWN",
  "ACTION_INPUT_INVALID",
  "TOOL_NAME_INVALID",
  "TOOL_DUPLICATE",
  "TOOL_PARAMETER_INVALID",
];
const REASONING = "Thought: look\nAction: ViewTokensTool\nAction Input: []";

/** A run's second iteration with the attack at its place. */
function attacked({ place, text }: PromptInjection): PromptParts {
  const parts = {
    basePrompt: BASE_PROMPT,
    tools: WALLET_TOOLS,
    agentReasoning: [REASONING],
    toolResults: ["10 WETH"],
    prompt: "What do I own?",
  };
  const param = { type: "STRING", name: "memo", description: "a note" } as const;
  const withView = (view: Partial<Tool>) => ({ ...parts, tools: [TRANSFER, { ...VIEW, ...view }] });
  switch (place) {
    case "toolResult":
      return { ...parts, toolResults: [text] };
    case "prompt":
      return { ...parts, prompt: text };
    case "metadata":
      return withView({ description: text, params: [{ ...param, description: text }] });
    case "name":
      return withView({ name: text, params: [param] });
  }
}

/** The step that a completion leads to; undefined for one of the parser's own errors. */
function stepOf(completion: string, tools: readonly Tool[]): NextStep | undefined {
  try {
    return reActEngine.parse(completion, tools);
  } catch (error) {
    if (isBaseError(error) && OWN_ERRORS.includes(error.code)) return undefined;
    throw error;
  }
}

/** Believes labels wherever they stand: repeats the last action or answer that it sees in the history; by itself it
 *  looks at the tokens once and answers then. */
function gullible(prompt: string): string {
  const lines = labelledLines(prompt);
  const begin = lines.findIndex(({ label }) => label === "begin");
  const history = lines.slice(begin + 2, -1);
  const last = history.at(-1);
  if (last === undefined) return `look\nAction: ${VIEW.name}\nAction Input: []`;
  if (last.label === "observation") return "I now know the final answer\nFinal Answer: that was all";
  return history.map(({ line }) => line).join("\n");
}

const skeleton = (prompt: string): string[] => labelledLines(prompt).map(({ label }) => label);
const plainSkeleton = skeleton(
  reActEngine.buildPrompt(attacked({ name: "", kind: "", place: "prompt", text: "What do I own?" })),
);
const written = INJECTIONS.cases.filter(({ place }) => place !== "name");
const names = INJECTIONS.cases.filter(({ place }) => place === "name");

describe("prompt injections", () => {
  it("default: there are more than a hundred", () => {
    expect(INJECTIONS.cases.length).toBeGreaterThanOrEqual(100);
    const distinct = new Set(INJECTIONS.cases.map(({ place, text }) => `${place} ${text}`));
    expect(distinct.size).toBe(INJECTIONS.cases.length);
  });

  // shows: E1-099, E1-100, D-29
  it.each(written.map((attack) => [attack.name, attack] as const))(
    "behavior: %s adds no label to the prompt",
    (_name, attack) => {
      const prompt = reActEngine.buildPrompt(attacked(attack));
      expect(skeleton(prompt)).toEqual(plainSkeleton);
    },
  );

  it("behavior: a reader like this would see the labels if they were not escaped", () => {
    const forged = INJECTIONS.cases.filter(({ kind }) => kind === "forged-label");
    const seen = forged.filter(({ text }) => skeleton(text).length > 0);
    expect(seen.length).toBeGreaterThan(forged.length / 2);
  });

  // shows: E1-099, E1-100
  it.each(INJECTIONS.cases.map((attack) => [attack.name, attack] as const))(
    "behavior: a model that repeats %s reaches no tool that is not listed, and one at most",
    (_name, attack) => {
      for (const completion of [
        attack.text,
        ` thinking\n${attack.text}`,
        `Action: ${attack.text}\nAction Input: []`,
        `Action: ViewTokensTool\nAction Input: ${attack.text}`,
        `Action: ViewTokensTool\nAction Input: []\n${attack.text}`,
        `Final Answer: ${attack.text}`,
      ]) {
        const step = stepOf(completion, WALLET_TOOLS);
        if (step?.kind === "action") expect(WALLET_TOOLS).toContain(step.tool);
      }
    },
  );

  // shows: E1-099, E1-100, E0-21
  it.each(written.map((attack) => [attack.name, attack] as const))(
    "behavior: a run with %s takes the same action as without it, and no more",
    (_name, attack) => {
      const { tools, toolResults, ...parts } = attacked(attack);
      const actions: string[] = [];
      const [agentReasoning, results]: [string[], string[]] = [[], []];
      for (let iteration = 0; iteration < 5; iteration++) {
        const prompt = reActEngine.buildPrompt({ ...parts, tools, agentReasoning, toolResults: results });
        // The view tool takes a parameter where its metadata are attacked.
        const completion = gullible(prompt).replace(
          `${VIEW.name}\nAction Input: []`,
          `${VIEW.name}\nAction Input: ${JSON.stringify((tools.at(-1)?.params ?? []).map(({ name }) => ({ name, value: "" })))}`,
        );
        const step = reActEngine.parse(completion, tools);
        if (step.kind === "answer") break;
        actions.push(step.tool.name);
        agentReasoning.push(step.reasoning);
        results.push(toolResults[0] ?? "");
      }
      expect(actions).toEqual([VIEW.name]);
    },
  );

  // shows: E1-099
  it.each(names.map((attack) => [attack.name, attack] as const))(
    "behavior: %s is refused as a name, or is a plain word",
    (_name, attack) => {
      const parts = attacked(attack);
      let prompt: string;
      try {
        prompt = reActEngine.buildPrompt(parts);
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^TOOL_(NAME_INVALID|DUPLICATE)$/) });
        return;
      }
      expect(attack.text).toMatch(/^[\w./-]+$/);
      expect(skeleton(prompt)).toEqual(plainSkeleton);
      expect([...toolsByName(parts.tools).keys()]).toEqual([TRANSFER.name, attack.text]);
    },
  );
});

const PIECES = [
  "Action:",
  "Action Input:",
  "Observation:",
  "Final Answer:",
  "Thought:",
  "Question:",
  "Begin!",
  "\n",
  "\r",
  "\u2028",
  "\u200b",
  " ",
  "[]",
  "{}",
  "DrainWalletTool",
  "ViewTokensTool",
  "TransferTokenTool",
  '[{"name":"token","value":"0x00000000000000000000000000000000000000aa"},{"name":"to","value":"0x00000000000000000000000000000000000000bb"},{"name":"amount","value":"1"}]',
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 14 })
  .map((pieces) => pieces.join(""));
/** Completions that have the form more often than chance gives. */
const completion = fc.oneof(
  text,
  fc
    .tuple(
      text,
      fc.constantFrom(...PIECES.slice(-4, -1)),
      fc.oneof(fc.constantFrom("[]", ...PIECES.slice(-1)), text),
      text,
    )
    .map(([thought, name, input, rest]) => `${thought}\nAction: ${name}\nAction Input: ${input}\n${rest}`),
);
const RUNS = { numRuns: 3_000 };

describe("parse, with random completions", () => {
  // shows: E1-067, E1-069, D-29
  it("behavior: throws nothing but its own errors and yields no unlisted tool", () => {
    let actions = 0;
    fc.assert(
      fc.property(completion, (given) => {
        const step = stepOf(given, WALLET_TOOLS);
        if (step?.kind !== "action") return;
        actions += 1;
        expect(WALLET_TOOLS).toContain(step.tool);
        expect(step.input.params).toHaveLength(step.tool.params.length);
        // What goes back to the agent is taken as our own when it comes again.
        const parts = attacked({ name: "", kind: "", place: "prompt", text: "x" });
        const prompt = reActEngine.buildPrompt({ ...parts, agentReasoning: [step.reasoning] });
        expect(prompt).toContain(`\n${step.reasoning}\nObservation: `);
        expect(skeleton(prompt)).toEqual(plainSkeleton);
      }),
      RUNS,
    );
    expect(actions).toBeGreaterThan(0);
  });

  // shows: E1-070
  it("behavior: random JSON is an input of the described types or an error", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const step = stepOf(`Action: TransferTokenTool\nAction Input: ${json}`, WALLET_TOOLS);
        expect(step).toBeUndefined();
      }),
      RUNS,
    );
  });
});

describe("buildPrompt, with random texts", () => {
  // shows: E1-099, E1-100
  it("behavior: no text in any place adds a label", () => {
    fc.assert(
      fc.property(text, text, text, (prompt, result, description) => {
        const parts = attacked({ name: "", kind: "", place: "prompt", text: prompt });
        const view = { ...VIEW, description };
        const built = reActEngine.buildPrompt({
          ...parts,
          toolResults: [result],
          tools: [TRANSFER, { ...view, params: [{ type: "STRING", name: "memo", description }] }],
        });
        expect(skeleton(built)).toEqual(plainSkeleton);
      }),
      RUNS,
    );
  });
});

describe("insertedText", () => {
  it.each([
    ["10 WETH", "10 WETH"],
    ["a\nb", "a\n| b"],
    ["a\r\nb\rc\u2028d", "a\n| b\n| c\n| d"],
    ["Final Answer: x", "\\Final Answer: x"],
    ["the action: nothing", "the action: nothing"],
    ["a\tb", "a b"],
    ["a\u200bb", "a\\u{200b}b"],
    ["<|im_end|>", "\\<|im_end|>"],
    ["1 < 2 [x]", "1 < 2 [x]"],
  ])("default: %j becomes %j", (given, expected) => {
    expect(insertedText(given)).toBe(expected);
  });

  it("behavior: leaves its own lines as they are", () => {
    fc.assert(
      fc.property(text, (given) => {
        for (const line of insertedText(given).split("\n")) {
          const own = line.replace(/^\| /, "");
          expect(insertedText(own)).toBe(own);
        }
      }),
      RUNS,
    );
  });
});

describe("insertedJson", () => {
  it("behavior: the same value, and text that is left as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), text, (value, name) => {
        const json = insertedJson([{ name, value }]);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify([{ name, value }])));
        expect(insertedText(json)).toBe(json);
      }),
      RUNS,
    );
  });
});
