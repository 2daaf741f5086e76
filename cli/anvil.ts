/** A local chain: anvil from its npm package, as a child process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createTestClient, http } from "viem";
import { BaseError } from "../base/errors.ts";
import { foundryBinary } from "../tools/foundry.ts";

export interface AnvilOptions {
  /** 0 or absent: any free port */
  readonly port?: number;
  readonly chainId?: number;
  /** seconds between blocks; absent: a block for each transaction, at once */
  readonly blockTimeSeconds?: number;
  /** gas of a block; default 60,000,000 */
  readonly gasLimit?: number;
  /** accounts with ether; default 10 */
  readonly accounts?: number;
  /** file to load the chain from and save it to */
  readonly state?: string;
  readonly startTimeoutMs?: number;
  /** takes requests of more than 2 MB */
  readonly largeRequests?: boolean;
  /** deploys contracts of any size */
  readonly largeContracts?: boolean;
  /** rules of the chain; default prague */
  readonly hardfork?: "london" | "cancun" | "prague";
}

export interface Anvil {
  readonly rpcUrl: string;
  readonly pid: number;
  /** Resolves when the process has ended, by itself or by `stop`. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** The first keys of anvil's public test mnemonic: worthless outside local chains. */
export const ANVIL_KEYS = [
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
  "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
  "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
  "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
  "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
  "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
] as const;

const STOP_TIMEOUT_MS = 5_000;
/** Old states in memory. Each is a whole copy: with more on disk, or all of them in the file of --state, an hour of
 *  blocks a second takes gigabytes. Usual nodes keep 128. */
const KEPT_STATES = 256;

/** Starts anvil and waits until it listens. It ends with this process.
 *  @throws BaseError ANVIL_FAILED with anvil's last words: a port that is taken, a bad state file */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const child = spawn(foundryBinary("anvil"), argumentsOf(options), { stdio: ["ignore", "pipe", "pipe"] });
  const killWithParent = () => child.kill("SIGKILL");
  process.once("exit", killWithParent);
  const ended = once(child, "exit").then(() => {
    process.removeListener("exit", killWithParent);
  });
  const words: string[] = [];
  const address = await Promise.race([
    listening(child, words),
    ended.then(() => undefined),
    once(child, "error").then(() => undefined),
    new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), options.startTimeoutMs ?? 60_000).unref();
    }),
  ]);
  if (address === undefined || child.pid === undefined) {
    child.kill("SIGKILL");
    throw new BaseError({
      code: "ANVIL_FAILED",
      shortMessage: `anvil did not start${options.port ? ` on port ${options.port}` : ""}: ${words.slice(-5).join(" ") || "no message"}.`,
      nextStep: "Free the port or name another with --port; if anvil is missing, run npm ci.",
    });
  }
  const rpcUrl = `http://${address}`;
  if (options.blockTimeSeconds !== undefined) mineEach(options.blockTimeSeconds, rpcUrl, ended);
  const stop = async () => {
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(kill);
  };
  return { rpcUrl, pid: child.pid, ended, stop };
}

function argumentsOf(options: AnvilOptions): string[] {
  const {
    port = 0,
    chainId = 31337,
    blockTimeSeconds,
    gasLimit = 60_000_000,
    accounts = 10,
    state,
    largeRequests = false,
    largeContracts = false,
  } = options;
  const args = ["--host", "127.0.0.1", "--port", `${port}`, "--chain-id", `${chainId}`];
  // Prague as in foundry.toml. It has no limit of a transaction's gas (EIP-7825 is Osaka's): whoever builds one keeps to
  // MAX_TRANSACTION_GAS.
  args.push("--hardfork", options.hardfork ?? "prague");
  args.push("--gas-limit", `${gasLimit}`, "--accounts", `${accounts}`, "--prune-history", `${KEPT_STATES}`);
  if (blockTimeSeconds !== undefined) args.push("--no-mining");
  if (state !== undefined) args.push("--state", state);
  if (largeRequests) args.push("--no-request-size-limit");
  if (largeContracts) args.push("--disable-code-size-limit");
  return args;
}

/** Makes a block each so many seconds. By anvil's own --block-time it would keep every state, whatever --prune-history
 *  says: a gigabyte of memory an hour. */
function mineEach(seconds: number, rpcUrl: string, ended: Promise<void>): void {
  const control = createTestClient({ mode: "anvil", transport: http(rpcUrl, { retryCount: 0 }) });
  let isMining = false;
  const timer = setInterval(async () => {
    if (isMining) return;
    isMining = true;
    // One that fails, as when the chain is stopped or too busy, leaves its transactions to the next.
    await control.mine({ blocks: 1 }).catch(() => undefined);
    isMining = false;
  }, 1_000 * seconds);
  void ended.then(() => clearInterval(timer));
}

/** Resolves with host and port once anvil has printed them; keeps reading, or the pipe would fill. */
function listening(child: ChildProcess, words: string[]): Promise<string> {
  return new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        if (words.length < 200) words.push(line.trim());
        const address = /Listening on ([\d.]+:\d+)/.exec(line)?.[1];
        if (address !== undefined) resolve(address);
      });
    }
  });
}
