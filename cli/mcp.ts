/** `assay mcp MODEL…`: registered models as tools of an MCP server, over standard input and output or HTTP. */
import { basename } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { slugFrom } from "../agent/gateway/tool-names.ts";
import {
  type ModelSource,
  type ModelToolConfig,
  modelTool,
  termsOf,
} from "../agent/gateway/tools/model-tool.ts";
import { DEFAULT_LEAST_SECONDS, type SignedPolicy } from "../agent/gateway/tools/signed-answers.ts";
import { verifyClaim } from "../agent/mcp/verify-claim.ts";
import { verifySigned } from "../agent/mcp/verify-signed.ts";
import { formatAmount } from "../base/amounts.ts";
import { VERSION } from "../base/version.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { requireAccount } from "../protocol/chain/sender.ts";
import { PROMISE_LIMITS } from "../protocol/rules/promises/limits.ts";
import { address } from "../protocol/rules/receipt/form.ts";
import { laneNames } from "../protocol/rules/shortfall.ts";
import { LANE, type ModelId } from "../protocol/rules/types.ts";
import { integer, loadConfig, type Settings, text, wei } from "../protocol/service/config.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { listen } from "../protocol/service/http/listen.ts";
import { chainConfig, confirmationsOn, openChain, withChain, withSettings } from "./chain.ts";
import { stopSignal } from "./daemon.ts";
import { describeModel } from "./gateway.ts";
import { createLogger } from "./log.ts";
import { readModelOf } from "./model-source.ts";
import { refuseArgument } from "./output.ts";
import { readLanes } from "./request-terms.ts";

const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

const SETTINGS = {
  lanes: { schema: text, default: "EXECUTION", description: "lanes whose results are taken, by commas" },
  minBond: {
    schema: wei,
    default: "0",
    description: "least bond behind a result of the BOND lane, and that a signed answer must name",
  },
  askFee: { schema: wei, description: "fee of a request that a call files; absent: calls file none" },
  acceptSigned: {
    schema: httpUrl,
    description:
      "URL of a prover whose signed answers are taken where nothing is final; absent: only final outputs are",
  },
  signedBy: {
    schema: address,
    description: "whose signed answers are taken; absent: anybody's with the stake",
  },
  leastSeconds: {
    schema: integer(0, PROMISE_LIMITS.maxLife),
    default: DEFAULT_LEAST_SECONDS,
    description: "that must be left to open a signed answer in",
  },
  batchSigned: {
    schema: z.enum(["on", "off"], "must be on or off"),
    default: "off",
    description: "on: signed answers also go into a batch, by which they become final without a request",
  },
  reportTo: { schema: text, description: "URLs of challengers that signed answers are handed to, by commas" },
  waitSeconds: { schema: integer(0, 3_600), default: 20, description: "how long a call waits for finality" },
  host: { schema: text, default: "127.0.0.1", description: "address that HTTP listens on" },
  port: { schema: integer(0, 65_535), description: "serve over HTTP on this port, 0 for any" },
} as const satisfies Settings;

const EXPIRY_SECONDS = 3_600;

export function addMcpCommand(program: Command): void {
  const command = program
    .command("mcp")
    .description("serve registered models as tools of an MCP server, over standard input and output or HTTP")
    .argument("<models...>", "names, folders or ids of registered models");
  withSettings(withChain(command), SETTINGS).action(serve);
}

type McpSettings = ReturnType<typeof loadConfig<typeof SETTINGS>>;

