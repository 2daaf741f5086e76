/** What is wrong with the units of deploy/systemd, as far as systemd itself cannot know. */
import { parseEnv } from "node:util";
import { checkStart, deployFile, type Env, exampleEnv } from "./daemon-start.ts";

export const COMMON = "systemd/assay-.service.d/common.conf";
export const CHAIN = "systemd/assay-.service.d/chain.conf";
/** Takes CHAIN's place, for it has its name. */
const CHAIN_OF_WORKER = "systemd/assay-worker.service.d/chain.conf";
export const DATABASE = "systemd/database.conf";
export const UNITS = ["assay-prover", "assay-challenger", "assay-explorer", "assay-worker"] as const;
export const unitFile = (name: string): string => `systemd/${name}.service`;

/** What every unit has to hold, whichever of its files holds it. */
const REQUIRED: Readonly<Record<string, string>> = {
  DynamicUser: "yes",
  NoNewPrivileges: "yes",
  ProtectSystem: "strict",
  ProtectHome: "yes",
  Restart: "always",
  // Wrong arguments or configuration: cli/output.ts.
  RestartPreventExitStatus: "2",
  StartLimitIntervalSec: "0",
  StateDirectoryMode: "0700",
};
const FOLDER = "/etc/assay/";

type Assignments = readonly (readonly [key: string, value: string])[];

/** Assignments of all sections in order; comments and empty lines are left out. */
const assignmentsOf = (text: string): Assignments =>
  text.split("\n").flatMap((line) => {
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [[key, value] as const];
  });

/** @param text of a file by its path in deploy/ @returns one sentence for each fault */
export function unitFaults(name: string, text: (path: string) => string = deployFile): string[] {
  // As systemd reads them: the unit, then the drop-ins of its prefix, then its own.
  const isWorker = name === "assay-worker";
  const isSigner = !isWorker && name !== "assay-explorer";
  const chain = isWorker ? CHAIN_OF_WORKER : CHAIN;
  const parts = [unitFile(name), chain, COMMON, ...(isSigner ? [DATABASE] : [])];
  const all = parts.flatMap((path) => assignmentsOf(text(path)));
  const valuesOf = (key: string): string[] =>
    all.filter(([one]) => one === key).map(([, value]) => value.replaceAll("%N", name));
  const faults: string[] = [];
  for (const [key, value] of Object.entries(REQUIRED))
    if (valuesOf(key).at(-1) !== value) faults.push(`${key} is ${valuesOf(key).at(-1)}, not ${value}`);

  const credentials = valuesOf("LoadCredential").map((value) => value.split(":"));
  for (const [, path = ""] of credentials)
    if (!path.startsWith(FOLDER)) faults.push(`${path} is not in ${FOLDER}`);
  const files = valuesOf("EnvironmentFile");
  for (const path of files) if (!path.startsWith(FOLDER)) faults.push(`${path} is not in ${FOLDER}`);
  const own = parseEnv(valuesOf("Environment").join("\n")) as Env;
  const env: Env = { ...own, ...Object.assign({}, ...files.map(exampleEnv)) };

  const [program, ...argv] = (valuesOf("ExecStart").at(-1) ?? "").split(" ");
  if (program !== "assay") faults.push(`starts ${program}`);
  const { faults: ofStart, values } = checkStart({ argv, env });
  faults.push(...ofStart);
  const used = Object.values(env).flatMap((value) => /^%d\/(.+)$/.exec(value)?.[1] ?? []);
  for (const one of used) if (!credentials.some(([id]) => id === one)) faults.push(`${one} is not loaded`);
  for (const [id = ""] of credentials) if (!used.includes(id)) faults.push(`${id} is loaded and not used`);
  const state = `%S/${valuesOf("StateDirectory").at(-1)}`;
  if (!isWorker && values.data !== state)
    faults.push(`its data are in ${String(values.data)}, its state in ${state}`);
  if (valuesOf("WorkingDirectory").at(-1) !== state) faults.push("relative paths are not in its state");
  if (isSigner !== (values.keystore !== undefined)) faults.push("has a key and needs none, or the reverse");
  if ((isSigner || isWorker) !== (values.database !== undefined))
    faults.push("has no database, or needs none");
  return faults;
}

/** Ports at which the units listen on one machine. */
export function portsOf(name: string): number[] {
  const env = parseEnv(
    assignmentsOf(deployFile(unitFile(name)))
      .filter(([key]) => key === "Environment")
      .map(([, value]) => value)
      .join("\n"),
  ) as Env;
  const [, line = ""] = /^ExecStart=assay (.*)$/m.exec(deployFile(unitFile(name))) ?? [];
  const { port, metricsPort } = checkStart({ argv: line.split(" "), env }).values;
  return [port, metricsPort].filter((one): one is number => typeof one === "number");
}
