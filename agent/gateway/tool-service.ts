/** Which tools an agent has, and the only way to run one: layers 1 and 3. */
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { abortAfter } from "../../base/abort.ts";
import { isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Agent } from "./store/agent-service.ts";
import type { CallContext, Tool, ToolDefinition, ToolOutcome, ToolServer } from "./tool.ts";
import { canonicalName, parseToolId, toolNameOf } from "./tool-names.ts";
import { visibleText } from "./visible-text.ts";

/** What happened to one call. `denied`: nothing was run. */
export type Executed =
  | { readonly kind: "denied" }
  | { readonly kind: "refused" | "ran"; readonly tool: Tool; readonly outcome: ToolOutcome };

/** Takes note of a call before it runs, and refuses it by throwing. */
export interface Meter {
  /** @throws BaseError BUDGET_EXCEEDED, CALLS_EXCEEDED; then the tool is not run */
  start(tool: Tool): { end(outcome: ToolOutcome): void };
}

/** The tools of one agent, as loaded at the start of a turn. Tools themselves stay inside. */
export interface LoadedTools {
  readonly definitions: readonly ToolDefinition[];
  /** configured tools that are not there any more */
  readonly missing: readonly string[];
  /** Layer 3: runs a tool if the agent has access to it.
   *  @param rawArguments as the model wrote them */
  execute(toolName: string, rawArguments: string, meter: Meter, context: CallContext): Promise<Executed>;
}

export interface ToolLimits {
  /** most characters of a call's arguments */
  readonly maxArgumentChars: number;
  /** most characters of a result as JSON */
  readonly maxResultChars: number;
  /** ms */
  readonly toolTimeoutMs: number;
}

export class ToolService {
  readonly #servers: ReadonlyMap<string, ToolServer>;
  readonly #limits: ToolLimits;
  readonly #log: Logger;

  constructor(servers: ReadonlyMap<string, ToolServer>, limits: ToolLimits, log: Logger) {
    this.#servers = servers;
    this.#limits = limits;
    this.#log = log;
  }

  /** True if the agent may call the tool of this name: it is configured, and of the agent's own server. */
  hasToolAccess(agent: Agent, toolName: string): boolean {
    const name = canonicalName(toolName);
    return agent.availableTools.some(
      (id) => parseToolId(id).server === agent.server && toolNameOf(id) === name,
    );
  }

  /** Loads what of the agent's configuration is there now. A server that cannot be reached has no tools. */
  async getToolsForAgent(agent: Agent): Promise<LoadedTools> {
    const present = new Map((await this.#toolsOf(agent.server)).map((tool) => [tool.id, tool]));
    const tools = new Map<string, Tool>();
    for (const id of agent.availableTools) {
      const tool = present.get(id);
      // INVARIANT: another server's tool is not loaded, whatever the stored agent says.
      if (tool !== undefined && parseToolId(id).server === agent.server) tools.set(toolNameOf(id), tool);
    }
    return {
      definitions: [...tools].map(([name, { description, parameters }]) => ({
        name,
        description,
        parameters,
      })),
      missing: agent.availableTools.filter((id) => !tools.has(toolNameOf(id))),
      execute: (toolName, rawArguments, meter, context) =>
        this.#execute(agent, tools, toolName, rawArguments, meter, context),
    };
  }

  async #toolsOf(slug: string): Promise<readonly Tool[]> {
    try {
      return (await this.#servers.get(slug)?.tools()) ?? [];
    } catch (error) {
      this.#log.warn({ server: slug, error }, "the tools of a server cannot be loaded");
      return [];
    }
  }

  async #execute(
    agent: Agent,
    tools: ReadonlyMap<string, Tool>,
    toolName: string,
    rawArguments: string,
    meter: Meter,
    context: CallContext,
  ): Promise<Executed> {
    if (!this.hasToolAccess(agent, toolName)) return { kind: "denied" };
    const tool = tools.get(canonicalName(toolName) ?? "");
    if (tool === undefined) return { kind: "denied" };
    const args = readArguments(tool, rawArguments, this.#limits.maxArgumentChars);
    if ("error" in args) {
      return { kind: "refused", tool, outcome: failure("ARGUMENTS_INVALID", args.error) };
    }
    let metered: ReturnType<Meter["start"]>;
    try {
      metered = meter.start(tool);
    } catch (error) {
      if (!isBaseError(error)) throw error;
      return { kind: "refused", tool, outcome: failure(error.code, error.shortMessage) };
    }
    let outcome: ToolOutcome = failure("TOOL_FAILED", "The call did not end.");
    try {
      outcome = await this.#run(tool, args.values, context);
    } finally {
      metered.end(outcome);
    }
    return { kind: "ran", tool, outcome };
  }

  async #run(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<ToolOutcome> {
    const { toolTimeoutMs, maxResultChars } = this.#limits;
    const signal = abortAfter(toolTimeoutMs, context.signal);
    try {
      signal.throwIfAborted();
      const outcome = await untilAborted(tool.run(args, { signal }), signal);
      if (!outcome.success) return outcome;
      const length = JSON.stringify(outcome.data)?.length ?? 0;
      if (length > 0 && length <= maxResultChars) return outcome;
      // A part of a result could say the opposite of the whole.
      return failure("RESULT_TOO_LARGE", `The result has ${length} characters, ${maxResultChars} are taken.`);
    } catch (error) {
      if (context.signal.aborted) return failure("CANCELLED", "The turn ended before the tool answered.");
      if (signal.aborted) return failure("TOOL_TIMEOUT", `The tool did not answer in ${toolTimeoutMs} ms.`);
      this.#log.warn({ tool: tool.id, error }, "a tool failed");
      return isBaseError(error)
        ? failure(error.code, visibleText(error.shortMessage, 300))
        : failure("TOOL_FAILED", "The tool failed.");
    }
  }
}

const failure = (code: string, error: string): ToolOutcome => ({
  success: false,
  status: "failed",
  code,
  error,
});

/** Rejects when the signal aborts, also for a tool that does not listen to it. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

type ReadArguments = { readonly values: Record<string, unknown> } | { readonly error: string };

/** Strict JSON that fits the tool's schema. What the model wrote is not repeated in the error. */
function readArguments({ parameters }: Tool, raw: string, maxChars: number): ReadArguments {
  if (raw.length > maxChars)
    return { error: `The arguments have ${raw.length} characters, at most ${maxChars}.` };
  let value: unknown;
  try {
    // Some models send nothing for a tool without parameters.
    value = JSON.parse(raw.trim() === "" ? "{}" : raw);
  } catch {
    return { error: "The arguments are not JSON." };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { error: "The arguments are not a JSON object." };
  }
  const { valid } = validatorOf(parameters)(value);
  return valid
    ? { values: value as Record<string, unknown> }
    : { error: "The arguments do not fit the tool's parameters." };
}

const validators = new WeakMap<object, (value: unknown) => { valid: boolean }>();

/** Compiled once a schema. A schema that cannot be compiled fits nothing. */
function validatorOf(schema: object): (value: unknown) => { valid: boolean } {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  let made: (value: unknown) => { valid: boolean };
  try {
    // A validator of its own for each schema: ids of foreign schemas must not meet.
    made = new AjvJsonSchemaValidator().getValidator(schema as never);
  } catch {
    made = () => ({ valid: false });
  }
  validators.set(schema, made);
  return made;
}
