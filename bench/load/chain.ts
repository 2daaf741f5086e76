/** A local chain on which many provers claim at once: blocks are made when they are full, and nobody answers. */
import { join } from "node:path";
import { type Hex, keccak256, type LocalAccount, slice } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { claimIdOf, requestIdOf } from "../../protocol/rules/ids.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import { type ClaimId, LANE, type ModelId, type Request, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { startLocalChain } from "../../test/support/anvil.ts";
import { deployLocal, LOCAL_CONSTANTS, QUICK } from "../../test/support/deploy.ts";
import { encodeText } from "../../test/support/sentiment-call.ts";

export const PROVERS = 20;
const MODEL = "sentiment";
const MNEMONIC = "test test test test test test test test test test test junk";
/** Long: no window ends while claims still come. */
export const ANSWER_SECONDS = 3_600;
const CONSTANTS = { ...LOCAL_CONSTANTS, answerSeconds: ANSWER_SECONDS };
const GAS = 300_000n;
const BLOCK_GAS = 2_000_000_000;
/** Blocks come faster than seconds: the base fee is held, else it would grow with each full one. */
const BASE_FEE = 10n ** 8n;

const account = (index: number) => mnemonicToAccount(MNEMONIC, { addressIndex: index });
const REQUESTER = account(1);
export const CHALLENGER_INDEX = 2;
const FIRST_PROVER = 3;
const provers = Array.from({ length: PROVERS }, (_, i) => account(FIRST_PROVER + i));

export interface FiledClaim {
  readonly id: ClaimId;
  readonly isWrong: boolean;
}

export type LoadChain = Awaited<ReturnType<typeof openLoadChain>>;

/** @param folder for the deployment file and the journal; the chain ends with `stop` */
export async function openLoadChain(folder: string) {
  const local = await startLocalChain({ accounts: FIRST_PROVER + PROVERS, gasLimit: BLOCK_GAS });
  try {
    const deployment = await deployLocal(local, CONSTANTS);
    const deploymentPath = join(folder, "deployment.json");
    writeDeployment(deploymentPath, deployment);
    const { rpcUrl, control } = local;
    const chain = requireAccount(await connect({ rpcUrl, deployment, account: REQUESTER }));
    const model = loadModelFolder(modelFolder(MODEL));
    const { sender, close } = openDataFolder(join(folder, "requester"), chain, [], QUICK);
    const { commitment, selector, laneBits: lanes, manifest } = model;
    const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
    const { modelId } = await registerModel(chain, sender, encodeProgram(model.model.program), identity);
    await close();
    const word = await new StateReader(chain).model(modelId);
    if (word === undefined) throw new Error("The model is not registered.");
    await control.setAutomine(false);
    const nonces = new Map<LocalAccount, number>();
    const first = await chain.client.getTransactionCount({ address: REQUESTER.address });
    nonces.set(REQUESTER, first);
    /** Puts a transaction into the pool; in the order of the calls, though nobody waits for the one before. */
    const send = async (from: LocalAccount, { to, data, value }: Action): Promise<void> => {
      const nonce = nonces.get(from) ?? 0;
      nonces.set(from, nonce + 1);
      const { chainId } = chain.game;
      // Signed here: to sign, anvil would compute the pending block anew for each.
      const serializedTransaction = await from.signTransaction({
        type: "eip1559",
        ...{ chainId, nonce, to, data, value, gas: GAS },
        maxFeePerGas: 2n * BASE_FEE,
        maxPriorityFeePerGas: 0n,
      });
      await chain.client.sendRawTransaction({ serializedTransaction });
    };
    const mine = async (): Promise<void> => {
      await control.setNextBlockBaseFeePerGas({ baseFeePerGas: BASE_FEE });
      await control.mine({ blocks: 1 });
    };
    const actions = new Actions(chain.game);
    const openedAt = await local.now();
    const texts = textsOf(model);
    const bonds = bondsOf(CONSTANTS, {
      gasPrice: CONSTANTS.gasPriceFloor,
      depth: word.depth,
      minBond: 0n,
      attempt: 0,
    });
    return {
      ...local,
      chain,
      deploymentPath,
      keyOf: (index: number): Hex => toHex(account(index).getHdKey().privateKey as Uint8Array),
      mine,
      /** An input with its right output. */
      example: { input: texts(0).input, output: texts(0).output(false) },
      /** Asks for the i-th text. */
      ask: async (i: number): Promise<Request> => {
        const { input } = texts(i);
        const request = requestFor(modelId, input, openedAt);
        await send(REQUESTER, actions.request(request, input));
        return request;
      },
      /** Claims its output, or that with a bit turned. */
      claim: async (i: number, request: Request, isWrong: boolean): Promise<FiledClaim> => {
        const prover = provers[i % PROVERS] as LocalAccount;
        const output = texts(i).output(isWrong);
        const { gasPriceFloor: gasPrice } = CONSTANTS;
        await send(prover, actions.claim(request, 0, ZERO_ADDRESS, gasPrice, output, bonds.bond));
        const id = claimIdOf(chain.game, {
          requestId: requestIdOf(chain.game, request),
          modelId: request.modelId,
          attempt: 0,
          prover: prover.address,
          operator: ZERO_ADDRESS,
          outputHash: keccak256(output),
          ...bonds,
          gasPrice,
        });
        return { id, isWrong };
      },
    };
  } catch (error) {
    await local.stop();
    throw error;
  }
}

/** Distinct headlines, so that no answer is there already. */
function textsOf(model: LoadedModel) {
  const prepared = prepare(model.model, model.selector);
  return (i: number) => {
    const calldata = encodeText(model, `Company ${i} reports ${i % 2 === 0 ? "record profit" : "a loss"}`);
    const output = (isWrong: boolean): Hex => {
      const bytes = Uint8Array.from(execute(prepared, calldata));
      if (isWrong) bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1;
      return toHex(bytes);
    };
    return { input: toHex(calldata), output };
  };
}

const requestFor = (modelId: ModelId, input: Hex, now: number): Request => ({
  requester: REQUESTER.address,
  modelId,
  inputHash: keccak256(input),
  lanes: LANE.BOND,
  fee: 10n ** 12n,
  deliveryFee: 0n,
  minBond: 0n,
  window: 4 * ANSWER_SECONDS,
  expiry: now + 86_400,
  exclusiveProver: ZERO_ADDRESS,
  exclusiveUntil: 0,
  callback: ZERO_ADDRESS,
  callbackGas: 0,
  salt: BigInt(slice(keccak256(input), 0, 8)),
});
