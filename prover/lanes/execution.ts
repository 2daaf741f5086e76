/** The EXECUTION lane as a method of settling: the chain runs the model, the evidence is empty. */
import { encodeFunctionData, type Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import type { Canonical } from "../../inference/runtime/canonical-pool.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { MAX_SETTLING_RUN_GAS } from "../../protocol/chain/execution/cost.ts";
import { iInterpreterAbi, iWeightStoreAbi } from "../../protocol/rules/generated/abis.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { GAS } from "../costs.ts";
import type { TruthTerms } from "../decide.ts";
import { hasProgram, type ServedModel, type ServedProgram } from "../models.ts";
import type { Truth, TruthSource } from "./source.ts";

/** Inputs that an execution's gas is asked for: two that are usual, two of the whole range. */
const SEEDS = [0, 1, 2, 3];
/** Gas of a transaction before its first instruction. Source: EIP-2718. */
const TRANSACTION_GAS = 21_000n;

/** Models whose weights are published on this chain. */
export class ExecutionSource implements TruthSource {
  readonly method = "execution";
  readonly lane = LANE.EXECUTION;
  readonly #chain: Chain;
  readonly #canonical: Canonical;
  readonly #log: Logger;
  /** Of a run's settlement; undefined for models whose runs take more than the lane settles by. */
  readonly #gas = new Map<ModelId, bigint | undefined>();

  constructor(chain: Chain, canonical: Canonical, log: Logger) {
    this.#chain = chain;
    this.#canonical = canonical;
    this.#log = log;
  }

  async refresh(models: Iterable<ServedModel>): Promise<void> {
    const { weightStore, interpreter } = this.#chain.deployment.contracts;
    if (weightStore === undefined || interpreter === undefined) return;
    for (const model of models) {
      if (!hasProgram(model) || (model.lanes & LANE.EXECUTION) === 0) continue;
      try {
        if (await this.#isHalted(model, interpreter)) continue;
        if (this.#gas.has(model.id)) continue;
        const published = await this.#chain.client.readContract({
          address: weightStore,
          abi: iWeightStoreAbi,
          functionName: "isPublished",
          args: [model.id],
        });
        if (published) this.#gas.set(model.id, await this.#settlementGas(model, interpreter));
      } catch (error) {
        this.#log.warn(
          { model: model.name, reason: String(error) },
          "the gas of an execution is not known yet",
        );
      }
    }
  }

  terms(model: ServedModel): TruthTerms | undefined {
    const gas = this.#gas.get(model.id);
    return gas === undefined ? undefined : { method: this.method, lane: this.lane, gas };
  }

  async prove(model: ServedModel, calldata: Uint8Array, signal: AbortSignal): Promise<Truth> {
    if (!hasProgram(model)) throw new TypeError(`${model.name} has no program`);
    return { output: toHex(await this.#canonical.output(model.id, calldata, { signal })), evidence: "0x" };
  }

  /** Somebody showed that the chain computes another element than the judge: no request is settled by it any more. */
  async #isHalted({ id, name }: ServedProgram, address: Hex): Promise<boolean> {
    const call = { address, abi: iInterpreterAbi, functionName: "isHalted", args: [id] } as const;
    if (!(await this.#chain.client.readContract(call))) return false;
    if (this.#gas.delete(id)) this.#log.warn({ model: name }, "the model's execution on chain is halted");
    return true;
  }

  async #settlementGas(model: ServedProgram, interpreter: Hex): Promise<bigint | undefined> {
    const gas = await this.#gasOf(model, interpreter);
    if (gas <= MAX_SETTLING_RUN_GAS) return gas + GAS.settle;
    const { name } = model;
    this.#log.warn(
      { model: name, gas, limit: MAX_SETTLING_RUN_GAS },
      "a run takes more gas than settles a request",
    );
    return undefined;
  }

  /** Of a run: the dearest of some inputs, as the node estimates them. */
  async #gasOf({ id, prepared }: ServedProgram, interpreter: Hex): Promise<bigint> {
    const estimates = await Promise.all(
      SEEDS.map((seed) => {
        const input = toHex(selfTestCalldata(prepared.program, prepared.selector, seed));
        const data = encodeFunctionData({ abi: iInterpreterAbi, functionName: "infer", args: [id, input] });
        return this.#chain.client.estimateGas({ to: interpreter, data });
      }),
    );
    let dearest = 0n;
    for (const gas of estimates) if (gas > dearest) dearest = gas;
    return dearest - TRANSACTION_GAS;
  }
}
