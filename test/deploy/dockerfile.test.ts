/** The image as far as it can be seen without an engine for containers. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listFiles } from "../../tools/tracked-files.ts";
import { checkStart, deployFile, VARIABLES } from "../support/daemon-start.ts";

const dockerfile = deployFile("Dockerfile");
const readme = deployFile("README.md");
const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
const last = stages.at(-1) ?? "";
const manifest = JSON.parse(readFileSync("packages/program/package.json", "utf8"));
const own = JSON.parse(readFileSync("package.json", "utf8"));
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const files = listFiles().filter((path) => path.startsWith("deploy/"));

describe("Dockerfile", () => {
  it("default: copies what is there, by commands that are there", () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = ""]) =>
      from.split(" "),
    );
    expect(copied).toContain("package-lock.json");
    for (const path of copied) expect([path, existsSync(path)]).toEqual([path, true]);
    const scripts = [...dockerfile.matchAll(/npm run (\w+)/g)].map(([, script = ""]) => script);
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(own.scripts).toHaveProperty(script);
  });

  it("default: installs by the lock file, which has all that the packed program names", () => {
    expect(dockerfile.match(/npm (ci|install)\b.*/g)).toEqual([
      "npm ci",
      "npm install --package-lock-only --offline \\",
      "npm ci --omit=dev \\",
    ]);
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    expect(peerDependencies).toHaveProperty("onnxruntime-node");
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), "onnxruntime-node"])
      expect(lock.packages).toHaveProperty([`node_modules/${name}`]);
  });

  it("default: the last stage runs nothing as root, and has nothing of the sources", () => {
    expect(last.match(/^COPY .*/gm)).toEqual(["COPY --from=build /assay /assay"]);
    expect(last).toMatch(/^USER 1000:1000$/m);
    expect(last.indexOf("\nUSER ")).toBeLessThan(last.indexOf("\nENTRYPOINT "));
    const entry = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(last)?.[1] ?? "[]") as string[];
    expect(entry).toEqual(["node", `/assay/${manifest.bin.assay}`]);
    const [, argument = ""] = /^CMD \["(.+)"\]$/m.exec(last) ?? [];
    expect(argument).toBe("--help");
  });

  it("default: both stages have one version of Node.js, which brings SQLite's binary along", () => {
    const versions = stages.map((stage) => /^FROM node:(\d+)/.exec(stage)?.[1]);
    expect(versions).toEqual([versions[0], versions[0]]);
    // Node.js 20 would compile it when the daemon starts: protocol/service/journal/sqlite-node-20.ts.
    expect(Number(versions[0])).toBeGreaterThanOrEqual(22);
  });
});

describe(".dockerignore and .gitignore", () => {
  it.each([".dockerignore", ".gitignore"])("default: %s leaves the operator's own files out", (path) => {
    expect(readFileSync(path, "utf8").split("\n")).toContain("deploy/private");
    expect(files.filter((file) => file.startsWith("deploy/private"))).toEqual([]);
  });

  it("default: what the packer needs is in the context", () => {
    const left = readFileSync(".dockerignore", "utf8")
      .split("\n")
      .filter((line) => /^\w/.test(line));
    const packer = readFileSync("tools/packages/program.ts", "utf8");
    const [, needed = ""] = /const ASSETS = \/\^\(([\w|]+)\)/.exec(packer) ?? [];
    expect(needed.split("|").length).toBeGreaterThan(5);
    for (const folder of [...needed.split("|"), "packages", "tools", "docs", "verifier-contracts"])
      expect(left).not.toContain(folder);
  });
});

describe("all files of deploy/", () => {
  it("default: name no variable that the program does not read", () => {
    const named = files.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/\bASSAY_[A-Z_]+\b/g)].map(([name]) => name),
    );
    expect(new Set(named).size).toBeGreaterThan(10);
    for (const name of named) expect(VARIABLES).toContain(name);
  });

  it("default: the commands of README.md are the program's, and its packages those that are tested", () => {
    const command = /^ {4}(?:assay|docker compose .* run --rm [\w-]+) ([a-z].*?)(?: +#.*)?$/gm;
    const commands = [...readme.matchAll(command)].map(([, words = ""]) => words.split(/ +/));
    expect(commands).toHaveLength(2);
    for (const argv of commands) expect([argv, checkStart({ argv, env: {} }).faults]).toEqual([argv, []]);
    expect(readme).toContain(`onnxruntime-node@${manifest.peerDependencies["onnxruntime-node"]} `);
  });

  it("default: README.md names each file that an operator has to bring", () => {
    const named = ["compose.yaml", "kustomization.yaml"].flatMap((file) =>
      [...deployFile(file).matchAll(/private\/([\w.-]+)/g)].map(([, name = ""]) => name),
    );
    expect(new Set(named).size).toBe(10);
    for (const name of named) expect(readme).toContain(`\`${name}\``);
  });
});
