import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHALLENGER_SETTINGS } from "../../cli/challenger/machine.ts";
import { renderConfig } from "../../cli/init.ts";
import { PROVER_SETTINGS } from "../../cli/prover.ts";
import { CHAIN_SETTINGS, loadConfig, type Section, type Settings } from "../../protocol/service/config.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, "assay.json");
});
afterEach(() => folder.remove());

function load(content: string, settings: Settings, section?: Section) {
  writeFileSync(file, content);
  return loadConfig(settings, { flags: { config: file }, env: {} }, section);
}
const PARTS: [Settings, Section | undefined][] = [
  [CHAIN_SETTINGS, undefined],
  [PROVER_SETTINGS, "prover"],
  [CHALLENGER_SETTINGS, "challenger"],
];

describe("renderConfig", () => {
  test.each(PARTS)("default: as it is written it changes nothing", (settings, section) => {
    expect(load(renderConfig(), settings, section)).toEqual(load("{}", settings, section));
  });

  test.each(PARTS)("behavior: each line without its // is the setting's default", (settings, section) => {
    const uncommented = renderConfig().replace(/\/\/ (?="\w+": (?!"",))/g, "");
    for (const name of Object.keys(settings)) expect(uncommented).toContain(`"${name}"`);
    expect(load(uncommented, settings, section)).toEqual(load("{}", settings, section));
    expect(uncommented).not.toBe(renderConfig());
  });
});

describe("assay init", () => {
  test("default: flags become settings, and nothing is overwritten", async () => {
    const args = [
      "init",
      "--out",
      file,
      "--rpc-url",
      "http://10.0.0.1:8545",
      "--confirmations",
      "3",
      "--data",
      "state",
    ];
    expect(await runInProcess(args)).toMatchObject({ code: 0 });
    const written = readFileSync(file, "utf8");
    const config = loadConfig(CHAIN_SETTINGS, { flags: { config: file }, env: {} });
    expect(config).toMatchObject({ rpcUrl: "http://10.0.0.1:8545", confirmations: 3 });
    // A flag starts from the current folder, the file from its own: the same place.
    expect(resolve(config.data)).toBe(resolve("state"));
    const again = await runInProcess(args);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("exists already")]);
    expect(readFileSync(file, "utf8")).toBe(written);
  });

  test("error: a value that no command would take is not written", async () => {
    const refused = await runInProcess(["init", "--out", file, "--rpc-url", "ftp://x"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("must be an http")]);
    expect(() => readFileSync(file)).toThrow("ENOENT");
  });
});
