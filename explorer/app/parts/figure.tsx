import type { ReactNode } from "react";

/** One number with its name, and what it rests on. */
export function Figure({
  name,
  note,
  children,
}: {
  readonly name: ReactNode;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{children}</dd>
      {note !== undefined && <dd className="note">{note}</dd>}
    </div>
  );
}

/** Name and value, one under the other. */
export function Facts({
  of,
}: {
  readonly of: readonly (readonly [name: ReactNode, value: ReactNode] | undefined)[];
}) {
  return (
    <dl className="facts">
      {of.map((fact, i) => (fact === undefined ? null : <FactRow key={i} name={fact[0]} value={fact[1]} />))}
    </dl>
  );
}

const FactRow = ({ name, value }: { readonly name: ReactNode; readonly value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
);
