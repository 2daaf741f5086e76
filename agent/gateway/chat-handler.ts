/** One turn of a chat: message, tools, answers of the model, calls, reply. The order is that of docs/GATEWAY.md. */
import { isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { SendEvent } from "./events.ts";
import type { ChatMessage, LlmService, ModelAnswer, RequestedCall } from "./llm-service.ts";
import { cleanReply, type ExecutedCall, judgeReply } from "./output-gate.ts";
import { systemPrompt } from "./prompt.ts";
import {
  accessDenied,
  CANNOT_HELP,
  NO_TOOLS_CONFIGURED,
  unableToRetrieve,
  unsupportedReply,
} from "./refusals.ts";
import type { Agent } from "./store/agent-service.ts";
import type { AuditLog } from "./store/audit-log.ts";
import type { Metering } from "./store/metering.ts";
import type { Exchange, TurnMetrics, TurnOutcome, Turns } from "./store/turns.ts";
import type { ToolOutcome } from "./tool.ts";
import { canonicalName } from "./tool-names.ts";
import type { LoadedTools, Meter, ToolService } from "./tool-service.ts";
import { visibleText } from "./visible-text.ts";

export interface TurnLimits {
  /** answers of the model that may call tools; one more may only reply */
  readonly maxToolRounds: number;
  /** replies that the gate held back and the model may write anew */
  readonly maxRewrites: number;
  /** attempted calls, denied ones too */
  readonly maxAttempts: number;
}

export interface ChatParts {
  readonly llm: Pick<LlmService, "answer">;
  readonly tools: Pick<ToolService, "getToolsForAgent">;
  readonly audit: AuditLog;
  readonly metering: Metering;
  readonly turns: Turns;
  readonly limits: TurnLimits;
  readonly log: Logger;
}

export interface TurnInput {
  readonly turnId: string;
  readonly conversationId: string;
  readonly agent: Agent;
  readonly caller: string;
  readonly message: string;
  readonly history: readonly Exchange[];
}

const MODEL_UNAVAILABLE = "The model of this agent could not answer. Please try again.";
const TOOK_TOO_LONG = "This took too long. Please try again.";
const REWRITE = "Your reply was not sent";

/** What is shown of a name that no tool can have. */
const NO_NAME = "invalid_tool_name";

/** Runs one turn; never throws. Saves message and metrics, whatever happens.
 *  @param signal aborts when the client left or the time is over */
export async function runTurn(
  parts: ChatParts,
  input: TurnInput,
  send: SendEvent,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const turn = new Turn(parts, input, send, signal);
  return turn.run();
}

class Turn {
  readonly #parts: ChatParts;
  readonly #input: TurnInput;
  readonly #send: SendEvent;
  readonly #signal: AbortSignal;
  readonly #executed: ExecutedCall[] = [];
  readonly #meter: Meter;
  #rounds = 0;
  #attempts = 0;
  #denied = 0;
  #ran = 0;
  #tokens = { promptTokens: 0, completionTokens: 0 };

  constructor(parts: ChatParts, input: TurnInput, send: SendEvent, signal: AbortSignal) {
    const { turnId, agent, caller } = input;
    this.#parts = parts;
    this.#input = input;
    this.#signal = signal;
    this.#meter = parts.metering.meterFor(input);
    this.#send = (event, data) => {
      send(event, data);
      const { toolName } = data as { toolName?: string };
      const result = data as { success?: boolean; status?: string };
      const outcome = event === "done" ? (data as { outcome: string }).outcome : result.status;
      parts.audit.write({
        kind: event,
        turnId,
        agentId: agent.id,
        caller,
        detail: data,
        ...(toolName === undefined ? {} : { tool: toolName }),
        ...(outcome === undefined ? {} : { outcome }),
      });
    };
  }

  async run(): Promise<TurnOutcome> {
    const { agent, turnId, conversationId, caller, message } = this.#input;
    const { turns, log } = this.#parts;
    let [reply, outcome]: [string, TurnOutcome] = [MODEL_UNAVAILABLE, "error"];
    try {
      turns.start({ turnId, conversationId, agentId: agent.id, caller, message });
      [reply, outcome] = await this.#answer();
    } catch (error) {
      if (isTimeout(this.#signal)) reply = TOOK_TOO_LONG;
      else if (this.#signal.aborted) [reply, outcome] = ["", "cancelled"];
      else {
        const known = isBaseError(error);
        log[known ? "warn" : "error"]({ turnId, agentId: agent.id, error }, "a turn failed");
      }
    }
    if (outcome === "error") this.#send("error", { message: reply });
    else if (outcome !== "cancelled") this.#send("text", { text: reply });
    turns.end(turnId, reply, this.#metrics(outcome));
    this.#send("done", { outcome });
    return outcome;
  }

  async #answer(): Promise<[reply: string, outcome: TurnOutcome]> {
    const { agent, history, message } = this.#input;
    const tools = await this.#load();
    // Layer 1.
    if (tools.definitions.length === 0) return [NO_TOOLS_CONFIGURED, "error"];
    const messages: ChatMessage[] = [
      // Layer 2.
      { role: "system", content: systemPrompt(tools.definitions) },
      ...history.flatMap((exchange): ChatMessage[] => [
        { role: "user", content: exchange.message },
        { role: "assistant", content: exchange.reply },
      ]),
      { role: "user", content: message },
    ];
    const { maxToolRounds, maxRewrites } = this.#parts.limits;
    let rewrites = 0;
    for (;;) {
      const mayCall = this.#rounds < maxToolRounds;
      const answer = await this.#ask(messages, tools, mayCall);
      if (mayCall && answer.calls.length > 0) {
        messages.push(...(await this.#callAll(answer, tools)));
        continue;
      }
      const text = cleanReply(answer.text);
      const verdict = judgeReply(text, this.#executed, message, agent.grounding);
      this.#note("gate", verdict.passes ? "passed" : "held", { ...verdict, text });
      if (verdict.passes) return [text, "answered"];
      const canRewrite = verdict.reason !== "no successful tool result" && rewrites < maxRewrites;
      if (!canRewrite) return [this.#refusal(), "refused"];
      rewrites += 1;
      const words = verdict.words === undefined ? "" : `: ${JSON.stringify(verdict.words)}`;
      messages.push(
        { role: "assistant", content: text },
        {
          role: "user",
          content: `${REWRITE} (${verdict.reason}${words}). Write it again: cite the tool by its full name and use only words and numbers of its result, each number with the unit, sign and relation that it has there.`,
        },
      );
    }
  }

  async #load(): Promise<LoadedTools> {
    const { agent } = this.#input;
    const { log } = this.#parts;
    const tools = await this.#parts.tools.getToolsForAgent(agent);
    const [id, name] = [visibleText(agent.id, 80), visibleText(agent.name, 80)];
    const names = tools.definitions.map((tool) => tool.name);
    this.#note("loaded", names.length === 0 ? "none" : "loaded", { names, missing: tools.missing });
    if (names.length === 0) {
      log.warn({ agentId: id }, `❌ Agent ${id} has no tools configured - cannot operate`);
      return tools;
    }
    log.info({ agentId: id }, `✅ Agent ${id} (${name}) loaded with ${names.length} tool(s)`);
    const only = names.join(", ");
    log.info({ agentId: id }, `🔒 Tool-gating enabled: Agent can ONLY call these tools: ${only}`);
    return tools;
  }

  async #ask(messages: readonly ChatMessage[], tools: LoadedTools, mayCall: boolean): Promise<ModelAnswer> {
    this.#signal.throwIfAborted();
    const { definitions } = tools;
    this.#rounds += 1;
    const answer = await this.#parts.llm.answer({
      messages,
      tools: definitions,
      mayCall,
      signal: this.#signal,
    });
    this.#tokens.promptTokens += answer.promptTokens;
    this.#tokens.completionTokens += answer.completionTokens;
    return answer;
  }

  /** Runs the calls of one answer in order. Text beside calls was written before any result: it is dropped.
   *  @returns the call and result messages for the model: one result for each call, as endpoints demand */
  async #callAll({ calls }: ModelAnswer, tools: LoadedTools): Promise<ChatMessage[]> {
    const toolCalls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
    const results: ChatMessage[] = [];
    for (const call of calls) {
      this.#signal.throwIfAborted();
      if (this.#attempts >= this.#parts.limits.maxAttempts) break;
      this.#attempts += 1;
      const callId = `call-${this.#attempts}`;
      const name = canonicalName(call.toolName) ?? NO_NAME;
      const content = await this.#callOne(callId, name, call, tools);
      toolCalls.push({ id: callId, type: "function", function: { name, arguments: call.rawArguments } });
      results.push({ role: "tool", tool_call_id: callId, content: JSON.stringify(content) });
    }
    if (toolCalls.length === 0) {
      return [{ role: "user", content: "No more calls are possible in this turn. Reply now." }];
    }
    return [{ role: "assistant", content: null, tool_calls: toolCalls }, ...results];
  }

  /** @returns what the model is told */
  async #callOne(
    callId: string,
    toolName: string,
    { toolName: asked, rawArguments }: RequestedCall,
    tools: LoadedTools,
  ): Promise<object> {
    const { agent } = this.#input;
    const { log } = this.#parts;
    this.#note("attempt", undefined, { callId, asked, rawArguments }, toolName);
    this.#send("tool_call", { callId, toolName });
    const executed = await tools.execute(asked, rawArguments, this.#meter, { signal: this.#signal });
    this.#signal.throwIfAborted();
    if (executed.kind === "denied") {
      this.#denied += 1;
      const [id, name] = [visibleText(agent.id, 80), visibleText(asked, 80)];
      log.warn(
        { agentId: id, toolName: name },
        `⚠️  UNAUTHORIZED TOOL ACCESS: Agent ${id} attempted to call ${name}`,
      );
      const error = accessDenied(toolName);
      this.#send("tool_error", { toolName, error });
      return { status: "denied", error };
    }
    const { kind, tool, outcome } = executed;
    if (kind === "ran") this.#ran += 1;
    const call = { toolName, description: tool.description, rawArguments };
    const { meaning } = outcome.success ? outcome : {};
    const read = meaning === undefined ? {} : { meaning };
    this.#executed.push(outcome.success ? { ...call, data: outcome.data ?? null, ...read } : call);
    if (outcome.success) {
      log.info({ agentId: agent.id, toolName }, `✅ Tool executed successfully: ${toolName}`);
    }
    this.#send("tool_result", resultEvent(callId, toolName, outcome));
    if (!outcome.success) return { status: outcome.status, code: outcome.code, error: outcome.error };
    const shown = meaning === undefined ? {} : { meaning: meaning.text };
    return { status: outcome.status, tool: toolName, data: outcome.data, ...shown };
  }

  /** What the gateway says instead of the model. */
  #refusal(): string {
    const succeeded = this.#executed.filter(({ data }) => data !== undefined);
    if (succeeded.length > 0) return unsupportedReply(succeeded);
    const failed = this.#executed.findLast(({ data }) => data === undefined);
    return failed === undefined ? CANNOT_HELP : unableToRetrieve(failed.toolName);
  }

  #metrics(outcome: TurnOutcome): TurnMetrics {
    const price = this.#parts.metering.priceOf(this.#input.turnId);
    return {
      outcome,
      rounds: this.#rounds,
      calls: this.#ran,
      denied: this.#denied,
      ...this.#tokens,
      price,
    };
  }

  #note(kind: string, outcome: string | undefined, detail: unknown, tool?: string): void {
    const { turnId, agent, caller } = this.#input;
    this.#parts.audit.write({
      kind,
      turnId,
      agentId: agent.id,
      caller,
      detail,
      ...(outcome === undefined ? {} : { outcome }),
      ...(tool === undefined ? {} : { tool }),
    });
  }
}

const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && (reason as Error | undefined)?.name === "TimeoutError";

function resultEvent(callId: string, toolName: string, outcome: ToolOutcome) {
  const { evidence } = outcome;
  const common = { callId, toolName, ...evidence };
  if (outcome.success) {
    const { status, data, meaning } = outcome;
    const read = meaning === undefined ? {} : { meaning };
    return { ...common, success: true as const, status, data, ...read };
  }
  const { status, code, error } = outcome;
  return { ...common, success: false as const, status, code, error };
}
