import { describe, expect, it } from "vitest";
import { composeFaults } from "../support/compose-file.ts";
import { deployFile } from "../support/daemon-start.ts";
import { findings, withEdit } from "../support/edited-text.ts";

const compose = deployFile("compose.yaml");

describe("compose.yaml", () => {
  it("default: follows the specification, and starts what there is with settings that there are", () => {
    expect(composeFaults(compose)).toEqual([]);
  });

  // Each edit is a slip that somebody could make here, or in the program.
  it.each([
    ["a flag of another name", "--shards,", "--shard,", /does not take --shard$/],
    ["a value that is not allowed", '--shards, "on"', '--shards, "yes"', /must be on or off/],
    ["on without quotes, which YAML 1.1 reads as true", '--shards, "on"', "--shards, on", /YAML 1\.1/],
    ["a command that there is not", "[prover,", "[provers,", /no command/],
    ["a part of a command", "[challenger, defend,", "[challenger,", /no command/],
    ["a variable of another name", "ASSAY_PROVER_HOST", "ASSAY_PROVER_ADDRESS", /does not read/],
    ["a variable of another daemon", "ASSAY_EXPLORER_HOST", "ASSAY_PROVER_HOST", /explorer does not read/],
    [
      "a key",
      "ASSAY_PROVER_HOST: 0.0.0.0",
      "ASSAY_KEY: x\n    ASSAY_PROVER_HOST: 0.0.0.0",
      /ASSAY_KEY is in/,
    ],
    ["a password", "postgres://assay@", "postgres://assay:secret@", /holds a password/],
    ["a host that is no service", "@postgres:5432", "@database:5432", /is no service/],
    ["another port", '"127.0.0.1:8090:8090"', '"127.0.0.1:8090:8080"', /not where it listens/],
    ["a port for everybody", "127.0.0.1:8787:8787", "0.0.0.0:8787:8787", /open to everybody/],
    ["one port twice", "127.0.0.1:8788:8787", "127.0.0.1:8787:8787", /two services publish/],
    ["a check of another port", "8787/healthz", "8788/healthz", /a probe asks port 8788/],
    ["a check of another route", "9464/healthz", "9464/readyz", /no route \/readyz/],
    ["a secret that is not declared", "source: prover-keystore", "source: prover-key", /prover-key is not/],
    ["a secret at another place", "target: keystore.password", "target: password", /there is no \/run/],
    ["a secret outside of private/", "file: private/prover.json", "file: prover.json", /not in private/],
    ["a volume that is not declared", '"prover:/data"', '"provers:/data"', /provers is not declared/],
    ["one volume for two", "prover-standby:/data", "prover:/data", /two services write to prover/],
    ["a data folder that is no volume", "explorer:/data", "explorer:/index", /there is no \/data/],
    ["an old PostgreSQL", "postgres:17", "postgres:13", /PostgreSQL 14 or later/],
    ["a service to wait for that there is not", "postgres: { c", "postgre: { c", /no service/],
    [
      "a key that the specification lacks",
      "  restart: unless",
      "  restarts: unless",
      /restarts is not known/,
    ],
    ["a duration without a unit", "interval: 10s", "interval: 10", /no duration/],
    ["capabilities", "cap_drop: [ALL]", "cap_drop: []", /has capabilities/],
    ["another Dockerfile", "dockerfile: deploy/Dockerfile", "dockerfile: Dockerfile", /is not there/],
  ])("behavior: finds %s", (_name, from, to, fault) => {
    expect(findings(() => composeFaults(withEdit(compose, from, to)))).toMatch(new RegExp(fault, "m"));
  });
});
