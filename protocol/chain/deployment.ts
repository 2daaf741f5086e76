/** Where a system is deployed and with which constants; the text of deployments/<chainId>.json. */
import { type Address, getAddress, type Hex, isAddress } from "viem";
import * as z from "zod";
import { BaseError } from "../../base/errors.ts";
import type { GameConstants } from "../rules/types.ts";

export interface Deployment {
  readonly chainId: number;
  readonly judgeVersion: number;
  /** Every contract of the system by name; systems from before promises have no `promises` and `promiseReader`. */
  readonly contracts: Readonly<Record<string, Address>> & {
    readonly assay: Address;
    readonly registry: Address;
  };
  readonly constants: GameConstants;
  /** Where the registry was created: no event is older, and it tells one chain from another with the same id. */
  readonly block: { readonly number: bigint; readonly hash: Hex };
}

const address = z
  .string()
  .refine((text) => isAddress(text), "is no address (20 bytes as hex, checksum right or all lower case)")
  .transform((text) => getAddress(text));
const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, "is no hash (32 bytes as lower-case hex)")
  .transform((text) => text as Hex);
const amount = z
  .string()
  .regex(/^\d{1,30}$/, "is no decimal integer in quotes")
  .transform((text) => BigInt(text));

const schema = z.strictObject({
  chainId: z.int().positive(),
  judgeVersion: z.int().positive(),
  contracts: z.object({ assay: address, registry: address }).catchall(address),
  constants: z.strictObject({
    answerSeconds: z.int().positive(),
    gasPriceFloor: amount,
    gasBase: amount,
    gasPerDemand: amount,
  }),
  block: z.strictObject({ number: amount, hash }),
});

/** @param name of the text, for errors
 *  @throws BaseError DEPLOYMENT_INVALID */
export function parseDeployment(text: string, name: string): Deployment {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid(name, "is not JSON", cause);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(name, `${issue?.path.join(".") || "the file"}: ${issue?.message}`, parsed.error);
}

export function renderDeployment(deployment: Deployment): string {
  const text = (_key: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);
  return `${JSON.stringify(deployment, text, 2)}\n`;
}

/** The addresses that hold contracts, by name. */
export const contractsOf = (deployment: Deployment): [name: string, address: Address][] =>
  Object.entries(deployment.contracts);

function invalid(name: string, why: string, cause: unknown): BaseError {
  return new BaseError({
    code: "DEPLOYMENT_INVALID",
    shortMessage: `The deployment file ${name} cannot be used: ${why}.`,
    nextStep: "Write it anew with `assay deploy --force`, or take it from whoever deployed.",
    cause,
  });
}
