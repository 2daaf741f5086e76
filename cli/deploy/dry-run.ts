/** `assay deploy --dry-run`: what a deployment would do and cost. Asks the node, if there is one, and sends nothing. */
import type { Address, PublicClient } from "viem";
import { formatAmount, roundUp } from "../../base/amounts.ts";
import { dataFeeOn } from "../../protocol/chain/connect.ts";
import type { DataFeeKind } from "../../protocol/chain/data-fee.ts";
import type { Artifacts, SystemContracts } from "../../protocol/chain/deploy/parts.ts";
import {
  type Cost,
  costOf,
  type Method,
  missingSteps,
  type Prices,
  readPrices,
  type Step,
  stepsOf,
  tooLarge,
} from "../../protocol/chain/deploy/plan.ts";
import { hasProxy, proxyMissing } from "../../protocol/chain/deploy/proxy.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { addressLink, chainName, isLocalChain, transactionGasOn } from "../../protocol/chain/presets.ts";
import type { GameConstants } from "../../protocol/rules/types.ts";
import { linked } from "../chain-links.ts";
import { refuseArgument } from "../output.ts";

export interface DryRunTerms {
  readonly chainId: number;
  /** absent: no node answers, and `silence` says why */
  readonly client?: PublicClient;
  readonly silence?: string;
  /** whose balance is looked at */
  readonly account: Address | undefined;
  readonly artifacts: Artifacts;
  readonly constants: GameConstants;
  readonly plainCreate: boolean;
  readonly dataFee: DataFeeKind | "auto";
}

interface StepReport extends Partial<Cost> {
  readonly name: string;
  readonly address: Address;
  /** unknown: no node answers */
  readonly state: "missing" | "standing" | "unknown";
  /** gas units of its transaction; of a contract that stands already, what it would take */
  readonly gas: bigint;
  readonly link?: string;
}

export interface DryRun {
  readonly isDryRun: true;
  readonly chainId: number;
  readonly chain: string;
  readonly method: Method["kind"];
  readonly constants: GameConstants;
  readonly steps: readonly StepReport[];
  readonly contracts: SystemContracts;
  readonly prices?: Prices;
  /** of the steps that are not there yet */
  readonly total: Partial<Cost> & { readonly transactions: number; readonly gas: bigint };
  readonly account?: { readonly address: Address; readonly balanceWei: bigint; readonly neededWei: bigint };
  /** why it could not be deployed now */
  readonly obstacles: readonly string[];
  /** what could not be told, and what else to know */
  readonly notes: readonly string[];
}

/** @throws BaseError DEPLOY_FAILED, DEPLOY_CODE_DIFFERS, PROXY_DIFFERS, ARGUMENT_INVALID, RPC_UNREACHABLE, RPC_FAULT */
export async function dryRun(terms: DryRunTerms): Promise<DryRun> {
  const { chainId, client, constants, artifacts } = terms;
  const method = await methodOf(terms);
  const { steps, contracts } = await stepsOf(artifacts, constants, method);
  const base = {
    isDryRun: true,
    chainId,
    chain: chainName(chainId),
    method: method.kind,
    constants,
  } as const;
  if (client === undefined) {
    const notes = [`${terms.silence} What stands already and what fees are today is not known.`];
    const reports = steps.map((step) => report(chainId, step, "unknown", {}));
    const obstacles = sizeObstacles(chainId, steps);
    return { ...base, steps: reports, contracts, total: totalOf(steps), obstacles, notes };
  }
  const prices = await readPrices(client, dataFeeOn(client, chainId, terms.dataFee));
  const missing = await missingSteps(client, chainId, steps);
  const reports = steps.map((step) =>
    missing.includes(step)
      ? report(chainId, step, "missing", costOf(step, prices))
      : report(chainId, step, "standing", {}),
  );
  const obstacles = sizeObstacles(chainId, missing);
  const notes: string[] = [];
  if (method.kind === "proxy" && !(await hasProxy(client, chainId))) {
    const { shortMessage, nextStep } = proxyMissing(chainId);
    if (isLocalChain(chainId)) notes.push(`${shortMessage} On a local chain it is put there first.`);
    else obstacles.push(`${shortMessage} ${nextStep}`);
  }
  if (prices.dataFee === undefined) notes.push(`The data fee is not known: ${prices.dataFeeFault}`);
  const total = totalOf(missing, prices);
  const account = await accountOf(terms, client, total, prices);
  if (account !== undefined && account.balanceWei < account.neededWei) {
    const lacking = formatAmount(account.neededWei - account.balanceWei);
    obstacles.push(`The account ${account.address} lacks ${lacking}.`);
  }
  const found = { steps: reports, contracts, prices, total, obstacles, notes };
  return { ...base, ...found, ...(account !== undefined && { account }) };
}

