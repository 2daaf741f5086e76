/** The Python package as it is installed from its wheel. */
import { spawn } from "node:child_process";
import { PACKAGE } from "../../tools/python.ts";

export interface Ran {
  readonly code: number | null;
  readonly printed: string;
}

/** Runs Python without stopping this process, on which daemons' pipes depend.
 *  @param env beside the environment's own */
export async function run(
  python: string,
  args: readonly string[],
  { env = {}, cwd = PACKAGE }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
): Promise<Ran> {
  const child = spawn(python, args, { cwd, env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...env } });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => {
      printed += part.toString();
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, printed };
}

/** Runs tests of `python/tests` against the installed package.
 *  @returns how many passed
 *  @throws Error with pytest's report if one failed, or was skipped */
export async function pytest(
  python: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly passed: number; readonly printed: string }> {
  const args = ["-m", "pytest", "-q", "-rP", "-p", "no:cacheprovider", folder];
  const { code, printed } = await run(python, args, { env });
  const summary = printed.trimEnd().split("\n").at(-1) ?? "";
  const passed = /^(\d+) passed in [\d.]+s/.exec(summary)?.[1];
  if (code !== 0 || passed === undefined) throw new Error(printed);
  return { passed: Number(passed), printed };
}
