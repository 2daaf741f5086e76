/** What is wrong with deploy/compose.yaml: rules of the compose specification, and of this program. */
import { existsSync } from "node:fs";
import { join, normalize } from "node:path";
import {
  checkStart,
  type Env,
  exampleEnv,
  OF_IMAGE,
  pathsOf,
  probeFaults,
  readYaml,
} from "./daemon-start.ts";

interface Mounted {
  readonly source: string;
  readonly target: string;
}
interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly env_file?: string | readonly string[];
  readonly environment?: Env;
  readonly secrets?: readonly (string | Mounted)[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: Readonly<Record<string, unknown>> & { readonly test: readonly string[] };
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const TOP = /^(name|services|volumes|secrets|x-[\w-]+)$/;
/** Of the specification's keys of a service, those that are used. */
const OF_SERVICE = new Set(
  "image build command env_file environment secrets volumes ports depends_on healthcheck restart init read_only tmpfs cap_drop security_opt stop_grace_period".split(
    " ",
  ),
);
const OF_HEALTH = new Set(["test", "interval", "timeout", "retries", "start_period"]);
const DURATION = /^\d+(s|m)$/;
const LEAST_POSTGRES = 14;

const secretsOf = ({ secrets = [] }: Service): Mounted[] =>
  secrets.map((one) => (typeof one === "string" ? { source: one, target: one } : one));
const volumesOf = ({ volumes = [] }: Service): (Mounted & { mode: string | undefined })[] =>
  volumes.map((text) => {
    const [source = "", target = "", mode] = text.split(":");
    return { source, target, mode };
  });
const isPath = (source: string): boolean => /^[./]/.test(source);

/** @param text of the file @returns one sentence for each fault */
export function composeFaults(text: string): string[] {
  const file = readYaml(text) as Compose;
  const faults = Object.keys(file)
    .filter((key) => !TOP.test(key))
    .map((key) => `${key} is no part of a compose file`);
  for (const [name, service] of Object.entries(file.services))
    faults.push(...serviceFaults(service, file).map((fault) => `${name}: ${fault}`));
  const used = Object.values(file.services);
  const sources = used.flatMap((service) => [
    ...secretsOf(service).map(({ source }) => source),
    ...volumesOf(service).map(({ source }) => source),
  ]);
  for (const name of [...Object.keys(file.volumes), ...Object.keys(file.secrets)])
    if (!sources.includes(name)) faults.push(`${name} is declared and not used`);
  for (const name of Object.keys(file.volumes))
    if (sources.filter((source) => source === name).length > 1) faults.push(`two services write to ${name}`);
  for (const [name, { file: path }] of Object.entries(file.secrets))
    if (!path?.startsWith("private/")) faults.push(`the secret ${name} is not in private/`);
  const published = used.flatMap(({ ports = [] }) => ports.map((port) => port.split(":")[1]));
  if (new Set(published).size < published.length) faults.push("two services publish one port");
  return faults;
}

function serviceFaults(service: Service, file: Compose): string[] {
  const faults: string[] = [];
  const { image, build, healthcheck, depends_on = {} } = service;
  for (const key of Object.keys(service)) if (!OF_SERVICE.has(key)) faults.push(`${key} is not known`);
  if (image === undefined && build === undefined) faults.push("has neither an image nor a build");
  if (service.restart !== "unless-stopped") faults.push("is not started again");
  for (const { source } of secretsOf(service))
    if (!(source in file.secrets)) faults.push(`the secret ${source} is not declared`);
  for (const { source, target, mode } of volumesOf(service)) {
    if (!target.startsWith("/")) faults.push(`${target} is no absolute path`);
    if (!isPath(source) && !(source in file.volumes)) faults.push(`the volume ${source} is not declared`);
    if (isPath(source) && !(source.startsWith("./private/") && mode === "ro"))
      faults.push(`${source} is not read from private/ alone`);
  }
  for (const [other, { condition }] of Object.entries(depends_on)) {
    const needed = file.services[other];
    if (needed === undefined) faults.push(`depends on ${other}, which is no service`);
    else if (condition === "service_healthy" && needed.healthcheck === undefined)
      faults.push(`waits for the health of ${other}, which has no check`);
  }
  if (healthcheck === undefined) return [...faults, "has no health check"];
  for (const [key, value] of Object.entries(healthcheck)) {
    if (!OF_HEALTH.has(key)) faults.push(`${key} is no part of a health check`);
    if (/^(interval|timeout|start_period)$/.test(key) && !DURATION.test(String(value)))
      faults.push(`${key} is ${String(value)}, which is no duration`);
  }
  if (healthcheck.test[0] !== "CMD") faults.push("its health check is no list that begins with CMD");
  return [...faults, ...(build === undefined ? serverFaults(service) : daemonFaults(service, file))];
}

/** PostgreSQL's, the only image of somebody else. */
function serverFaults({ image = "", environment = {}, ...service }: Service): string[] {
  const faults: string[] = [];
  const [, version] = /^postgres:(\d+)$/.exec(image) ?? [];
  if (!(Number(version) >= LEAST_POSTGRES))
    faults.push(`${image} is not PostgreSQL ${LEAST_POSTGRES} or later`);
  const password = environment.POSTGRES_PASSWORD_FILE;
  if (!secretsOf(service).some(({ target }) => `/run/secrets/${target}` === password))
    faults.push("its password is no secret");
  if ("POSTGRES_PASSWORD" in environment) faults.push("its password is in the file");
  return faults;
}

function daemonFaults(service: Service, file: Compose): string[] {
  const { build, command = [], env_file, environment = {}, healthcheck, ports = [] } = service;
  const faults: string[] = [];
  const dockerfile = normalize(join("deploy", build?.context ?? "", build?.dockerfile ?? ""));
  if (!existsSync(dockerfile)) faults.push(`${dockerfile} is not there`);
  if (service.read_only !== true || service.cap_drop?.join() !== "ALL")
    faults.push("can write to its image, or has capabilities");
  if (!service.security_opt?.includes("no-new-privileges:true")) faults.push("can get new privileges");
  const start = {
    argv: command,
    env: { ...OF_IMAGE, ...Object.assign({}, ...[env_file ?? []].flat().map(exampleEnv)), ...environment },
  };
  const { faults: ofStart, values } = checkStart(start);
  faults.push(...ofStart);
  const there = [
    ...secretsOf(service).map(({ target }) => `/run/secrets/${target}`),
    ...volumesOf(service).map(({ target }) => target),
  ];
  for (const path of pathsOf(start)) if (!there.includes(path)) faults.push(`there is no ${path} inside`);
  for (const text of ports) {
    const [host, , inside] = text.split(":");
    if (host !== "127.0.0.1") faults.push(`${text} is open to everybody`);
    if (Number(inside) !== values.port)
      faults.push(`${text} is not where it listens: ${String(values.port)}`);
  }
  const { database } = values;
  if (typeof database === "string" && !(new URL(database).hostname in file.services))
    faults.push(`${database} is no service`);
  if (values.host !== "0.0.0.0") faults.push(`listens on ${String(values.host)} inside of its container`);
  const [, port, path] = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(healthcheck?.test.at(-1) ?? "") ?? [];
  return [...faults, ...probeFaults(start, values, Number(port), path ?? "")];
}
