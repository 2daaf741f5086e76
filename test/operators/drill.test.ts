import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT } from "../../cli/output.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { runAssay } from "../support/assay.ts";
import { longTest } from "../support/long-test.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const own = systemAccount(ROLES.cheat).address;
const challenger = systemAccount(ROLES.challenger).address;

/** Runs the drill as an operator does, with the cheat's key. */
const drill = (system: System, args: readonly string[]) =>
  runAssay(["challenger", "drill", ...args, "--json"], {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_KEY: keyOf(ROLES.cheat),
    ASSAY_DATA: join(system.folder, "drill"),
    ASSAY_POLL_INTERVAL_MS: "100",
  });

/** What the key holds, in its account and in Assay, wei. */
async function wealth({ client, chain }: System): Promise<bigint> {
  const [balance, credit] = await Promise.all([
    client.getBalance({ address: own }),
    new StateReader(chain).credits(own),
  ]);
  return balance + credit;
}

const sent = (system: System) => system.client.getTransactionCount({ address: own });

describe("assay challenger drill, on a chain that is not local", () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ models: ["sentiment"], answerSeconds: 30, chainId: 4_242 });
    await system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]).logged("challenger is up");
  });
  afterAll(() => system.stop());

  it("error: without --yes it names the cost and sends nothing", async () => {
    const { code, stderr, stdout } = await drill(system, ["sentiment"]);
    expect(code).toBe(EXIT.failed);
    expect(stdout).toBe("");
    expect(stderr).toContain("CONSENT_MISSING");
    expect(stderr).toMatch(/bond {3}0\.\d+ ether, lost: half is burned, half goes to those who hold tickets/);
    expect(stderr).toMatch(
      /would cost about 0\.\d+ ether on chain 4242, which is not local; nothing was sent/,
    );
    expect(await sent(system)).toBe(0);
  });

  it("behavior: an honest challenger convicts it, and what it cost is what the key lost", async () => {
    const before = await wealth(system);
    const { code, stdout, stderr } = await drill(system, ["sentiment", "--yes"]);
    expect(stderr).toContain(`challenged by ${challenger}`);
    expect(code).toBe(EXIT.ok);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      status: "fallen",
      convicted: true,
      challengers: [challenger],
      fault: { kind: "element", step: 12 },
      fall: { reason: "ELEMENT", step: "12" },
      cost: { feeWei: "0" },
    });
    expect(report.detection.seconds).toBeGreaterThanOrEqual(0);
    expect(report.detection.seconds).toBeLessThan(120);
    expect(before - (await wealth(system))).toBe(BigInt(report.cost.totalWei));
    const { claim } = await system.events.until("Claimed", ({ claimId }) => claimId === report.claimId);
    expect(BigInt(report.cost.bondWei)).toBe(claim.bond);
    await system.events.until("Fell", ({ claimId }) => claimId === report.claimId);
  });

  longTest("args: --request claims on an open request, --fault says what is wrong", async () => {
    const model = system.model("sentiment");
    const calldata = selfTestCalldata(model.model.program, model.selector, 4);
    const { requestId } = await system.ask({ model, calldata });
    const { code, stdout } = await drill(system, ["--request", requestId, "--fault", "output", "--yes"]);
    expect(code).toBe(EXIT.ok);
    expect(JSON.parse(stdout)).toMatchObject({ requestId, convicted: true, fall: { reason: "OUTPUT" } });
  });

  it("error: a request that is not open is named", async () => {
    const id = `0x${"ab".repeat(32)}`;
    const { code, stderr } = await drill(system, ["--request", id, "--yes"]);
    expect(code).toBe(EXIT.failed);
    expect(stderr).toContain("REQUEST_UNKNOWN");
  });
});

describe("assay challenger drill, while nobody is awake", () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ models: ["sentiment"], answerSeconds: 4 });
  });
  afterAll(() => system.stop());

  it("behavior: the wrong output never becomes final, and the exit code says that it was missed", async () => {
    const before = await wealth(system);
    const { code, stdout } = await drill(system, ["sentiment"]);
    expect(code).toBe(EXIT.finding);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      status: "fallen",
      convicted: false,
      challengers: [],
      fall: { reason: "TRACE_TIMEOUT" },
    });
    expect(report.detection).toBeUndefined();
    await system.events.until("Fell", ({ claimId }) => claimId === report.claimId);
    expect(system.events.all("Finalized")).toEqual([]);
    // Its own ticket takes the half of the bond that is not burned.
    const { claim } = await system.events.until("Claimed");
    expect(BigInt(report.cost.bondWei)).toBe(claim.bond - claim.bond / 2n);
    expect(before - (await wealth(system))).toBe(BigInt(report.cost.totalWei));
  });
});
