import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deployFile } from "../support/daemon-start.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { findings, withEdit } from "../support/edited-text.ts";
import { CHAIN, COMMON, DATABASE, portsOf, UNITS, unitFaults, unitFile } from "../support/systemd-units.ts";

const PROVER = unitFile("assay-prover");
const CHALLENGER = unitFile("assay-challenger");
const WORKER = unitFile("assay-worker");

describe("the units of systemd", () => {
  it.each(UNITS)("default: %s starts what there is with settings that there are", (name) => {
    expect(unitFaults(name)).toEqual([]);
  });

  it("default: all of them fit on one machine", () => {
    const ports = UNITS.flatMap(portsOf);
    expect(ports).toHaveLength(5);
    expect(new Set(ports).size).toBe(ports.length);
  });

  it.each([
    ["a command that there is not", CHALLENGER, "challenger defend", "challenger defends", /no command/],
    ["a flag that there is not", CHALLENGER, "defend", "defend --shard on", /does not take --shard/],
    [
      "a variable of another name",
      CHALLENGER,
      "ASSAY_CHALLENGER_PORT",
      "ASSAY_CHALLENGER_METRICS",
      /not read/,
    ],
    ["a value that is not allowed", PROVER, "PORT=9465", "PORT=94650", /metricsPort is "94650"/],
    ["a key", PROVER, "ASSAY_PROVER_METRICS_PORT=9465", "ASSAY_KEY=1", /ASSAY_KEY is in/],
    [
      "a credential under another name",
      PROVER,
      "=keystore.json:",
      "=keystore:",
      /keystore.json is not loaded/,
    ],
    ["a credential that nobody uses", PROVER, "%d/keystore.password", "/etc/password", /loaded and not used/],
    ["a credential of another folder", PROVER, "/etc/assay/prover.json", "/tmp/prover.json", /not in \/etc/],
    ["a password in the file", DATABASE, "_PASSWORD_FILE=%d/", "=postgres://a:b@c/", /not loaded|password/],
    ["data elsewhere", CHAIN, "ASSAY_DATA=%S/%N", "ASSAY_DATA=%S/assay", /its data are in/],
    [
      "a key for a worker",
      WORKER,
      "ASSAY_DATABASE_PASSWORD_FILE",
      "ASSAY_KEYSTORE_PASSWORD_FILE",
      /not read/,
    ],
    [
      "a worker's port that is the challenger's",
      WORKER,
      "ASSAY_WORKER_PORT=9466",
      "ASSAY_CHALLENGER_PORT=9466",
      /worker does not read ASSAY_CHALLENGER_PORT/,
    ],
    ["a worker without a database", WORKER, "EnvironmentFile=/etc/assay/database.env", "", /has no database/],
    ["root", COMMON, "DynamicUser=yes", "DynamicUser=no", /DynamicUser is no/],
    ["a service that stays down", COMMON, "Restart=always", "Restart=no", /Restart is no/],
  ])("behavior: finds %s", (_name, file, from, to, fault) => {
    const text = (path: string) => (path === file ? withEdit(deployFile(path), from, to) : deployFile(path));
    expect(findings(() => UNITS.flatMap((name) => unitFaults(name, text)))).toMatch(fault);
  });
});

/** systemd's tenths of exposure, of 100, above which a unit is not what it was. */
const MOST_EXPOSURE = 20;
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe.skipIf(!hasSystemd)("systemd-analyze", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
    cpSync("deploy/systemd", folder.path, { recursive: true });
    for (const name of UNITS) {
      // It asks whether the program is there, which is installed later.
      edit(`${name}.service`, "ExecStart=assay ", `ExecStart=${process.execPath} `);
      if (name === "assay-explorer" || name === "assay-worker") continue;
      mkdirSync(join(folder.path, `${name}.service.d`));
      cpSync("deploy/systemd/database.conf", join(folder.path, `${name}.service.d`, "database.conf"));
    }
  });
  afterEach(() => folder.remove());
  function edit(file: string, from: string, to: string): void {
    const path = join(folder.path, file);
    writeFileSync(path, withEdit(readFileSync(path, "utf8"), from, to));
  }
  function analyze(...args: string[]) {
    const paths = UNITS.map((name) => join(folder.path, `${name}.service`));
    return spawnSync("systemd-analyze", [...args, ...paths], { encoding: "utf8" });
  }
  /** What it says of these units; of others it may have its own opinion. */
  const verify = (): string[] =>
    analyze("verify")
      .stderr.split("\n")
      .filter((line) => line.includes("assay-"));

  it("default: verifies them, with what they have in common and the database", () => {
    expect(verify()).toEqual([]);
  });

  it("behavior: finds keys that systemd does not have, in all their files", () => {
    edit("assay-.service.d/common.conf", "ProtectClock=", "ProtectClocks=");
    edit("assay-prover.service.d/database.conf", "LoadCredential=", "LoadCredentials=");
    const found = verify().join("\n");
    expect(found).toContain("'ProtectClocks'");
    expect(found).toContain("'LoadCredentials'");
  });

  it("default: finds them little exposed; without what they have in common they are not", () => {
    const security = () =>
      analyze("security", "--offline=yes", `--threshold=${MOST_EXPOSURE}`, "--no-pager").status;
    expect(security()).toBe(0);
    writeFileSync(join(folder.path, "assay-.service.d", "common.conf"), "");
    expect(security()).not.toBe(0);
  });
});
