/** How the layer builder cuts a DOT step into parts: the TypeScript side of
 *  verifier-contracts/execution/compiled/Parts.sol, which tests compare it with. */
import {
  lastDim,
  type Program,
  type Step,
  type WeightDescriptor,
  weightIndex,
} from "../../../inference/program/form.ts";
import { weightShape } from "../../../inference/program/shape.ts";

/** Elements of a slice, and of a block. */
const SLICE = 30;
const BLOCK = 150;
/** Most bytes of a contract's code. Source: EIP-170. */
const MAX_CODE = 24_576;
/** Most bytes that the assembler emits; Parts.sol says for what. */
const MOST = { frame: 150, slice: 30, block: 110, group: 90, rowBlock: 14, row: 75, product: 34 } as const;
/** What it usually emits. */
const USUAL = { frame: 105, slice: 26, block: 15, rowBlock: 7, row: 42 } as const;

export interface Layer {
  /** N */
  readonly rows: number;
  /** rows of each part but the last */
  readonly partRows: number;
  /** real words of a weight row */
  readonly rowWords: number;
  /** product sums of a row */
  readonly products: number;
  /** usual bytes of a part of so many rows, if no weights are zero */
  codeBytes(rows: number): number;
}

/** Product sums that K elements need: three a slice, none without an element. */
function productsOf(length: number): number {
  return 3 * Math.floor(length / SLICE) + Math.min(3, length % SLICE);
}

/** @param step DOT of variant s32 or integer */
export function layerOf(program: Program, step: Step): Layer {
  const weights = program.weights[weightIndex(step.b)] as WeightDescriptor;
  const { rows, words } = weightShape(weights);
  const length = lastDim(weights.dims);
  const groups = step.k;
  const slices = Math.ceil(length / SLICE);
  const blocks = Math.ceil(length / BLOCK);
  const products = productsOf(length);
  const perGroup = rows / groups;
  const group = MOST.group + MOST.slice * slices + MOST.block * blocks;
  const row = MOST.row + MOST.rowBlock * blocks + MOST.product * products;
  const most =
    groups === 1
      ? (MAX_CODE - MOST.frame - group) / row
      : (MAX_CODE - MOST.frame - 2 * group) / (row + Math.ceil(group / perGroup));
  const codeBytes = (count: number): number => {
    const read = Math.min(groups, Math.ceil(count / perGroup));
    const ofGroup = USUAL.slice * slices + USUAL.block * blocks;
    // The last slice's lane words are shorter where their top lane is positive: half of them.
    const last = length % SLICE;
    const constants = MOST.product * products - Math.min(3, last) * 15 + 1.5 * last;
    return Math.round(
      USUAL.frame + read * ofGroup + count * (USUAL.row + USUAL.rowBlock * blocks + constants),
    );
  };
  return { rows, partRows: Math.min(rows, Math.floor(most)), rowWords: words, products, codeBytes };
}
