/** What is wrong with deploy/kustomization.yaml and the objects that it names. */
import { VERSION } from "../../base/version.ts";
import {
  checkStart,
  deployFile,
  type Env,
  exampleEnv,
  OF_IMAGE,
  pathsOf,
  probeFaults,
  readYaml,
  type Start,
} from "./daemon-start.ts";
import type {
  Container,
  Generator,
  KubernetesObject,
  Kustomization,
  Labels,
  Volume,
  Workload,
} from "./kubernetes-objects.ts";

/** Kinds with the only API version in which a cluster of today has them. */
const API: Readonly<Record<string, string>> = {
  Deployment: "apps/v1",
  Namespace: "v1",
  PersistentVolumeClaim: "v1",
  PodDisruptionBudget: "policy/v1",
  Service: "v1",
  StatefulSet: "apps/v1",
};
/** What Pod Security's level `restricted` asks for, and a file system that cannot be written to. */
const POD_SECURITY = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
const SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};
const READABLE_BY_GROUP = 0o440;

/** Documents of one file. @throws Error as readYaml */
export const objectsIn = (text: string): KubernetesObject[] =>
  text.split(/^---$/m).map((document) => readYaml(document) as KubernetesObject);

const has = (object: unknown, part: object): boolean => {
  const found = object as Record<string, unknown> | undefined;
  return Object.entries(part).every(([key, value]) => JSON.stringify(found?.[key]) === JSON.stringify(value));
};
const matches = (labels: Labels, selector: Labels | undefined): boolean =>
  selector !== undefined && Object.keys(selector).length > 0 && has(labels, selector);

/** @param edit alters a file's text, by its path in deploy/ @returns one sentence for each fault */
export function kubernetesFaults(
  edit: (path: string, text: string) => string = (_path, text) => text,
): string[] {
  const textOf = (path: string): string => edit(path, deployFile(path));
  const kustomization = readYaml(textOf("kustomization.yaml")) as Kustomization;
  const objects = kustomization.resources.flatMap((path) => objectsIn(textOf(path)));
  const faults: string[] = [];
  for (const { apiVersion, kind, metadata } of objects)
    if (API[kind] !== apiVersion) faults.push(`${metadata.name}: ${kind} is not of ${apiVersion}`);
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  if (new Set(names).size < names.length) faults.push("two objects have one name");
  if (!names.includes(`Namespace ${kustomization.namespace}`)) faults.push("its namespace is no object");
  if (kustomization.images.some(({ newTag }) => newTag !== VERSION))
    faults.push("the image is of another version");
  const workloads = objects.filter((object): object is Workload => object.spec?.template !== undefined);
  for (const workload of workloads)
    faults.push(
      ...workloadFaults(workload, kustomization, objects).map((f) => `${workload.metadata.name}: ${f}`),
    );
  for (const { kind, metadata, spec } of objects) {
    const selector = { Service: spec?.selector, PodDisruptionBudget: spec?.selector?.matchLabels }[kind];
    if (kind !== "Service" && kind !== "PodDisruptionBudget") continue;
    const meant = workloads.filter(({ spec: { template } }) => matches(template.metadata.labels, selector));
    if (meant.length !== 1) faults.push(`${kind} ${metadata.name} selects ${meant.length} workloads`);
    const [workload] = meant;
    const ports = workload?.spec.template.spec.containers.flatMap((container) => container.ports) ?? [];
    for (const { port, targetPort } of spec.ports ?? [])
      if (!ports.some((one) => one.name === targetPort && one.containerPort === port))
        faults.push(`Service ${metadata.name}: no container has port ${port}, named ${targetPort}`);
    if (kind === "PodDisruptionBudget" && !((spec.minAvailable ?? 0) < (workload?.spec.replicas ?? 0)))
      faults.push(`PodDisruptionBudget ${metadata.name} never lets a node be drained`);
  }
  return faults;
}

function workloadFaults(
  workload: Workload,
  kustomization: Kustomization,
  objects: KubernetesObject[],
): string[] {
  const { kind, spec } = workload;
  const { template, selector, serviceName, replicas = 1 } = spec;
  const pod = template.spec;
  const faults: string[] = [];
  if (!matches(template.metadata.labels, selector.matchLabels)) faults.push("does not select its own pods");
  const isService = (name?: string) =>
    objects.some((one) => one.kind === "Service" && one.metadata.name === name);
  if (kind === "StatefulSet" && !isService(serviceName)) faults.push(`${serviceName} is no service`);
  const budget = objects.some(
    (one) =>
      one.kind === "PodDisruptionBudget" && matches(template.metadata.labels, one.spec.selector.matchLabels),
  );
  if (replicas > 1 && !budget) faults.push("has replicas and no PodDisruptionBudget");
  if (pod.automountServiceAccountToken !== false) faults.push("has a token of the cluster");
  if (pod.enableServiceLinks !== false) faults.push("gets variables of services, which may be settings");
  if (!has(pod.securityContext, POD_SECURITY)) faults.push("may be root");
  const claims = (spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata.name);
  for (const volume of pod.volumes) faults.push(...volumeFaults(volume, workload, kustomization, objects));
  const volumes = [...claims, ...pod.volumes.map(({ name }) => name)];
  for (const container of pod.containers) {
    if (!kustomization.images.some(({ name }) => name === container.image))
      faults.push(`${container.image} is no image`);
    if (!has(container.securityContext, SECURITY)) faults.push("has more rights than it needs");
    if (!("memory" in (container.resources.limits ?? {}))) faults.push("has no limit of memory");
    for (const { name } of container.volumeMounts)
      if (!volumes.includes(name)) faults.push(`there is no volume ${name}`);
    faults.push(...containerFaults(container, pod.volumes, kustomization));
  }
  return faults;
}