async function serve(names: readonly string[], _options: object, self: Command): Promise<void> {
  const config = chainConfig(self);
  const settings = loadConfig(SETTINGS, { flags: self.optsWithGlobals(), env: {} });
  const terms = toolConfigOf(settings);
  // Over standard input and output, output is the protocol's.
  const log = createLogger("mcp", self, settings.port === undefined ? { fd: 2 } : {});
  const signal = stopSignal(log);
  const chain = await openChain(config);
  const { pollIntervalMs } = config;
  const confirmations = confirmationsOn(chain, config);
  const folder =
    terms.ask === undefined
      ? undefined
      : openDataFolder(config.data, requireAccount(chain), [], {
          pollIntervalMs,
          maxFeePerGas: config.maxFee,
          log,
        });
  try {
    const models = await modelsOf(chain, names);
    const sender = folder === undefined ? {} : { sender: folder.sender };
    const parts = { chain, pollIntervalMs, confirmations, ...sender };
    const tools = [...models].map(([id, model]) => modelTool(id, model, terms, parts));
    const served = new Map([...models.values()].map((model) => [model.modelId, model]));
    const { createMcpServer } = await import("../agent/mcp/server.ts");
    const policy = termsOf(chain, terms);
    const readServed = (id: ModelId) => {
      const own = served.get(id);
      return own?.readable === undefined ? readModelOf(id) : own;
    };
    const verifying = { policy, confirmations, readModelOf: readServed };
    const { acceptSigned: signed } = terms;
    const create = () =>
      createMcpServer({
        tools,
        verify: (claimId) => verifyClaim(chain, claimId, verifying),
        verifySigned: signed && ((signedClaim) => verifySigned(chain, signedClaim, { ...verifying, signed })),
        version: VERSION,
        terms: termsText(policy, signed),
        waitMs: terms.waitMs,
        nowMs: Date.now,
      });
    const { port, host } = settings;
    if (port === undefined) {
      const { serveStdio } = await import("../agent/mcp/stdio.ts");
      return await serveStdio(create, signal);
    }
    const { mcpApp } = await import("../agent/mcp/http.ts");
    let authorities: readonly string[] = [];
    const options = { version: VERSION, log, nowMs: Date.now, authorities: () => authorities };
    const { app, close } = mcpApp(create, options);
    const http = await listen(app, host, port);
    authorities = authoritiesOf(new URL(http.url));
    log.info({ url: `${http.url}/mcp`, tools: tools.map(({ name }) => name) }, "mcp is up");
    if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
    await close();
    await http.close();
  } finally {
    await folder?.close();
  }
}

function toolConfigOf(settings: McpSettings): ModelToolConfig {
  const { lanes, minBond, askFee, waitSeconds } = settings;
  return {
    price: 0,
    lanes: readLanes(lanes),
    minBond,
    waitMs: 1_000 * waitSeconds,
    ...(askFee === undefined ? {} : { ask: { fee: askFee, expirySeconds: EXPIRY_SECONDS } }),
    acceptSigned: signedPolicyOf(settings),
  };
}

function signedPolicyOf(settings: McpSettings): SignedPolicy | undefined {
  const { acceptSigned: url, signedBy: prover, leastSeconds, reportTo = "" } = settings;
  const batch = settings.batchSigned === "on";
  const challengers = reportTo.split(",").flatMap((each) => each.trim() || []);
  const wrong = challengers.find((each) => !httpUrl.safeParse(each).success);
  if (wrong !== undefined) refuseArgument("--report-to", wrong, "URLs, by commas");
  if (url !== undefined) return { url, prover, leastSeconds, batch, reportTo: challengers };
  if (prover !== undefined || batch || challengers.length > 0)
    refuseArgument("--signed-by, --batch-signed, --report-to", "given", "absent without --accept-signed");
  return undefined;
}

function termsText(
  { lanes, minBond, minWindow }: ReturnType<typeof termsOf>,
  signed: SignedPolicy | undefined,
): string {
  const bond =
    (lanes & LANE.BOND) === 0
      ? ""
      : `, in BOND with a bond of at least ${formatAmount(minBond)} and a window of at least ${minWindow} s`;
  const orSigned =
    signed === undefined
      ? ""
      : `, or until then if ${signed.prover ?? "a prover"} signed it with a bond of at least ${formatAmount(minBond)} at ${signed.url}, its stake is there, and ${signed.leastSeconds} s are left to open it`;
  return `if it is final in one of the lanes ${laneNames(lanes)}${bond}${orSigned}`;
}

/** What clients call the address that it listens on: its own, and `localhost` where that is this machine alone. */
function authoritiesOf({ host, hostname, port }: URL): readonly string[] {
  const isLoopback = hostname === "[::1]" || hostname.startsWith("127.");
  return isLoopback ? [host, `localhost:${port}`] : [host];
}

/** By the ids of their tools. */
async function modelsOf(chain: Chain, names: readonly string[]): Promise<Map<string, ModelSource>> {
  const models = new Map<string, ModelSource>();
  for (const name of names) {
    const id = `assay/${slugFrom(basename(name)).slice(0, 40)}`;
    if (models.has(id)) refuseArgument("models", name, "models whose names differ");
    models.set(id, await describeModel(chain, name));
  }
  return models;
}
