/** A chain on which whole programs are registered, published, planned, compiled and run, each in a block of its own that
 *  is simulated and forgotten: some fifteen transactions in one call of the node. */
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbiParameters,
  zeroAddress,
  zeroHash,
} from "viem";
import { concatBytes, fromHex, toHex } from "../../base/bytes.ts";
import { loadArtifacts } from "../../cli/artifacts.ts";
import { type Commitment, commitWeights, programHash } from "../../inference/commit/commitments.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import {
  elementCount,
  judgeVersionOf,
  type Model,
  type Program,
  type Step,
} from "../../inference/program/form.ts";
import { maxCalldata, outputLength } from "../../inference/program/shape.ts";
import type { Artifact, DeployedContract } from "../../protocol/chain/deploy/parts.ts";
import { decodeRevertData } from "../../protocol/chain/errors.ts";
import { buildAction, planCompilation } from "../../protocol/chain/execution/compiled.ts";
import { planPublication } from "../../protocol/chain/execution/publication.ts";
import { chunksOf } from "../../protocol/chain/register.ts";
import {
  iFastInterpreterAbi,
  iInterpreterAbi,
  iLayerBuilderAbi,
  iModelRegistryAbi,
  iPlannerAbi,
  iWeightStoreAbi,
} from "../../protocol/rules/generated/abis.ts";
import { modelIdOf } from "../../protocol/rules/ids.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { type LocalChain, startLocalChain } from "./anvil.ts";
import { createContract } from "./create-contract.ts";
import { dataAddress } from "./data-address.ts";
import { deployLocal } from "./deploy.ts";

/** The ways in which the chain runs a program. */
export const ENGINES = ["weights along", "plain", "planned", "compiled", "planned and compiled"] as const;
export type Engine = (typeof ENGINES)[number];

/** Enough for any program that a test makes, and for 16 MB of memory. */
const GAS = 2_000_000_000;

export interface ProgramChainOptions {
  /** contracts to deploy, by default those of this project */
  readonly artifacts?: Readonly<Record<DeployedContract, Artifact>>;
  /** the contracts are larger than a chain's limit */
  readonly isLarge?: boolean;
  /** of a transaction */
  readonly gas?: number;
}

interface Contracts {
  readonly registry: Address;
  readonly store: Address;
  readonly builder: Address;
  /** runs records, with compiled layers where they are bound */
  readonly records: Address;
  /** plan without compiled layers, and with them */
  readonly planned: readonly [Planned, Planned];
}

interface Planned {
  readonly planner: Address;
  readonly interpreter: Address;
}

