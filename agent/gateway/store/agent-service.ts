/** Agents: creating, keeping and finding them. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { BaseError } from "../../../base/errors.ts";
import type { SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import type { ToolServer } from "../tool.ts";
import { parseToolId } from "../tool-names.ts";
import { visibleText } from "../visible-text.ts";

/** What a reply must show: `words`, every word and number of it is in a result; `citations`, it cites its tools. */
export const GROUNDINGS = ["words", "citations"] as const;
export type Grounding = (typeof GROUNDINGS)[number];

export interface Agent {
  readonly id: string;
  readonly name: string;
  /** slug of the one server that its tools belong to */
  readonly server: string;
  /** `server/api`, in the order of creation */
  readonly availableTools: readonly string[];
  readonly grounding: Grounding;
  /** most that all its calls together may cost; absent: no limit */
  readonly budget?: number;
  /** ms since 1970 */
  readonly createdAt: number;
}

const MAX_TOOLS = 64;

const NEW_AGENT = z.strictObject({
  name: z.string().trim().min(1).max(80),
  /** needed only for an agent without tools */
  server: z.string().optional(),
  availableTools: z.array(z.string()).max(MAX_TOOLS),
  grounding: z.enum(GROUNDINGS).default("words"),
  budget: z.int().min(0).optional(),
});
export type NewAgent = z.input<typeof NEW_AGENT>;

interface AgentRow {
  readonly id: string;
  readonly name: string;
  readonly server: string;
  readonly available_tools: string;
  readonly grounding: Grounding;
  readonly budget: number | null;
  readonly created_at: number;
}

export class AgentService {
  readonly #db: SqliteDatabase;
  readonly #servers: ReadonlyMap<string, ToolServer>;
  readonly #nowMs: () => number;

  constructor(db: SqliteDatabase, servers: ReadonlyMap<string, ToolServer>, nowMs: () => number) {
    this.#db = db;
    this.#servers = servers;
    this.#nowMs = nowMs;
  }

  /** Layer 1 at creation: every tool is a loaded one of the agent's one server. An agent without tools may be
   *  created; it cannot chat.
   *  @throws BaseError AGENT_INVALID, TOOL_ID_INVALID, TOOL_OF_OTHER_SERVER, SERVER_UNKNOWN, TOOL_UNKNOWN */
  async createAgent(input: NewAgent): Promise<Agent> {
    const parsed = NEW_AGENT.safeParse(input);
    if (!parsed.success) throw invalid(parsed.error);
    const { name, availableTools, grounding, budget } = parsed.data;
    const server = await this.#checkTools(parsed.data.server, availableTools);
    const agent: Agent = {
      id: `agent-${randomBytes(8).toString("hex")}`,
      name,
      server,
      availableTools,
      grounding,
      ...(budget === undefined ? {} : { budget }),
      createdAt: this.#nowMs(),
    };
    this.#db
      .prepare("INSERT INTO agents VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(
        agent.id,
        name,
        server,
        JSON.stringify(availableTools),
        grounding,
        budget ?? null,
        agent.createdAt,
      );
    return agent;
  }

  /** @throws BaseError AGENT_UNKNOWN */
  getAgent(id: string): Agent {
    const row = this.#db.prepare<[string], AgentRow>("SELECT * FROM agents WHERE id = ?").get(id);
    if (row !== undefined) return fromRow(row);
    throw new BaseError({
      code: "AGENT_UNKNOWN",
      shortMessage: `There is no agent ${JSON.stringify(visibleText(id, 80))}.`,
      nextStep: "`assay gateway agent list` lists them.",
    });
  }

  listAgents(): Agent[] {
    const rows = this.#db.prepare<[], AgentRow>("SELECT * FROM agents ORDER BY created_at, id").all();
    return rows.map(fromRow);
  }

  async #checkTools(named: string | undefined, ids: readonly string[]): Promise<string> {
    const parts = ids.map(parseToolId);
    const slug = named ?? parts[0]?.server;
    const server = slug === undefined ? undefined : this.#servers.get(slug);
    if (slug === undefined || server === undefined) throw serverUnknown(slug, [...this.#servers.keys()]);
    const foreign = ids.find((_id, index) => parts[index]?.server !== slug);
    if (foreign !== undefined) throw otherServer(foreign, slug);
    const known = new Set(ids.length === 0 ? [] : (await server.tools()).map(({ id }) => id));
    const unknown = ids.find((id, index) => !known.has(id) || ids.indexOf(id) !== index);
    if (unknown === undefined) return slug;
    throw new BaseError({
      code: "TOOL_UNKNOWN",
      shortMessage: known.has(unknown)
        ? `The tool ${unknown} is named twice.`
        : `The server ${slug} has no tool ${unknown} loaded.`,
      nextStep: `It has ${[...known].join(", ") || "none"}.`,
    });
  }
}

function fromRow(row: AgentRow): Agent {
  const { id, name, server, grounding } = row;
  const availableTools = JSON.parse(row.available_tools) as string[];
  const budget = row.budget === null ? {} : { budget: row.budget };
  return { id, name, server, availableTools, grounding, ...budget, createdAt: row.created_at };
}

function invalid(error: z.ZodError): BaseError {
  const [issue] = error.issues;
  return new BaseError({
    code: "AGENT_INVALID",
    shortMessage: `The agent's ${issue?.path.join(".") || "record"} cannot be taken: ${issue?.message}.`,
    nextStep: "Give a name of 1 to 80 characters and tools as server/api.",
    cause: error,
  });
}

const otherServer = (id: string, server: string) =>
  new BaseError({
    code: "TOOL_OF_OTHER_SERVER",
    shortMessage: `The tool ${id} is not of the server ${server}: all tools of an agent are of one server.`,
    nextStep: "Create another agent for the other server.",
    details: { tool: id, server },
  });

const serverUnknown = (slug: string | undefined, known: readonly string[]) =>
  new BaseError({
    code: "SERVER_UNKNOWN",
    shortMessage:
      slug === undefined
        ? "An agent without tools names no server."
        : `There is no server ${JSON.stringify(visibleText(slug, 80))}.`,
    nextStep: `There are ${known.join(", ") || "none"}.`,
  });
