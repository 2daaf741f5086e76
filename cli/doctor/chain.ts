/** Checks of node, contracts and clocks. */
import { custom, type PublicClient } from "viem";
import { formatAmount, roundUp } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { type Chain, clientOver, httpOptions } from "../../protocol/chain/connect.ts";
import { dataFeeOf } from "../../protocol/chain/data-fee.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { addressLink, chainName, presetOf } from "../../protocol/chain/presets.ts";
import { httpNode } from "../../protocol/chain/quorum/nodes.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { type ClaimId, ZERO_HASH } from "../../protocol/rules/types.ts";
import { linked } from "../chain-links.ts";
import { type Finding, fail, found, ok, warn } from "./finding.ts";

/** Blocks whose mean distance counts as the chain's pace. */
const PACE_BLOCKS = 20n;
/** A transaction needs some blocks to be included; T must cover them. */
const LEAST_BLOCKS_PER_ANSWER = 4;
/** Difference of the clocks that no network explains, seconds. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** For one answer of the node, ms: who asks a doctor waits for all of them. */
const ANSWER_MS = 5_000;

export async function checkNode(rpcUrl: string): Promise<Finding[]> {
  const node = httpNode(rpcUrl, 0, httpOptions(ANSWER_MS));
  const client = clientOver(custom(node, { retryCount: 0 }));
  const startedAt = performance.now();
  const chainId = await withContext("ask the node for its chain id", () => client.getChainId());
  const ms = Math.round(performance.now() - startedAt);
  const head = await client.getBlock();
  const findings = [ok("node", `${chainName(chainId)}, block ${head.number}, answered in ${ms} ms`)];
  const syncing = await client.request({ method: "eth_syncing" } as never).catch(() => false);
  if (typeof syncing === "object") {
    findings.push(warn("node", "the node is still syncing", "Wait: until then daemons follow an old chain."));
  }
  return [...findings, clockFinding(Number(head.timestamp), Date.now() / 1_000)];
}

/** @param head time of the newest block @param local local clock; seconds */
export function clockFinding(head: number, local: number): Finding {
  const difference = Math.round(local - head);
  if (difference < -CLOCK_TOLERANCE_SECONDS) {
    return fail(
      "clock",
      `the newest block is ${-difference} s in the future of the local clock`,
      "Set the clock: run an NTP client such as chrony or systemd-timesyncd.",
    );
  }
  if (difference > CLOCK_TOLERANCE_SECONDS) {
    return warn(
      "clock",
      `the newest block is ${difference} s old by the local clock`,
      "If the chain makes blocks on demand this is no fault; else check the node's peers and the local clock.",
    );
  }
  return ok("clock", `${difference} s from the newest block's`);
}

export async function checkContracts(chain: Chain): Promise<Finding[]> {
  const { game, constants, client } = chain;
  const assay = linked(game.assay, addressLink(game.chainId, game.assay));
  const findings = [ok("contracts", `Assay at ${assay}, answer time ${constants.answerSeconds} s`)];
  const pace = await paceOf(client);
  if (pace !== undefined && constants.answerSeconds < LEAST_BLOCKS_PER_ANSWER * pace) {
    findings.push(
      warn(
        "contracts",
        `the answer time is ${constants.answerSeconds} s, a block comes every ${pace.toFixed(1)} s`,
        "Use a deployment with a longer answer time: a full block or two would make an honest prover late.",
      ),
    );
  }
  const { kind, answerSeconds: forced = 0 } = presetOf(game.chainId) ?? {};
  if (kind !== "local" && constants.answerSeconds < forced) {
    findings.push(
      warn(
        "contracts",
        `the answer time is ${constants.answerSeconds} s, forcing a transaction into ${chainName(game.chainId)} takes up to ${forced} s`,
        "Use a deployment with a longer answer time: whoever orders its transactions could make an honest prover late.",
      ),
    );
  }
  return [...findings, await stateFinding(chain), ...(await found("data fee", () => dataFeeFindings(chain)))];
}

/** @throws BaseError DATA_FEE_UNREADABLE */
async function dataFeeFindings({ dataFee }: Chain): Promise<Finding[]> {
  const fee = await dataFee.read();
  if (fee.kind === "none") return [ok("data fee", "the chain asks nothing for data beside gas")];
  const amount = formatAmount(roundUp(dataFeeOf(fee, 1_024), 4));
  return [ok("data fee", `of kind ${fee.kind}: up to ${amount} for a transaction with 1 KB of calldata`)];
}

/** Mean seconds between the newest blocks; undefined on a chain too short to tell. */
async function paceOf(client: PublicClient): Promise<number | undefined> {
  const head = await client.getBlock();
  if (head.number < PACE_BLOCKS) return undefined;
  const earlier = await client.getBlock({ blockNumber: head.number - PACE_BLOCKS });
  return Number(head.timestamp - earlier.timestamp) / Number(PACE_BLOCKS);
}

/** Daemons read state at a block's hash and events of many blocks: not every node gives both. */
async function stateFinding(chain: Chain): Promise<Finding> {
  const { client, deployment, ranges } = chain;
  try {
    const head = await client.getBlock();
    await new StateReader(chain, head.hash).claimWord(ZERO_HASH as ClaimId);
    await ranges.ask(deployment.block.number, head.number, (fromBlock, toBlock) =>
      client.getLogs({ address: deployment.contracts.assay, fromBlock, toBlock }),
    );
    return ok("node", "gives state at a block's hash, and all events since the deployment");
  } catch (error) {
    const reason = error instanceof BaseError ? error.shortMessage : String(error);
    return fail(
      "node",
      `cannot give what daemons read: ${reason}`,
      "Use a node with eth_call by block hash (EIP-1898) and eth_getLogs back to the deployment.",
    );
  }
}