/** The one place that knows which contract and function an engine is. */
function runOf(contracts: Contracts, engine: Engine, modelId: ModelId, input: Hex, weights: Hex): Call {
  const abi = iInterpreterAbi;
  const args = [modelId, input] as const;
  const fast = () => encodeFunctionData({ abi: iFastInterpreterAbi, functionName: "inferFast", args });
  const [planned, compiled] = contracts.planned;
  switch (engine) {
    case "weights along": {
      const along = [...args, weights] as const;
      return {
        to: contracts.records,
        data: encodeFunctionData({ abi, functionName: "inferWith", args: along }),
      };
    }
    case "plain":
      return { to: contracts.records, data: encodeFunctionData({ abi, functionName: "infer", args }) };
    case "compiled":
      return {
        to: contracts.records,
        data: encodeFunctionData({ abi, functionName: "inferCompiled", args }),
      };
    case "planned":
      return { to: planned.interpreter, data: fast() };
    case "planned and compiled":
      return { to: compiled.interpreter, data: fast() };
  }
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

interface Returned {
  readonly status: Hex;
  readonly returnData: Hex;
}

/** What an engine made of an input: return data, or the name of the error. */
export interface Outcome {
  readonly engine: Engine;
  readonly input: number;
  readonly output?: Uint8Array;
  readonly revert?: string;
}

export interface Played {
  /** what the registry said against the program, or what stopped it on the way */
  readonly refusal?: string;
  readonly outcomes: readonly Outcome[];
  /** why there is no plan without, and with compiled layers */
  readonly unplanned: readonly (string | undefined)[];
  /** compiled parts */
  readonly parts: number;
}

export class ProgramChain {
  readonly #local: LocalChain;
  readonly #contracts: Contracts;
  readonly #gas: number;
  /** of the blocks that are simulated */
  coinbase: Address = zeroAddress;

  private constructor(local: LocalChain, contracts: Contracts, gas: number) {
    this.#local = local;
    this.#contracts = contracts;
    this.#gas = gas;
  }

  static async open({
    artifacts = loadArtifacts(),
    isLarge = false,
    gas = GAS,
  }: ProgramChainOptions = {}): Promise<ProgramChain> {
    const local = await startLocalChain({
      gasLimit: 10 ** 12,
      largeRequests: true,
      largeContracts: isLarge,
    });
    const { contracts } = await deployLocal(local, undefined, artifacts);
    const { registry, weightStore, layerBuilder, planner, interpreter, fastInterpreter } = contracts;
    const found = { registry, weightStore, layerBuilder, planner, interpreter, fastInterpreter };
    for (const [name, address] of Object.entries(found)) {
      if (address === undefined) throw new Error(`The deployment names no ${name}.`);
    }
    const create = (name: DeployedContract, args: readonly unknown[]) =>
      createContract(local, artifacts[name], args);
    const second = await create("Planner", [weightStore, layerBuilder]);
    const deployed: Contracts = {
      registry,
      store: weightStore as Address,
      builder: layerBuilder as Address,
      records: interpreter as Address,
      planned: [
        { planner: planner as Address, interpreter: fastInterpreter as Address },
        { planner: second, interpreter: await create("FastInterpreter", [interpreter, second]) },
      ],
    };
    return new ProgramChain(local, deployed, gas);
  }

  async close(): Promise<void> {
    await this.#local.stop();
  }

  /** What the registry says to these bytes. @returns the name of its error, undefined if it accepts them */
  async verdict(program: Uint8Array): Promise<string | undefined> {
    const weights = (program[4] ?? 0) + (program[5] ?? 0);
    const root = weights === 0 ? zeroHash : toHex(new Uint8Array(32).fill(1));
    const returned = await this.#simulate(this.#registration(program, root, "0x01020304"));
    return refusalOf(returned.at(-1) as Returned);
  }

  /** Runs a model by every engine. @param inputs calldata */
  async play(model: Model, selector: Uint8Array, inputs: readonly Uint8Array[]): Promise<Played> {
    const commitment = commitWeights(model);
    const modelId = idOf(model.program, commitment, selector);
    const batch = new Batch(this.#contracts, model, modelId, inputs);
    const registration = this.#registration(
      encodeProgram(model.program),
      toHex(commitment.root),
      toHex(selector),
    );
    batch.add("registration", registration);
    const weights = batch.weights;
    batch.run("weights along");
    const addresses = weights.map((chunk) => dataAddress(this.#contracts.store, chunk));
    const { store, builder } = this.#contracts;
    const abi = iWeightStoreAbi;
    batch.add(
      "publication",
      weights.map((chunk) => ({
        to: store,
        data: encodeFunctionData({ abi, functionName: "storeChunk", args: [chunk] }),
      })),
    );
    const args = [modelId, addresses, 2n ** 256n - 1n] as const;
    batch.add("publication", [
      { to: store, data: encodeFunctionData({ abi, functionName: "publish", args }) },
    ]);
    batch.run("plain");
    batch.tryHalts(model.program);
    batch.prepare(0);
    batch.run("planned");
    const { parts } = planCompilation(model.program);
    if (parts.length > 0) {
      const chain = { deployment: { contracts: { layerBuilder: builder } } } as unknown as Parameters<
        typeof buildAction
      >[0];
      batch.add(
        "compilation",
        parts.map((part) => buildAction(chain, modelId, model.program, commitment, part)),
      );
      const bind = encodeFunctionData({ abi: iLayerBuilderAbi, functionName: "bind", args: [modelId] });
      batch.add("compilation", [{ to: builder, data: bind }]);
      batch.run("compiled");
      batch.prepare(1);
      batch.run("planned and compiled");
    }
    return batch.read(await this.#simulate(batch.calls), parts.length);
  }

  #registration(program: Uint8Array, root: Hex, selector: Hex): Call[] {
    const { registry } = this.#contracts;
    const abi = iModelRegistryAbi;
    const chunks = chunksOf(program);
    const stored = chunks.map((chunk) => ({
      to: registry,
      data: encodeFunctionData({ abi, functionName: "storeChunk", args: [chunk] }),
    }));
    const addresses = chunks.map((chunk) => dataAddress(registry, chunk));
    const args = [addresses, root, selector, LANES, zeroHash] as const;
    return [...stored, { to: registry, data: encodeFunctionData({ abi, functionName: "register", args }) }];
  }

  async #simulate(calls: readonly Call[]): Promise<readonly Returned[]> {
    const gas = numberToHex(this.#gas);
    const blocks = [
      {
        blockOverrides: { feeRecipient: this.coinbase },
        calls: calls.map(({ to, data }) => ({ to, data, gas })),
      },
    ];
    const [block] = (await this.#local.client.request({
      method: "eth_simulateV1",
      params: [{ blockStateCalls: blocks, validation: false, traceTransfers: false }, "latest"],
    } as never)) as [{ calls: Returned[] }];
    return block.calls;
  }
}

/** Steps of a program by which it is asked to be halted, about. */
const HALTS = 4;
const LANES = LANE.EXECUTION | LANE.BOND;
const OUTPUT = parseAbiParameters("bytes output");

/** The transactions of one program, and what each is for. */
class Batch {
  readonly calls: Call[] = [];
  /** chunks of the stream */
  readonly weights: readonly Hex[];
  readonly #contracts: Contracts;
  readonly #modelId: ModelId;
  readonly #stream: Hex;
  readonly #inputs: readonly Hex[];
  readonly #purposes: Purpose[] = [];

  constructor(contracts: Contracts, model: Model, modelId: ModelId, inputs: readonly Uint8Array[]) {
    this.#contracts = contracts;
    this.#modelId = modelId;
    this.#inputs = inputs.map(toHex);
    this.#stream = toHex(concatBytes(...model.weights));
    this.weights = planPublication(model).chunks.map(toHex);
  }

  add(phase: string, calls: readonly Call[]): void {
    for (const { to, data } of calls) {
      this.calls.push({ to, data });
      this.#purposes.push({ phase });
    }
  }

  run(engine: Engine): void {
    this.#inputs.forEach((input, i) => {
      this.calls.push(runOf(this.#contracts, engine, this.#modelId, input, this.#stream));
      this.#purposes.push({ engine, input: i });
    });
  }

  /** Asks to halt the model by some of its elements, all of which are right. */
  tryHalts({ steps }: Program): void {
    const apart = Math.ceil(steps.length / HALTS);
    for (let step = (steps.length - 1) % apart; step < steps.length; step += apart) {
      const { opcode, dims } = steps[step] as Step;
      const element = opcode === "codec" ? 0 : (step * 40_503) % elementCount(dims);
      const input = this.#inputs[step % this.#inputs.length] as Hex;
      const args = [this.#modelId, input, BigInt(step), BigInt(element)] as const;
      const data = encodeFunctionData({ abi: iInterpreterAbi, functionName: "haltExecution", args });
      this.calls.push({ to: this.#contracts.records, data });
      this.#purposes.push({ halt: `${opcode}, step ${step}, element ${element}` });
    }
    const { dims } = steps.at(-1) as Step;
    const element = 40_503 % elementCount(dims);
    const args = [this.#modelId, this.#inputs[0] as Hex, BigInt(element)] as const;
    const data = encodeFunctionData({ abi: iInterpreterAbi, functionName: "haltOutput", args });
    this.calls.push({ to: this.#contracts.records, data });
    this.#purposes.push({ halt: `output, element ${element}` });
  }

  prepare(plan: 0 | 1): void {
    const { planner } = this.#contracts.planned[plan];
    const args = [this.#modelId] as const;
    this.calls.push({
      to: planner,
      data: encodeFunctionData({ abi: iPlannerAbi, functionName: "prepare", args }),
    });
    this.#purposes.push({ plan });
  }

  read(returned: readonly Returned[], parts: number): Played {
    const outcomes: Outcome[] = [];
    const unplanned: (string | undefined)[] = [];
    for (const [i, purpose] of this.#purposes.entries()) {
      const { status, returnData } = returned[i] as Returned;
      const revert = refusalOf({ status, returnData });
      if ("phase" in purpose) {
        if (revert !== undefined) {
          return { refusal: `${purpose.phase}: ${revert}`, outcomes, unplanned, parts };
        }
      } else if ("halt" in purpose) {
        if (revert?.startsWith("NoDifference") !== true) {
          return { refusal: `halt by ${purpose.halt}: ${revert ?? "halted"}`, outcomes, unplanned, parts };
        }
      } else if ("plan" in purpose) {
        unplanned[purpose.plan] = revert;
      } else if (unplanned[planOf(purpose.engine)] === undefined) {
        // Without a plan its interpreter asks the plain one.
        const { engine, input } = purpose;
        outcomes.push(
          revert === undefined ? { engine, input, output: outputOf(returnData) } : { engine, input, revert },
        );
      }
    }
    return { outcomes, unplanned, parts };
  }
}

type Purpose =
  | { readonly phase: string }
  | { readonly plan: 0 | 1 }
  | { readonly halt: string }
  | { readonly engine: Engine; readonly input: number };

const planOf = (engine: Engine): number => ["planned", "planned and compiled"].indexOf(engine);

const refusalOf = ({ status, returnData }: Returned): string | undefined =>
  status === "0x1" ? undefined : decodeRevertData(returnData).message;

/** Return data of a view: offset and length, then the bytes. Anything else is taken as it is, to differ. */
function outputOf(data: Hex): Uint8Array {
  const bytes = fromHex(data);
  const length = bytes.length < 64 ? -1 : Number(BigInt(toHex(bytes.subarray(32, 64))));
  const output = bytes.subarray(64, 64 + length);
  const padded = bytes.length >= 64 + length && encodeAbiParameters(OUTPUT, [toHex(output)]);
  return padded === data ? output : bytes;
}

function idOf(program: Program, { root }: Commitment, selector: Uint8Array): ModelId {
  return modelIdOf({
    programHash: programHash(program),
    weightsRoot: root,
    maxCalldata: maxCalldata(program),
    outputLength: outputLength(program),
    judgeVersion: judgeVersionOf(program),
    selector,
    lanes: LANES,
    vkHash: new Uint8Array(32),
  });
}
