/** Runs the protocol's own conformance suite (@modelcontextprotocol/conformance) against a server. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../tools/foundry.ts";
import { runNode } from "./assay.ts";

const PROGRAM = join(projectRoot, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** The suite imports a function for its comparison of repositories that Node.js 20 has not; nothing here calls it. */
const HOOKS = `export const resolve = (name, context, next) =>
  name === "fs" && /conformance.dist/.test(context.parentURL ?? "")
    ? { url: "data:text/javascript,export * from 'node:fs'; export const globSync = undefined;", shortCircuit: true }
    : next(name, context);`;
const LOADER = `import { register } from "node:module"; register("data:text/javascript,${encodeURIComponent(HOOKS)}");`;
const needsLoader = Number.parseInt(process.versions.node, 10) < 22;

export interface Check {
  /** of the suite, `scenario/check` */
  readonly id: string;
  readonly status: string;
  readonly errorMessage: string | undefined;
}

/** What the suite found, scenario by scenario, of all that a revision requires of servers.
 *  @param folder for its files, empty */
export async function runConformance(url: string, revision: string, folder: string): Promise<Check[]> {
  const loader = needsLoader ? ["--import", `data:text/javascript,${encodeURIComponent(LOADER)}`] : [];
  const args = ["server", "--url", url, "--requirements", revision, "--output-dir", folder];
  const { stdout, stderr } = await runNode([...loader, PROGRAM, ...args], {}, dirname(PROGRAM));
  const scenarios = readdirSync(folder);
  if (scenarios.length === 0) throw new Error(`The suite ran nothing: ${stdout}\n${stderr}`);
  return scenarios.flatMap((name) => {
    const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[];
    return checks.map(({ id, status, errorMessage }) => ({ id: `${scenario}/${id}`, status, errorMessage }));
  });
}
