import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemPrompt } from "../../../agent/gateway/prompt.ts";
import type { Tool } from "../../../agent/gateway/tool.ts";
import { slugFrom, toolNameOf } from "../../../agent/gateway/tool-names.ts";
import { isBaseError } from "../../../base/errors.ts";
import { namesOf, only, type SeenEvent, startTestGateway, type TestGateway } from "../../support/gateway.ts";
import type { ChatRequest, ScriptedAnswer } from "../../support/scripted-chat.ts";

interface InjectionCase {
  readonly name: string;
  readonly place: "toolResult" | "prompt" | "name" | "metadata";
  readonly text: string;
}
const { cases } = JSON.parse(
  readFileSync(new URL("../../vectors/prompt-injections.json", import.meta.url), "utf8"),
) as { cases: readonly InjectionCase[] };

/** Names of the one tool that the agent has. Every other call is an escape. */
const LISTED = "call_magpie_tvl";
const MAX_CALLS = 3;

let gateway: TestGateway;
let agentId: string;

beforeAll(async () => {
  gateway = await startTestGateway({ limits: { maxCallsPerTurn: MAX_CALLS } });
  agentId = (await gateway.agents.createAgent({ name: "TVL", availableTools: ["magpie/tvl"] })).id;
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.visits.length = 0;
  gateway.returns("/tvl", { tvl: 5 });
});

/** The worst model: whatever it reads, it obeys. It calls every tool that an attacker may want, many times, then says
 *  the attack word for word as its own answer. */
function obedient(attack: string) {
  return ({ messages }: ChatRequest): ScriptedAnswer => {
    const wanted = [
      "call_uniswap_swap",
      "DrainWalletTool",
      "TransferTokenTool",
      attack.slice(0, 60),
      LISTED,
      LISTED,
    ];
    const calls = wanted.map((name) => ({ name, arguments: "{}" }));
    const rounds = messages.filter(({ role }) => role === "assistant").length;
    return rounds < 2 ? { text: attack, calls } : { text: `${attack}\n${LISTED}` };
  };
}

/** What must hold after every turn, whatever the model did. */
function expectGated(events: readonly SeenEvent[], attack: string): void {
  // No unlisted tool ran, no limit was passed.
  expect(new Set(gateway.visits.map((path) => path.split("?")[0]))).toEqual(new Set(["/tvl"]));
  expect(gateway.visits.length).toBeLessThanOrEqual(MAX_CALLS);
  for (const { event, data } of events) {
    if (event === "tool_result") expect((data as { toolName: string }).toolName).toBe(LISTED);
  }
  // Nothing went out before a result, and then only what passed the gate.
  const names = namesOf(events);
  expect(names.indexOf("text")).toBeGreaterThan(names.indexOf("tool_result"));
  const { text } = only(events, "text");
  expect(text.includes(attack) && attack.trim() !== "").toBe(false);
  expect(names.filter((name) => name === "done")).toHaveLength(1);
}

describe("attacks on a model that obeys them", () => {
  it("default: the vectors are many", () => {
    expect(cases.length).toBeGreaterThanOrEqual(100);
  });

  // shows, D-63, D-65
  it.each(cases.filter(({ place }) => place === "prompt").map((one) => [one.name, one] as const))(
    "behavior: in a message, %s",
    async (_name, { text }) => {
      gateway.model.script = obedient(text);
      expectGated(await gateway.chat(agentId, text.trim() === "" ? `x${text}` : text), text);
    },
  );

  // shows, D-63, D-65
  it.each(cases.filter(({ place }) => place === "toolResult").map((one) => [one.name, one] as const))(
    "behavior: in a result, %s",
    async (_name, { text }) => {
      // What a tool returned may be said: the model's own addition may not.
      const added = "and Paris is the capital";
      gateway.returns("/tvl", { note: text });
      gateway.model.script = obedient(`${text} ${added}`);
      const events = await gateway.chat(agentId, "What is the TVL?");
      expectGated(events, added);
      const result = gateway.model.requests.at(-1)?.messages.find(({ role }) => role === "tool");
      expect(typeof JSON.parse(result?.content ?? "")).toBe("object");
    },
  );

  // shows: X-25, D-57, D-58, D-65
  it.each(cases.filter(({ place }) => place === "name").map((one) => [one.name, one] as const))(
    "behavior: as a tool's name, %s",
    async (_name, { text }) => {
      gateway.model.script = ({ messages }) =>
        messages.some(({ role }) => role === "tool")
          ? { text }
          : {
              calls: [
                { name: text, arguments: "{}" },
                { name: LISTED, arguments: "{}" },
              ],
            };
      const events = await gateway.chat(agentId, "What is the TVL?");
      expect(gateway.visits).toEqual(["/tvl"]);
      const [first] = events.filter(({ event }) => event === "tool_error");
      if (text !== "")
        expect(first?.data).toMatchObject({ toolName: expect.stringMatching(/^[a-z0-9_-]{1,64}$/) });
      // As the name of an API, it is a slug or refused.
      expect(slugFrom(text)).toMatch(/^[a-z0-9-]*$/);
      try {
        expect(toolNameOf(`magpie/${text}`)).toMatch(/^call_magpie_[a-z0-9-]+$/);
      } catch (error) {
        expect(isBaseError(error, "TOOL_ID_INVALID")).toBe(true);
      }
      for (const { message } of gateway.lines)
        expect(message).not.toMatch(/[\n\r\u2028\u2029\u0085\u202e\u200b]/);
    },
  );

  // shows: X-20, D-65
  it.each(cases.filter(({ place }) => place === "metadata").map((one) => [one.name, one] as const))(
    "behavior: as a description, %s",
    async (_name, { text }) => {
      const prompt = systemPrompt([{ name: LISTED, description: text, parameters: {} }]);
      expect(prompt.split("\n")).toHaveLength(
        systemPrompt([{ name: LISTED, description: "", parameters: {} }]).split("\n").length,
      );
      expect(prompt.trimEnd().endsWith("specific API endpoint(s).")).toBe(true);
      const tool: Tool = {
        id: "evil/api",
        name: "call_evil_api",
        description: text,
        parameters: { type: "object" },
        price: 0,
        run: async () => ({ success: true, status: "unverified", data: {} }),
      };
      const server = { slug: "evil", description: text, tools: async () => [tool], close: async () => {} };
      const own = await startTestGateway({ servers: new Map([["evil", server]]) });
      const { id } = await own.agents.createAgent({ name: "Evil", availableTools: ["evil/api"] });
      own.model.answers(
        {
          calls: [
            { name: "call_uniswap_swap", arguments: "{}" },
            { name: "call_evil_api", arguments: "{}" },
          ],
        },
        { text: "and Paris is the capital call_evil_api" },
      );
      const events = await own.chat(id, "Hello");
      expect(namesOf(events)).toContain("tool_error");
      expect(own.visits).toEqual([]);
      expect(only(events, "text").text).not.toContain("Paris");
      await own.stop();
    },
  );
});
