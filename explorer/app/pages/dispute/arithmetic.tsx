import type { Conviction } from "../../../api/types.ts";

type ElementFault = Extract<NonNullable<Conviction["fault"]>, { kind: "ELEMENT" }>;
type Arithmetic = ElementFault["arithmetic"];
export type Dot = Extract<Arithmetic, { kind: "dot" }>;
type Rows = Extract<Arithmetic, { kind: "rows" }>;
type Type = ElementFault["step"]["type"];

const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 9 });
/** Decimal strings are integers above 53 bits; other texts stay as they are. */
export function shown(value: number | string | bigint): string {
  if (typeof value === "string" && !/^-?\d+$/.test(value)) return value;
  return NUMBER.format(typeof value === "string" ? BigInt(value) : value).replace("-", "−");
}

/** A row of activations times a row of weights, product by product. */
export function DotArithmetic({ dot, type }: { readonly dot: Dot; readonly type: Type }) {
  const { activations, weights, products } = dot;
  return (
    <>
      <Products
        title={`Row of activations × row of weights of channel ${dot.channel}`}
        what="Products of activations and weights"
        of={{ left: activations, right: weights, products }}
      />
      <Longhand
        lines={[
          ["sum of the products", dot.sum],
          ["bias", dot.bias, "+"],
        ]}
        of={dot}
        type={type}
      />
    </>
  );
}

/** A row of activations times a row of activations: the sum is the element. */
export function RowsArithmetic({ rows }: { readonly rows: Rows }) {
  return (
    <>
      <Products
        title="Row of activations × row of activations"
        what="Products of activations and activations"
        of={rows}
      />
      <p>
        The sum of the products is <span className="mono">{shown(rows.sum)}</span>.
      </p>
    </>
  );
}

interface ProductsProps {
  readonly title: string;
  readonly what: string;
  readonly of: Pick<Rows, "left" | "right" | "products">;
}

function Products({ title, what, of: { left, right, products } }: ProductsProps) {
  const zeros = left.filter((value) => value === 0).length;
  return (
    <>
      <div>
        <h3>{title}</h3>
        <p className="small soft">
          {products.length} products{zeros > 0 && `; ${zeros} activations are 0 and add nothing`}.
        </p>
      </div>
      <section
        className="terms"
        aria-label={what}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
        tabIndex={0}
      >
        {products.map((product, i) => (
          <div key={i} className={left[i] === 0 ? "term-cell is-zero" : "term-cell"}>
            <span>{shown(left[i] as number)}</span>
            <span className="times">× {shown(right[i] as number)}</span>
            <strong>{shown(product)}</strong>
          </div>
        ))}
      </section>
    </>
  );
}

type Line = readonly [name: string, value: number | string | bigint, operator?: string];

/** From the sum to the stored byte, as one writes it by hand. */
export function Longhand({
  lines,
  of: { accumulator, parameters, requantization, added },
  type,
}: {
  readonly lines: readonly Line[];
  readonly of: Pick<Dot, "accumulator" | "parameters" | "requantization" | "added">;
  readonly type: Type;
}) {
  const { form, product, sum, shifted, scaled, rounded, withZeroPoint, clamped } = requantization;
  const rest: (Line | "rule")[] = [];
  if (form === "integer") {
    rest.push(["times the multiplier M", parameters.multiplier, "×"], "rule", [
      "product",
      product ?? "",
      "=",
    ]);
    rest.push(["plus the addend B", parameters.addend, "+"], "rule", ["sum", sum ?? "", "="]);
    rest.push([`shifted right by ${parameters.shift} bits`, shifted ?? "", "≫"]);
  }
  if (form === "binary32") {
    rest.push(["times the scale", parameters.scale ?? "no finite number", "×"], "rule", [
      "scaled",
      scaled ?? "",
      "=",
    ]);
    rest.push(["rounded, half to even", rounded ?? "", "≈"]);
  }
  if (withZeroPoint !== undefined) {
    rest.push(["plus the zero point", parameters.zeroPoint, "+"], "rule", [
      "with the zero point",
      withZeroPoint,
      "=",
    ]);
  }
  if (clamped !== undefined && withZeroPoint !== undefined) {
    rest.push([`kept between ${parameters.lower} and ${parameters.upper}: the stored byte`, clamped, "="]);
    if (type === "s8") rest.push(["as a signed number: less 128", clamped - 128, "="]);
  }
  if (clamped !== undefined && withZeroPoint === undefined && form === "integer") {
    // RESCALE: to s32, or to one byte of a number of 16 bits; DOT rescaled: to s32.
    const { bits } = requantization;
    const limits =
      bits === undefined
        ? undefined
        : `kept between -2^${bits} and 2^${bits} - 1${added === undefined ? ", stored" : ""}`;
    const name =
      limits ??
      (type === "s32" ? "low 32 bits, stored" : "kept between 0 and 65,535: a byte of it is stored");
    rest.push([name, clamped, "="]);
    if (added !== undefined)
      rest.push(["plus what is added", added, "+"], "rule", ["32 bits, stored", (clamped + added) | 0, "="]);
  }
  const all: readonly (Line | "rule")[] = [
    ...lines,
    "rule",
    ["accumulator, 32 bits", accumulator, "="],
    ...rest,
  ];
  return (
    <table className="longhand">
      <caption className="unseen">From the sum to the stored value</caption>
      <tbody>
        {all.map((line, i) =>
          line === "rule" ? null : (
            <tr key={i} className={all[i - 1] === "rule" ? "is-result" : ""}>
              <td className="operator">{line[2] ?? ""}</td>
              <td className="right mono">{line[1] === "" ? "" : shown(line[1])}</td>
              <th scope="row">{line[0]}</th>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

/** Values of the operands of an opcode that is no dot product. */
export function Operands({
  fault: { operands },
  formula,
}: {
  readonly fault: ElementFault;
  readonly formula: string | undefined;
}) {
  return (
    <div className="stack near">
      {formula !== undefined && <h3>{formula}</h3>}
      <dl className="facts values">
        {operands.map(({ name, source, index, row, word, values }, i) => (
          <OperandRow
            key={i}
            name={`${name}: ${source} ${index}, row ${row}${word === undefined ? "" : `, word ${word}`}`}
            values={values}
          />
        ))}
      </dl>
    </div>
  );
}

const OperandRow = ({
  name,
  values,
}: {
  readonly name: string;
  readonly values: readonly (number | null)[];
}) => (
  <>
    <dt>{name}</dt>
    <dd className="mono">
      {values.map((value) => (value === null ? "no number" : shown(value))).join("  ")}
    </dd>
  </>
);
