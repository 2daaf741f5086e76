import { Hint } from "./hint.tsx";
import { shortAmount } from "./short-amount.ts";

const GROUPS = new Intl.NumberFormat("en");

interface AmountProps {
  /** decimal digits, as JSON has them, or wei */
  readonly wei: string | bigint;
  /** a plus before what is gained */
  readonly sign?: boolean;
  /** without a stop for the keyboard, for lists whose rows lead to a page with all digits */
  readonly plain?: boolean;
}

/** Ether, with wei on hover. */
export function Amount({ wei, sign = false, plain = false }: AmountProps) {
  const value = BigInt(wei);
  const text = `${sign && value > 0n ? "+" : ""}${shortAmount(value)}`;
  const exact = `${GROUPS.format(value)} wei`;
  if (plain) {
    return (
      <span className="number" title={exact}>
        {text}
      </span>
    );
  }
  return (
    <Hint tip={<span className="number">{exact}</span>} className="number">
      {text}
    </Hint>
  );
}
