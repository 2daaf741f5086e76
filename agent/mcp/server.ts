/** Registered models as tools of an MCP server. A result holds data only when the output is final on the chain; until
 *  then it is an error result with the claim to wait for. */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isHex } from "viem";
import { abortAfter } from "../../base/abort.ts";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { requireShallow } from "../../base/json.ts";
import type { JsonSchema, Tool, ToolOutcome } from "../gateway/tool.ts";
import type { ClaimReport } from "./verify-claim.ts";
import type { SignedReport } from "./verify-signed.ts";

/** What a result says that is an error: clients check it by the tool's schema like any other. */
const FAILURE = { error: { type: "string" }, code: { type: "string" } } as const;

const HEX_32 = { type: "string", pattern: "^0x[0-9a-f]{64}$" } as const;

const IDS = { type: "array", items: { type: "integer" } } as const;

/** What a report says of an output that it shows, where the model's folder is known. */
const READ = {
  meaning: { type: "object", description: "what it says, by the model's manifest" },
  text: { type: "string", description: "of a language model's answer" },
  ids: { ...IDS, description: "of which text is derived" },
} as const;

/** What every result of a model says, beside its data. */
const RESULT_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    status: {
      type: "string",
      enum: ["final", "signed", "pending", "failed"],
      description: "only final and signed have data; signed is given where the server was told to accept it",
    },
    data: {
      description: "the model's output by name; of a language model with a tokenizer its answer's text",
    },
    ...FAILURE,
    modelId: HEX_32,
    inputHash: { ...HEX_32, description: "keccak256 of the model's calldata" },
    outputHash: { ...HEX_32, description: "keccak256 of the return data" },
    ids: {
      ...IDS,
      description: "of a language model's answer: what the output is, of which the text in data is derived",
    },
    requestId: HEX_32,
    claimId: HEX_32,
    lane: { type: "string", enum: ["EXECUTION", "PROOF", "BOND"] },
    finalAt: { type: "integer", description: "second since 1970 from which on nothing could change it" },
    feeWei: { type: "string" },
    digest: { ...HEX_32, description: "of the signed claim" },
    signedClaim: {
      type: "object",
      description: "what stands behind a signed output: keep it until its end, for verify_signed_claim",
    },
    end: { type: "integer", description: "last second in which the signed claim can be opened" },
    bondWei: { type: "string", description: "of the signed claim, if it were opened now" },
  },
  required: ["status"],
};

const VERIFY: { readonly [key: string]: unknown } & { readonly name: string } = {
  name: "verify_claim",
  title: "Verify a claim",
  description:
    "Asks the chain what became of a claim of an output: final, pending, fallen (it was wrong or given up), or failed where it does not count by the terms of this server. Use it before you act on a result that was pending.",
  inputSchema: {
    type: "object",
    properties: { claimId: { ...HEX_32, description: "of a model's result" } },
    required: ["claimId"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      status: { type: "string", enum: ["final", "pending", "fallen", "unknown", "failed"] },
      ...FAILURE,
      claimId: HEX_32,
      requestId: HEX_32,
      modelId: HEX_32,
      inputHash: HEX_32,
      outputHash: HEX_32,
      output: { type: "string", description: "return data, once it is final" },
      ...READ,
      prover: { type: "string" },
      bondWei: { type: "string" },
      windowEnd: { type: "integer", description: "second at which it is final if nobody challenges it" },
      finalAt: { type: "integer" },
    },
    required: ["status"],
  },
  annotations: { readOnlyHint: true, openWorldHint: true },
};

const VERIFY_SIGNED: typeof VERIFY = {
  name: "verify_signed_claim",
  title: "Verify a signed claim",
  description:
    "Asks the chain what a signed claim of an output is worth: signed (it binds now, by the terms of this server), batched (so, as a leaf of a batch whose window runs), final, opened (somebody doubts it), fallen (it was wrong or given up), or failed with what it lacks. Anybody's may be asked about, before it is relied on.",
  inputSchema: {
    type: "object",
    properties: {
      signedClaim: { type: "object", description: "of a model's result, or as somebody handed it over" },
    },
    required: ["signedClaim"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      status: { type: "string", enum: ["signed", "batched", "final", "opened", "fallen", "failed"] },
      ...FAILURE,
      digest: HEX_32,
      prover: { type: "string" },
      modelId: HEX_32,
      inputHash: HEX_32,
      outputHash: HEX_32,
      output: { type: "string", description: "return data, where it counts" },
      ...READ,
      claimId: HEX_32,
      end: { type: "integer", description: "last second in which it can be opened" },
      bondWei: { type: "string", description: "of its claim, if it were opened now" },
    },
    required: ["status"],
  },
  annotations: { readOnlyHint: true, openWorldHint: true },
};

/** A call may file a request first, and read on after it waited. */
const SLACK_MS = 60_000;

