/** Of Kubernetes' objects and kustomize's files, what deploy/ uses. */
export interface Named {
  readonly name: string;
}
export interface Generator extends Named {
  readonly files?: readonly string[];
  readonly envs?: readonly string[];
}
export interface Kustomization {
  readonly namespace: string;
  readonly resources: readonly string[];
  readonly images: readonly (Named & { readonly newTag: string })[];
  readonly configMapGenerator: readonly Generator[];
  readonly secretGenerator: readonly Generator[];
}
export type Labels = Readonly<Record<string, string>>;
export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
export interface Volume extends Named {
  readonly emptyDir?: object;
  readonly configMap?: Named;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly secret?: {
    readonly secretName: string;
    readonly defaultMode: number;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
}
export interface Container extends Named {
  readonly image: string;
  readonly args: readonly string[];
  readonly envFrom: readonly { readonly secretRef: Named }[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly ports: readonly (Named & { readonly containerPort: number })[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests?: object; readonly limits?: object };
  readonly securityContext: object;
  readonly volumeMounts: readonly (Named & { readonly mountPath: string; readonly subPathExpr?: string })[];
}
export interface Pod {
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly securityContext?: object;
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Named & { readonly labels?: Labels };
  readonly spec: {
    readonly serviceName?: string;
    readonly replicas?: number;
    readonly minAvailable?: number;
    readonly selector: Labels & { readonly matchLabels?: Labels };
    readonly ports?: readonly (Named & { readonly port: number; readonly targetPort: string })[];
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    readonly volumeClaimTemplates?: readonly { readonly metadata: Named }[];
  };
}
export type Workload = KubernetesObject & {
  spec: { template: NonNullable<KubernetesObject["spec"]["template"]> };
};