function volumeFaults(
  { name, configMap, persistentVolumeClaim, secret }: Volume,
  { metadata, spec: { replicas = 1 } }: Workload,
  { configMapGenerator, secretGenerator }: Kustomization,
  objects: KubernetesObject[],
): string[] {
  const faults: string[] = [];
  if (configMap !== undefined && !configMapGenerator.some((one) => one.name === configMap.name))
    faults.push(`there is no ConfigMap ${configMap.name}`);
  const claim = persistentVolumeClaim?.claimName;
  if (
    claim !== undefined &&
    !objects.some((one) => one.kind === "PersistentVolumeClaim" && one.metadata.name === claim)
  )
    faults.push(`there is no claim ${claim}`);
  if (secret === undefined) return faults;
  const { secretName, defaultMode, items } = secret;
  const generator = secretGenerator.find((one) => one.name === secretName);
  if (generator === undefined) return [...faults, `there is no Secret ${secretName}`];
  if (defaultMode !== READABLE_BY_GROUP) faults.push(`${name} has mode ${defaultMode?.toString(8)}`);
  const keys = keysOf(generator);
  for (const { key } of items ?? []) if (!keys.includes(key)) faults.push(`${secretName} has no ${key}`);
  if (items === undefined) return faults;
  for (let i = 0; i < replicas; i++)
    if (!items.some(({ path }) => path.startsWith(`${metadata.name}-${i}/`)))
      faults.push(`pod ${i} has no key`);
  return faults;
}

/** The name in the object, before the file's. */
const keysOf = ({ files = [] }: Generator): string[] =>
  files.map((file) => (file.includes("=") ? file.split("=") : file.split("/").slice(-1))[0] ?? "");

function containerFaults(container: Container, volumes: readonly Volume[], files: Kustomization): string[] {
  const start = startOf(container, files);
  const { faults, values } = checkStart(start);
  const there = pathsIn(container, volumes, files);
  const missing = pathsOf(start).filter((path) => !there.includes(path));
  const secrets = container.envFrom.filter(
    ({ secretRef: { name } }) => !isNamed(files.secretGenerator, name),
  );
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe].flatMap(
    ({ httpGet: { path, port } }) => {
      const named = container.ports.find(({ name }) => name === port);
      return probeFaults(start, values, named?.containerPort ?? 0, path);
    },
  );
  const { livenessProbe, readinessProbe } = container;
  // A daemon whose node is silent is not ready, and starting it again would not help.
  if (livenessProbe.httpGet.path === "/healthz") probes.push("is killed when its node is silent");
  if (readinessProbe.httpGet.path === "/livez") probes.push("is ready while its node is silent");
  const isHeard =
    values.host === "0.0.0.0" && (values.metricsPort === undefined || values.metricsHost === "0.0.0.0");
  return [
    ...faults,
    ...missing.map((path) => `there is no ${path} inside`),
    ...secrets.map(({ secretRef: { name } }) => `there is no Secret ${name}`),
    ...probes,
    ...(isHeard ? [] : ["listens where nobody reaches it"]),
  ];
}

const isNamed = (generators: readonly Generator[], name: string): boolean =>
  generators.some((one) => one.name === name);

/** What a container finds where it looks: folders, and the files of ConfigMaps and Secrets in them. */
function pathsIn({ volumeMounts }: Container, volumes: readonly Volume[], files: Kustomization): string[] {
  return volumeMounts.flatMap(({ name, mountPath, subPathExpr }) => {
    const { configMap, secret } = volumes.find((one) => one.name === name) ?? {};
    const generator = [...files.configMapGenerator, ...files.secretGenerator].find(
      (one) => one.name === (configMap?.name ?? secret?.secretName),
    );
    const paths =
      secret?.items?.map(({ path }) => path) ?? (generator === undefined ? [] : keysOf(generator));
    const seen = subPathExpr === undefined ? paths : paths.map((path) => path.replace(/^[^/]*\//, ""));
    return [mountPath, ...seen.map((path) => `${mountPath}/${path}`)];
  });
}

function startOf({ args, env, envFrom }: Container, { secretGenerator }: Kustomization): Start {
  const shared = envFrom.flatMap(({ secretRef: { name } }) =>
    (secretGenerator.find((one) => one.name === name)?.envs ?? []).map(exampleEnv),
  );
  const own = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return { argv: args, env: Object.assign({}, OF_IMAGE, ...shared, Object.fromEntries(own)) as Env };
}
