import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Empty, Failure } from "../parts/states.tsx";

export function NotFound() {
  return (
    <Empty title={<h1>There is no such page</h1>}>
      <Link to="/">The overview</Link> leads to everything; the search finds any id, address or transaction.
    </Empty>
  );
}

export function Broken({ error, reset }: ErrorComponentProps) {
  return <Failure error={error instanceof Error ? error : new Error(String(error))} retry={reset} />;
}
