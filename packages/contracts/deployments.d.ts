/** The text of deployments/<chain id>.json, which `parseDeployment` of @assay/sdk reads. Amounts are decimal text. */
export interface DeploymentFile {
  readonly chainId: number;
  readonly judgeVersion: number;
  /** every contract of the system by name */
  readonly contracts: Readonly<Record<string, `0x${string}`>> & {
    readonly assay: `0x${string}`;
    readonly registry: `0x${string}`;
  };
  readonly constants: {
    /** T, seconds */
    readonly answerSeconds: number;
    /** wei a unit of gas */
    readonly gasPriceFloor: string;
    readonly gasBase: string;
    readonly gasPerDemand: string;
  };
  /** where Assay was created */
  readonly block: { readonly number: string; readonly hash: `0x${string}` };
}

/** By chain id. A chain that is absent has no deployment that this version knows. */
export declare const deployments: Readonly<Record<number, DeploymentFile>>;
