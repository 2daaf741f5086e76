import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { deployFile, readYaml } from "../support/daemon-start.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { findings, withEdit } from "../support/edited-text.ts";
import { kubernetesFaults } from "../support/kubernetes-files.ts";
import type { KubernetesObject, Kustomization } from "../support/kubernetes-objects.ts";

const PROVER = "kubernetes/prover.yaml";
const CHALLENGER = "kubernetes/challenger.yaml";
const EXPLORER = "kubernetes/explorer.yaml";
const WORKER = "kubernetes/worker.yaml";
const KUSTOMIZATION = "kustomization.yaml";

describe("the objects of Kubernetes", () => {
  it("default: have what they need, refer to what there is and start what there is", () => {
    expect(kubernetesFaults()).toEqual([]);
  });

  it.each([
    ["a flag of another name", CHALLENGER, "--shards", "--shard", /does not take --shard/],
    ["on without quotes", CHALLENGER, '"on"', "on", /YAML 1\.1/],
    [
      "a mode in octal, which YAML 1.2 reads as decimal",
      PROVER,
      "defaultMode: 288",
      "defaultMode: 0440",
      /YAML/,
    ],
    ["a mode for everybody", PROVER, "defaultMode: 288", "defaultMode: 292", /has mode 444/],
    [
      "a variable of another name",
      PROVER,
      "ASSAY_PROVER_METRICS_PORT",
      "ASSAY_METRICS_PORT",
      /does not read/,
    ],
    [
      "a worker with the variable of another daemon",
      WORKER,
      "ASSAY_WORKER_HOST",
      "ASSAY_PROVER_HOST",
      /worker does not read ASSAY_PROVER_HOST/,
    ],
    ["a worker that nobody may move", WORKER, "minAvailable: 1", "minAvailable: 2", /never lets a node/],
    ["a number as a variable", PROVER, 'value: "9464"', "value: nine", /metricsPort is "nine"/],
    ["another port", PROVER, "containerPort: 8787", "containerPort: 8080", /a probe asks port 8080/],
    [
      "a service's port that no container has",
      EXPLORER,
      "port: 8090, t",
      "port: 80, t",
      /no container has port 80/,
    ],
    [
      "liveness by the node's health",
      PROVER,
      "livenessProbe:\n            httpGet: { path: /livez",
      "livenessProbe:\n            httpGet: { path: /healthz",
      /is killed when/,
    ],
    ["readiness without it", EXPLORER, "path: /healthz", "path: /livez", /ready while/],
    ["a route that there is not", CHALLENGER, "path: /healthz", "path: /readyz", /no route \/readyz/],
    [
      "labels that no selector finds",
      PROVER,
      "labels: { app.kubernetes.io/name: assay-prover }\n    spec",
      "labels: { app: prover }\n    spec",
      /does not select its own pods/,
    ],
    [
      "a service without pods",
      EXPLORER,
      "selector: { app.kubernetes.io/name: assay-explorer }",
      "selector: { app: explorer }",
      /selects 0 workloads/,
    ],
    [
      "a budget that lets no node be drained",
      PROVER,
      "minAvailable: 1",
      "minAvailable: 2",
      /never lets a node/,
    ],
    [
      "a Secret that there is not",
      PROVER,
      "secretName: assay-prover-key",
      "secretName: assay-key",
      /no Secret assay-key/,
    ],
    [
      "settings that there are not",
      PROVER,
      "name: assay-database }",
      "name: assay-db }",
      /no Secret assay-db/,
    ],
    [
      "a key that the Secret lacks",
      CHALLENGER,
      "key: challenger-1.json",
      "key: challenger-2.json",
      /has no challenger-2/,
    ],
    ["a replica without a key", CHALLENGER, "replicas: 2", "replicas: 3", /pod 2 has no key/],
    [
      "a file at another place",
      PROVER,
      "mountPath: /run/secrets/key",
      "mountPath: /run/keys",
      /no \/run\/secrets\/key\/k/,
    ],
    [
      "a volume that there is not",
      EXPLORER,
      "name: tmp, mountPath",
      "name: temp, mountPath",
      /no volume temp/,
    ],
    [
      "a claim that there is not",
      EXPLORER,
      "claimName: assay-explorer",
      "claimName: explorer",
      /no claim explorer/,
    ],
    ["no data folder", PROVER, "mountPath: /data", "mountPath: /var/data", /there is no \/data/],
    [
      "variables of services",
      PROVER,
      "enableServiceLinks: false",
      "enableServiceLinks: true",
      /may be settings/,
    ],
    ["root", EXPLORER, "runAsNonRoot: true", "runAsNonRoot: false", /may be root/],
    [
      "a root file system that can be written to",
      CHALLENGER,
      "readOnlyRootFilesystem: true",
      "readOnlyRootFilesystem: false",
      /more rights/,
    ],
    ["an old API", EXPLORER, "apiVersion: apps/v1", "apiVersion: apps/v1beta1", /not of apps\/v1beta1/],
    [
      "a service that governs no StatefulSet",
      CHALLENGER,
      "serviceName: assay-challenger",
      "serviceName: challenger",
      /no service/,
    ],
    ["one that only its own pod reaches", EXPLORER, "value: 0.0.0.0", "value: 127.0.0.1", /nobody reaches/],
    ["an image of another version", KUSTOMIZATION, "newTag: ", "newTag: 9.", /another version/],
    [
      "a key under another name",
      KUSTOMIZATION,
      "keystore.json=",
      "key.json=",
      /no \/run\/secrets\/key\/keystore.json/,
    ],
    [
      "an object that is not named",
      KUSTOMIZATION,
      "  - kubernetes/namespace.yaml\n",
      "",
      /namespace is no object/,
    ],
  ] as const)("behavior: finds %s", (_name, file, from, to, fault) => {
    const edit = (path: string, text: string) => (path === file ? withEdit(text, from, to) : text);
    expect(findings(() => kubernetesFaults(edit))).toMatch(fault);
  });
});

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

