import type { ReactNode } from "react";
import { useEffect } from "react";
import { shortId } from "./id.tsx";
import { Outside } from "./outside.tsx";
import { visible } from "./visible.ts";

interface PageTitleProps {
  /** of the browser's tab */
  readonly name: string;
  readonly children: ReactNode;
  /** beside the heading */
  readonly aside?: ReactNode;
}

/** The heading of a page, which names the tab too. */
export function PageTitle({ name, children, aside }: PageTitleProps) {
  useEffect(() => {
    document.title = `${visible(name)} · Assay`;
  }, [name]);
  return (
    <header className="page-title row">
      <h1>{children}</h1>
      {aside}
    </header>
  );
}

/** The heading of what is not read yet, or cannot be. @param id as the address has it, of any form */
export function IdTitle({ kind, id }: { readonly kind: string; readonly id: string }) {
  return (
    <PageTitle name={`${kind} ${shortId(id)}`}>
      {kind}{" "}
      <span className="mono">
        <Outside text={shortId(id)} />
      </span>
    </PageTitle>
  );
}
