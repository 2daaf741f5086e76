/** The watcher over a daemon that answers anything. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { Watcher } from "../../../explorer/operator/watcher.ts";

const ACCOUNT = "0x00000000000000000000000000000000000000A1";
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What is known of a daemon that was asked once. */
async function watched(answer: RequestListener) {
  const own = createServer(answer);
  server = own;
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
  const watcher = new Watcher({ urls: [url], nowMs: () => 0, log: SILENT });
  await watcher.poll();
  return { daemon: watcher.watched[0] };
}

const serving =
  (metrics: string, health = "{}"): RequestListener =>
  ({ url }, response) => {
    response.end(url === "/metrics" ? metrics : health);
  };

const endless: RequestListener = (_, response) => {
  const timer = setInterval(() => response.write("# x\n".repeat(65_536)), 1);
  response.on("close", () => clearInterval(timer));
};

describe("Watcher", () => {
  it("default: values, role, account and what /healthz says", async () => {
    const metrics = `assay_prover_claims_active 2\nassay_account_info{account="${ACCOUNT}"} 1\n`;
    const { daemon } = await watched(serving(metrics, '{"status":"behind","assay":"0xaa"}'));
    expect(daemon).toMatchObject({ isUp: true, role: "prover", account: ACCOUNT, status: "behind" });
    expect([...(daemon?.values ?? [])]).toEqual([["assay_prover_claims_active", 2]]);
  });

  it("error: NaN and Infinity are no values, and a text of another form is no account", async () => {
    const metrics =
      'assay_account_balance_wei NaN\nassay_prover_exposure_wei +Inf\nassay_account_info{account="../x"} 1\n';
    const { daemon } = await watched(serving(metrics));
    expect(daemon).toMatchObject({ isUp: true, values: new Map() });
    expect(daemon?.account).toBeUndefined();
  });

  it.each(["well", "null"])("error: /healthz that says %s leaves the metrics as they are", async (health) => {
    const { daemon } = await watched(serving("assay_rpc_up 1\n", health));
    expect(daemon).toMatchObject({ isUp: true, values: new Map([["assay_rpc_up", 1]]) });
  });

  it.each<[string, RequestListener]>([
    ["of no end", endless],
    ["at another address", (_, response) => void response.writeHead(302, { Location: "/elsewhere" }).end()],
    ["in another form", serving("<html>")],
  ])("error: an answer %s counts as silence", async (_what, answer) => {
    const { daemon } = await watched(answer);
    expect(daemon).toMatchObject({ isUp: false, values: new Map() });
  });
});
