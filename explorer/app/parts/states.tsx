import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiFailure } from "../data/api-failure.ts";
import { Outside } from "./outside.tsx";

/** Grey bars in place of what is being read. */
export function Loading({
  lines = 4,
  what = "Loading",
}: {
  readonly lines?: number;
  readonly what?: string;
}) {
  return (
    <div className="stack near" role="status" aria-label={what}>
      {Array.from({ length: lines }, (_, i) => `${90 - 13 * (i % 4)}%`).map((width, i) => (
        <span key={i} className="bone" style={{ width }} />
      ))}
    </div>
  );
}

export function Failure({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const nextStep = error instanceof ApiFailure ? error.nextStep : undefined;
  return (
    <div className="notice tone-bad" role="alert">
      <strong>
        <Outside text={error.message} />
      </strong>
      {nextStep !== undefined && (
        <p>
          <Outside text={nextStep} />
        </p>
      )}
      {retry !== undefined && (
        <p>
          <button type="button" className="button" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

export function Empty({ title, children }: { readonly title: ReactNode; readonly children?: ReactNode }) {
  return (
    <div className="blank">
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

interface AnsweredProps<T> {
  readonly of: Pick<UseQueryResult<T>, "data" | "error" | "refetch">;
  readonly lines?: number;
  readonly children: (data: T) => ReactNode;
}

/** What was read, or that it is being read, or why it could not be. What was read before stays under a failure. */
export function Answered<T>({ of: { data, error, refetch }, lines = 6, children }: AnsweredProps<T>) {
  return (
    <>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data !== undefined ? children(data) : error === null && <Loading lines={lines} />}
    </>
  );
}