describe.skipIf(!hasKubectl)("kubectl", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  const kubectl = (...args: string[]) => spawnSync("kubectl", args, { encoding: "utf8", cwd: folder.path });
  beforeAll(() => {
    folder = temporaryFolder();
    cpSync("deploy", folder.path, { recursive: true });
    mkdirSync(join(folder.path, "private"), { recursive: true });
    const { configMapGenerator, secretGenerator } = readYaml(deployFile(KUSTOMIZATION)) as Kustomization;
    for (const { files = [], envs = [] } of [...configMapGenerator, ...secretGenerator])
      for (const file of [...files, ...envs])
        writeFileSync(join(folder.path, file.split("=").at(-1) ?? ""), "NAME=value\n");
  });
  afterAll(() => folder.remove());

  it("default: kustomize finds every file, and gives generated names to all that refer to them", () => {
    const { status, stdout, stderr } = kubectl("kustomize", ".");
    expect([status, stderr]).toEqual([0, ""]);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubernetesObject);
    const names = objects.map(({ metadata }) => metadata.name);
    for (const { spec } of objects) {
      const text = JSON.stringify(spec ?? {});
      for (const [, name = ""] of text.matchAll(/"secret(?:Name"|Ref":\{"name"):"([^"]+)"/g))
        expect(names).toContain(name);
      for (const [, name = ""] of text.matchAll(/"configMap":\{"name":"([^"]+)"/g))
        expect(names).toContain(name);
      expect(text).not.toContain('"image":"assay"');
    }
    expect(stdout).toMatch(/secretName: assay-prover-key-\w+/);
  });

  it.each([PROVER, CHALLENGER, EXPLORER, WORKER])(
    "default: it knows every field of the workload in %s",
    (file) => {
      // What kubectl prints comes from its own types: a field that they lack is gone.
      const { stdout } = kubectl("set", "image", "--local", "-f", file, "*=other", "-o", "json");
      const known = JSON.parse(stdout) as KubernetesObject;
      const own = parseAllDocuments(deployFile(file).replaceAll("image: assay", "image: other"))
        .map((document) => document.toJS() as KubernetesObject)
        .find(({ spec }) => spec.template !== undefined);
      expect(known).toMatchObject(own as object);
    },
  );
});
