/** A malicious challenger: a scripted account that disputes an honest claim as far as the rules allow. */
import type { LocalAccount } from "viem";
import { toHex } from "../../base/bytes.ts";
import { type Commitment, commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { openElement } from "../../inference/commit/openings.ts";
import { demandPath, encodePosition } from "../../inference/commit/positions.ts";
import { revealAt, traceShapes } from "../../inference/commit/reveal.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { isStep, type Tensor } from "../../inference/program/form.ts";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import type { Sender, SendResult } from "../../protocol/chain/sender.ts";
import type { Claim } from "../../protocol/rules/types.ts";
import type { Case } from "./cases.ts";
import type { Args } from "./event-log.ts";
import type { System } from "./system.ts";

/** A step of models/sentiment whose tensor takes as many demands as a ticket has. */
const STEP = 1;

export class MaliciousChallenger {
  readonly account: LocalAccount;
  readonly #sender: Sender;
  readonly #actions: Actions;
  readonly #claim: Claim;
  readonly #own: { readonly tensors: readonly Tensor[]; readonly trace: Commitment };
  readonly #model: LoadedModel;

  /** @param own an account that no other suit uses at the same time */
  constructor(
    own: Awaited<ReturnType<System["open"]>>,
    { claim }: Args<"Claimed">,
    { model, calldata }: Pick<Case, "model" | "calldata">,
  ) {
    this.account = own.chain.account;
    this.#sender = own.sender;
    this.#actions = new Actions(own.chain.game);
    this.#claim = claim;
    this.#model = model;
    const tensors = trace(prepare(model.model, model.selector), calldata);
    this.#own = { tensors, trace: commitTrace(model.model.program, tensors) };
  }

  async challenge(): Promise<void> {
    await this.#must(this.#actions.challenge(this.#claim));
  }

  /** Demands everything on the way to a word, all of it at once.
   *  @returns each position with the content that only an honest trace has there */
  async demandAll(root: `0x${string}`): Promise<{ position: bigint; content: readonly string[] }[]> {
    const path = demandPath(traceShapes(this.#model.model.program), STEP, 0);
    await Promise.all(
      path.map((position) => this.#must(this.#actions.demand(this.#claim, root, encodePosition(position)))),
    );
    return path.map((position) => ({
      position: encodePosition(position),
      content: revealAt(this.#own.trace, position).content.map(toHex),
    }));
  }

  /** One demand more than the ticket has. */
  async demandTooMuch(root: `0x${string}`): Promise<SendResult> {
    return this.#sender.send(
      this.#actions.demand(this.#claim, root, encodePosition({ step: 2, level: 7, index: 0 })),
    );
  }

  /** Shows the judge an element of the honest trace as if it were wrong. */
  async convict(): Promise<SendResult> {
    const { program } = this.#model.model;
    const prepared = prepare(this.#model.model, this.#model.selector);
    const { tensors, trace: own } = this.#own;
    const openings = openElement(program, STEP, 0, own, commitWeights(this.#model.model), (operand) =>
      isStep(operand) ? (tensors[operand] as Tensor).data : prepared.constant(operand),
    );
    const hexes = (words: readonly Uint8Array[]) => words.map(toHex);
    const shown = openings.map(({ words, path }) => ({ words: hexes(words), path: hexes(path) }));
    return this.#sender.send(this.#actions.convictElement(this.#claim, STEP, 0, shown));
  }

  async collect(): Promise<SendResult> {
    return this.#sender.send(this.#actions.collect(this.#claim, this.account.address));
  }

  async #must(action: Action): Promise<void> {
    const result = await this.#sender.send(action);
    if (result.status !== "sent" && result.status !== "already-done")
      throw new Error(`${action.key} is not on the chain: ${result.status}.`);
  }
}
