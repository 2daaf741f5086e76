/** Requests, claims and whole disputes, move by move on a local chain that makes a block for each transaction. */
import { join } from "node:path";
import { keccak256, type LocalAccount } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { ClaimedTrace } from "../../challenger/claimed-trace.ts";
import { interrogate, type OwnTrace, type Question } from "../../challenger/interrogate.ts";
import { type DishonestRun, falsify, parseFault } from "../../cli/demo/dishonest/faults.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import type { Opening } from "../../inference/commit/openings.ts";
import { encodePosition } from "../../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Tensor } from "../../inference/program/form.ts";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import { connect } from "../../protocol/chain/connect.ts";
import type { Deployment } from "../../protocol/chain/deployment.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { claimIdOf, requestIdOf } from "../../protocol/rules/ids.ts";
import { bondsOf, gasPriceRange } from "../../protocol/rules/money.ts";
import { type Claim, LANE, type ModelId, type Request, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { accountAt, type LocalChain } from "./anvil.ts";
import { QUICK } from "./deploy.ts";

const OWNERS = { requester: 1, prover: 2, challenger: 3 } as const;
export type Player = keyof typeof OWNERS;
export const playerAddress = (player: Player) => accountAt(OWNERS[player]).address;

export type PlayedClaims = Awaited<ReturnType<typeof openPlayedClaims>>;

/** Registers the model, and opens senders of all players. @param folder for their journals */
export async function openPlayedClaims(
  local: LocalChain,
  deployment: Deployment,
  folder: string,
  model: LoadedModel,
) {
  const open = async (player: Player, account: LocalAccount) => {
    const chain = requireAccount(
      await connect({ rpcUrl: local.rpcUrl, deployment, account, timeoutMs: 60_000 }),
    );
    return { chain, ...openDataFolder(join(folder, player), chain, [], QUICK) };
  };
  const players = {
    requester: await open("requester", accountAt(OWNERS.requester)),
    prover: await open("prover", accountAt(OWNERS.prover)),
    challenger: await open("challenger", accountAt(OWNERS.challenger)),
  };
  const { chain } = players.requester;
  const actions = new Actions(chain.game);
  const { commitment, selector, laneBits: lanes, manifest } = model;
  const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
  const { modelId } = await registerModel(
    chain,
    players.requester.sender,
    encodeProgram(model.model.program),
    identity,
  );
  const word = await new StateReader(chain).model(modelId);
  if (word === undefined) throw new Error("The model is not registered.");
  const prepared = prepare(model.model, selector);
  const weights = commitWeights(model.model);
  let salt = 0n;

  const move = async (player: Player, action: Action): Promise<void> => {
    const result = await players[player].sender.send(action);
    if (result.status !== "sent") throw new Error(`The ${player}'s ${action.key} is ${result.status}.`);
  };

  /** The honest run of an input. */
  const honest = (calldata: Uint8Array) => {
    const tensors = trace(prepared, calldata);
    const own: OwnTrace = {
      program: prepared.program,
      trace: commitTrace(prepared.program, tensors),
      weights,
      constant: (operand) => prepared.constant(operand),
    };
    return { own, output: encodeOutput(prepared.program, tensors.at(-1) as Tensor) };
  };

  const request = async (calldata: Uint8Array, changes: Partial<Request> = {}): Promise<Request> => {
    const input = toHex(calldata);
    salt += 1n;
    const filed: Request = {
      requester: chain.account.address,
      modelId: modelId as ModelId,
      inputHash: keccak256(input),
      lanes: LANE.BOND,
      fee: 10n ** 16n,
      deliveryFee: 0n,
      minBond: 0n,
      window: 4 * chain.constants.answerSeconds,
      expiry: (await local.now()) + 86_400,
      exclusiveProver: ZERO_ADDRESS,
      exclusiveUntil: 0,
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt,
      ...changes,
    };
    await move("requester", actions.request(filed, input));
    return filed;
  };

  const claim = async (filed: Request, output: Uint8Array, attempt = 0): Promise<Claim> => {
    const { baseFeePerGas } = await chain.client.getBlock();
    const gasPrice = gasPriceRange(chain.constants, baseFeePerGas ?? 0n).greatest;
    const bonds = bondsOf(chain.constants, { ...filed, gasPrice, depth: word.depth, attempt });
    await move("prover", actions.claim(filed, attempt, ZERO_ADDRESS, gasPrice, toHex(output), bonds.bond));
    return {
      requestId: requestIdOf(chain.game, filed),
      modelId: filed.modelId,
      attempt,
      prover: players.prover.chain.account.address,
      operator: ZERO_ADDRESS,
      outputHash: keccak256(output),
      ...bonds,
      gasPrice,
    };
  };

  const convict = (
    filed: Request,
    made: Claim,
    calldata: Uint8Array,
    question: Exclude<Question, { kind: "demand" }>,
  ) => {
    const opened = ({ words, path }: Opening) => ({ words: words.map(toHex), path: path.map(toHex) });
    switch (question.kind) {
      case "element":
        return actions.convictElement(made, question.step, question.element, question.openings.map(opened));
      case "codec":
        return actions.convictCodec(
          ...([
            filed,
            made,
            question.step,
            toHex(calldata),
            toHex(question.root),
            question.path.map(toHex),
          ] as const),
        );
      case "output":
        return actions.convictOutput(
          made,
          toHex(question.output),
          question.element,
          question.openings.map(opened),
        );
    }
  };

  /** A ticket, the trace, demands and reveals, down to the conviction. */
  const dispute = async (filed: Request, made: Claim, calldata: Uint8Array, cheat: DishonestRun) => {
    const { own } = honest(calldata);
    await move("challenger", actions.challenge(made));
    await move("prover", actions.commitTrace(made, topsOf(cheat.trace).map(toHex)));
    const claimed = new ClaimedTrace(traceShapes(prepared.program), topsOf(cheat.trace));
    for (;;) {
      const question = interrogate(own, claimed, cheat.output);
      if (question.kind !== "demand") {
        await move("challenger", convict(filed, made, calldata, question));
        return question;
      }
      const position = encodePosition(question.position);
      await move("challenger", actions.demand(made, toHex(cheat.trace.root), position));
      const { content, path } = revealAt(cheat.trace, question.position);
      await move("prover", actions.reveal(made, position, content.map(toHex), path.map(toHex)));
      claimed.addReveal(question.position, content);
    }
  };

  return {
    chain,
    actions,
    modelId,
    players,
    move,
    honest,
    request,
    claim,
    dispute,
    idOf: (made: Claim) => claimIdOf(chain.game, made),
    /** @param fault as a dishonest prover's `--fault` */
    cheat: (calldata: Uint8Array, fault: string): DishonestRun =>
      falsify(prepared, calldata, parseFault(fault)),
    close: async () => {
      for (const { close } of Object.values(players)) await close();
    },
  };
}