export interface McpParts {
  readonly tools: readonly Tool[];
  /** @throws BaseError when the chain cannot be asked */
  readonly verify: (claimId: `0x${string}`) => Promise<ClaimReport>;
  /** absent: signed answers are not accepted here; throws as `verify`, and for what is no signed claim */
  readonly verifySigned?: ((signedClaim: unknown) => Promise<SignedReport>) | undefined;
  readonly version: string;
  /** what counts as a result, to stand behind "counts" */
  readonly terms: string;
  /** how long a call waits for one, ms */
  readonly waitMs: number;
  readonly nowMs: () => number;
}

/** A server that is not connected to a transport yet: one for each request over HTTP, one for each process else. */
export function createMcpServer(parts: McpParts): Server {
  const { tools, verify, verifySigned, version } = parts;
  const verifiers = verifySigned === undefined ? [VERIFY] : [VERIFY, VERIFY_SIGNED];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const server = new Server(
    { name: "assay", version },
    { capabilities: { tools: {} }, instructions: instructionsOf(parts) },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: [
      ...tools.map((tool) => ({
        name: tool.name,
        title: tool.id,
        description: tool.description,
        inputSchema: tool.parameters as { type: "object" },
        outputSchema: RESULT_SCHEMA as { type: "object" },
        annotations: { readOnlyHint: tool.feeWei === undefined, openWorldHint: true },
      })),
      ...(verifiers as never[]),
    ],
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { name, arguments: args = {} } = params;
    const tool = byName.get(name);
    if (tool === undefined && !verifiers.some((verifier) => verifier.name === name))
      throw unknownTool(name, [...byName.keys(), ...verifiers.map((verifier) => verifier.name)]);
    try {
      // Over HTTP and over standard input alike: an error that shows a value is written by recursion.
      requireShallow(args, "the arguments");
      if (name === VERIFY_SIGNED.name && verifySigned !== undefined)
        return shownReport(await verifySigned(args.signedClaim));
      if (tool === undefined) return shownReport(await verify(claimIdOf(args.claimId)));
      const limited = abortAfter(parts.waitMs + SLACK_MS, mcpReq.signal);
      return resultOf(await tool.run(args, { signal: limited, ...progressOf(mcpReq, parts) }));
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      return shown({ status: "failed", code: error.code, error: error.message }, true);
    }
  });
  return server;
}

/** What stands before a model that is about to use the tools. */
function instructionsOf({ tools, waitMs, terms, verifySigned }: McpParts): string {
  const fees = tools.flatMap(({ name, feeWei }) =>
    feeWei === undefined
      ? []
      : [`${name} may promise ${formatAmount(feeWei)} of this server's account in a call.`],
  );
  return [
    verifySigned === undefined
      ? 'Each tool `call_…` runs a registered model; only a result of status "final" has data.'
      : 'Each tool `call_…` runs a registered model; a result of status "final" has data, and so has one of status "signed", which a prover\'s stake backs and which can still turn out wrong: verify_signed_claim says what became of it.',
    `A result counts ${terms}; a call waits up to ${waitMs / 1_000} s for one.`,
    'A result of status "pending" names a claim or a request: call again with the same arguments later, or ask verify_claim.',
    ...(fees.length === 0 ? ["No call costs anything."] : fees),
  ].join(" ");
}

/** Tells a client that asked for it what its call waits for: when that changes, and each second. */
function progressOf({ _meta, notify }: ServerContext["mcpReq"], { waitMs, nowMs }: McpParts) {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return {};
  const since = nowMs();
  let last: { readonly what: string; readonly progress: number } | undefined;
  const onWait = (what: string): void => {
    const progress = (nowMs() - since) / 1_000;
    const isNews = last === undefined || last.what !== what || progress - last.progress >= 1;
    // The protocol's progress grows with each message.
    if (!isNews || progress <= (last?.progress ?? -1)) return;
    last = { what, progress };
    const params = { progressToken, progress, total: Math.max(waitMs / 1_000, progress), message: what };
    // Who has left hears nothing more.
    notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  return { onWait };
}

function resultOf(outcome: ToolOutcome): CallToolResult {
  const { success, evidence = {}, ...answer } = outcome;
  return shown({ ...answer, ...evidence }, !success);
}

const shownReport = (report: ClaimReport | SignedReport): CallToolResult =>
  shown(report, report.status === "failed");

/** The same content twice: for clients that read structure, and for those that read text. */
function shown(content: object, isError: boolean): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(content) }],
    structuredContent: content as Record<string, unknown>,
    isError,
  };
}

function claimIdOf(value: unknown): `0x${string}` {
  if (isHex(value) && value.length === 66) return value;
  throw new BaseError({
    code: "ARGUMENT_INVALID",
    shortMessage: `claimId is ${JSON.stringify(value)?.slice(0, 100)}, must be 0x and 64 hexadecimal digits.`,
    nextStep: "Take the claimId of a model's result.",
  });
}

const unknownTool = (name: string, names: readonly string[]) =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool ${JSON.stringify(name.slice(0, 100))}. There are ${names.join(", ")}.`,
  );
