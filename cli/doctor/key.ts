/** Checks of the key and its money. */
import { statSync } from "node:fs";
import type { Address, LocalAccount } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { nodeClient } from "../../protocol/chain/quorum/connect.ts";
import { holdsKey, type RemoteSigner } from "../../protocol/chain/remote-signer.ts";
import type { SigningChain } from "../../protocol/chain/sender.ts";
import { bondsOf, gasPriceRange } from "../../protocol/rules/money.ts";
import type { ChainConfig } from "../chain.ts";
import { type Finding, fail, found, ok, warn } from "./finding.ts";

/** Depth of a dispute about a model of usual size: what the balance is compared with. */
const USUAL_DEPTH = 3;

export async function checkKey(account: LocalAccount | undefined, config: ChainConfig): Promise<Finding[]> {
  if (account !== undefined) {
    const { signer: url } = config;
    const { address, source } = account;
    const held = url === undefined || source !== "custom" ? [] : await checkSigner({ url, address });
    return [ok("key", `is that of ${address}`), ...held, ...secretFiles(config)];
  }
  return [
    warn(
      "key",
      "none is configured: only `assay challenger watch` and reading work",
      "Set ASSAY_KEY, or --keystore with --keystore-password-file; `assay key new` makes one.",
    ),
  ];
}

/** What a daemon says at its start: a key without money, or one that its signer does not hold, would else be noticed at
 *  the first transaction. It starts all the same, for either may be mended while it runs. */
export async function warnOfKey(chain: SigningChain, config: ChainConfig, log: Logger): Promise<void> {
  const { account } = chain;
  const findings = [
    ...(await found("key", () => checkKey(account, config))),
    ...(await found("balance", () => checkBalance(chain, account.address))),
  ];
  for (const { subject, status, text, nextStep } of findings) {
    if (status === "fail") log.error({ subject, nextStep }, text);
    if (status === "warn") log.warn({ subject, nextStep }, text);
  }
}

async function checkSigner(signer: RemoteSigner): Promise<Finding[]> {
  try {
    if (await holdsKey(signer)) return [ok("key", "the signer holds it")];
    return [
      fail(
        "key",
        `the signer does not hold the key of ${signer.address}`,
        "Give it that key, or correct --signer-address (ASSAY_SIGNER_ADDRESS).",
      ),
    ];
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    const { code, shortMessage, nextStep } = error;
    if (code !== "SIGNER_REFUSED") return [fail("key", shortMessage, nextStep)];
    return [warn("key", `whether the signer holds it cannot be told. ${shortMessage}`, nextStep ?? "")];
  }
}

export async function checkBalance({ client, constants }: Chain, address: Address): Promise<Finding[]> {
  const [balance, mined, pending, block] = await Promise.all([
    client.getBalance({ address }),
    client.getTransactionCount({ address, blockTag: "latest" }),
    client.getTransactionCount({ address, blockTag: "pending" }),
    client.getBlock(),
  ]);
  const { least: gasPrice } = gasPriceRange(constants, block.baseFeePerGas ?? 0n);
  const { bond, ticketBond } = bondsOf(constants, { gasPrice, depth: USUAL_DEPTH, minBond: 0n, attempt: 0 });
  const text = `${address} has ${formatAmount(balance)}; now a claim takes about ${formatAmount(bond)}, a ticket ${formatAmount(ticketBond)}`;
  const findings = [
    balance < ticketBond
      ? fail("balance", text, "Send ether to it, or lower --max-fee where the chain's fees are lower.")
      : balance < bond
        ? warn("balance", text, "It can challenge and not claim: send ether to it if it is a prover's.")
        : ok("balance", text),
  ];
  if (pending > mined) {
    findings.push(
      warn(
        "key",
        `${pending - mined} of its transactions wait to be mined`,
        "Use the key in one process only; a running daemon raises the fee of what is stuck.",
      ),
    );
  }
  return findings;
}

/** Without a deployment nobody knows what bonds take; that there is nothing at all can be told. */
export async function checkBalanceAlone(config: ChainConfig, address: Address): Promise<Finding[]> {
  const client = nodeClient(config);
  const balance = await withContext("read the balance", () => client.getBalance({ address }));
  const text = `${address} has ${formatAmount(balance)}`;
  return [
    balance === 0n
      ? fail("balance", text, "Send ether to it: deploying, claims and tickets all take some.")
      : ok("balance", text),
  ];
}

/** Files that hold secrets must be their owner's alone. */
export function secretFiles({ keystore, keystorePasswordFile }: ChainConfig): Finding[] {
  if (process.platform === "win32") return [];
  return [keystore, keystorePasswordFile].flatMap((path) => {
    if (path === undefined) return [];
    const mode = statSync(path).mode & 0o777;
    if ((mode & 0o077) === 0) return [ok("key", `${path} is readable by its owner alone`)];
    return [warn("key", `${path} has mode ${mode.toString(8)}`, `Run \`chmod 600 ${path}\`.`)];
  });
}