async function methodOf({ plainCreate, client, account }: DryRunTerms): Promise<Method> {
  if (!plainCreate) return { kind: "proxy" };
  if (account === undefined)
    refuseArgument("--from", undefined, "whoever will deploy: plain creations depend on the account");
  if (client === undefined)
    refuseArgument(
      "--plain-create",
      true,
      "left out without a node: addresses depend on the account's nonce",
    );
  const nonce = await withContext("read the account's nonce", () =>
    client.getTransactionCount({ address: account }),
  );
  return { kind: "account", from: account, nonce };
}

function report(chainId: number, step: Step, state: StepReport["state"], cost: Partial<Cost>): StepReport {
  const { name, address, transactionGas: gas } = step;
  const link = addressLink(chainId, address);
  return { name, address, state, gas, ...cost, ...(link !== undefined && { link }) };
}

function totalOf(steps: readonly Step[], prices?: Prices): DryRun["total"] {
  const gas = steps.reduce((sum, step) => sum + step.transactionGas, 0n);
  const count = { transactions: steps.length, gas };
  if (prices === undefined) return count;
  const costs = steps.map((step) => costOf(step, prices));
  const gasWei = costs.reduce((sum, cost) => sum + cost.gasWei, 0n);
  if (prices.dataFee === undefined) return { ...count, gasWei };
  return { ...count, gasWei, dataWei: costs.reduce((sum, { dataWei = 0n }) => sum + dataWei, 0n) };
}

async function accountOf(
  { account: address }: DryRunTerms,
  client: PublicClient,
  { gas, dataWei = 0n }: DryRun["total"],
  { maxFeePerGas }: Prices,
): Promise<DryRun["account"]> {
  if (address === undefined) return undefined;
  const balanceWei = await withContext("read the balance", () => client.getBalance({ address }));
  return { address, balanceWei, neededWei: gas * maxFeePerGas + dataWei };
}

const sizeObstacles = (chainId: number, steps: readonly Step[]): string[] =>
  tooLarge(chainId, steps).map(
    ({ name, transactionGas }) =>
      `${name} takes ${count(transactionGas)} gas, a transaction holds ${count(transactionGasOn(chainId))}.`,
  );

const count = (value: bigint | number): string => value.toLocaleString("en-US");
const about = (amount: bigint): string => formatAmount(roundUp(amount, 4));

/** For people. */
export function dryRunLines(run: DryRun): string[] {
  const { steps, total, prices, account, contracts, constants } = run;
  const { answerSeconds, gasPriceFloor } = constants;
  const head = `${run.chain}: T = ${count(answerSeconds)} s, gas price floor ${formatAmount(gasPriceFloor)}`;
  const price = prices === undefined ? "" : `, at ${about(prices.gasPrice)} a unit of gas`;
  const what = `${total.transactions} transactions, ${count(total.gas)} gas${costText(total)}${price}`;
  return [
    head,
    ...steps.map(stepLine),
    `      ${"Courier".padEnd(16)} ${contracts.courier}  made by Assay`,
    `      ${"PromiseReader".padEnd(16)} ${contracts.promiseReader}  made by Promises`,
    total.transactions === 0 ? "Everything stands already: nothing is left to pay for." : what,
    ...(account === undefined
      ? []
      : [
          `The account ${account.address} has ${formatAmount(account.balanceWei)}; up to ${about(account.neededWei)} may be needed.`,
        ]),
    ...run.notes,
    ...run.obstacles,
    "Nothing was sent.",
  ];
}

function stepLine({ name, address, state, gas, link, ...cost }: StepReport, index: number): string {
  const doing = state === "standing" ? "stands already" : `${count(gas)} gas${costText(cost)}`;
  return `  ${String(index + 1).padStart(2)}  ${name.padEnd(16)} ${linked(`${address}  ${doing}`, link)}`;
}

function costText({ gasWei, dataWei }: Partial<Cost>): string {
  if (gasWei === undefined) return "";
  const data = dataWei === undefined || dataWei === 0n ? "" : ` and up to ${about(dataWei)} for data`;
  return `, ${about(gasWei)}${data}`;
}
