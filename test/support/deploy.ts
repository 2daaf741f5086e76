/** A deployed system on a local chain, and a model small enough to read. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Hex, keccak256, type LocalAccount, numberToHex, slice } from "viem";
import { toHex } from "../../base/bytes.ts";
import { loadArtifacts } from "../../cli/artifacts.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { type Model, NONE } from "../../inference/program/form.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { deploySystem } from "../../protocol/chain/deploy.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { requireAccount, type SenderOptions } from "../../protocol/chain/sender.ts";
import {
  type GameConstants,
  LANE,
  type ModelId,
  type Request,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { accountAt, type LocalChain } from "./anvil.ts";

export const LOCAL_CONSTANTS: GameConstants = {
  answerSeconds: 5,
  gasPriceFloor: 10n ** 9n,
  gasBase: 145_000n,
  gasPerDemand: 122_000n,
};
/** Fast polls: local answers take a millisecond. */
export const QUICK: SenderOptions = { pollIntervalMs: 20 };

let deployed = 0n;

/** Deploys a system that no test of this file had before. */
export function deployLocal(
  { client }: LocalChain,
  constants = LOCAL_CONSTANTS,
  artifacts = loadArtifacts(),
) {
  const salt = numberToHex(deployed++, { size: 32 });
  return deploySystem({ client, account: accountAt(0), artifacts, constants, salt, pollIntervalMs: 20 });
}

/** A fresh folder below the system's temporary one. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "assay-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** raw(bytes) of four bytes to the same four bytes, in one step. */
export const TINY_MODEL: Model = {
  program: {
    inputCodec: "raw",
    outputCodec: "raw",
    inputSize: 4,
    weights: [],
    steps: [
      {
        opcode: "codec",
        variant: 4,
        type: "u8",
        dims: [1, 4],
        a: NONE,
        b: NONE,
        c: NONE,
        k: 0,
        coordinates: [],
      },
    ],
  },
  weights: [],
};
export const TINY_SELECTOR = Uint8Array.of(0xaa, 0xbb, 0xcc, 0xdd);
export const TINY_IDENTITY = {
  ...commitModel(TINY_MODEL),
  selector: TINY_SELECTOR,
  lanes: LANE.BOND,
  vkHash: new Uint8Array(32),
};

export function tinyInput(bytes: readonly number[]): Hex {
  return toHex(
    encodeInput(TINY_MODEL.program, TINY_SELECTOR, { codec: "raw", bytes: Uint8Array.from(bytes) }),
  );
}

/** A system with the tiny model registered and a sender for an account. */
export async function openLocalSystem(
  chain: LocalChain,
  account: LocalAccount = accountAt(1),
  options: SenderOptions = QUICK,
  constants: GameConstants = LOCAL_CONSTANTS,
  artifacts = loadArtifacts(),
) {
  const deployment = await deployLocal(chain, constants, artifacts);
  const connected = requireAccount(await connect({ rpcUrl: chain.rpcUrl, deployment, account }));
  const folder = temporaryFolder();
  const { sender, db, close } = openDataFolder(folder.path, connected, [], options);
  const { modelId } = await registerModel(
    connected,
    sender,
    encodeProgram(TINY_MODEL.program),
    TINY_IDENTITY,
  );
  const closeAll = async () => {
    await close();
    folder.remove();
  };
  return { chain: connected, deployment, sender, db, modelId, folder: folder.path, close: closeAll };
}

/** A valid request of the account for the tiny model. */
export function tinyRequest(
  requester: LocalAccount,
  modelId: ModelId,
  input: Hex,
  now: number,
  changes: Partial<Request> = {},
): Request {
  return {
    requester: requester.address,
    modelId,
    inputHash: keccak256(input),
    lanes: LANE.BOND,
    fee: 1_000n,
    deliveryFee: 0n,
    minBond: 0n,
    window: 20,
    expiry: now + 3_600,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: BigInt(slice(keccak256(input), 0, 8)),
    ...changes,
  };
}
