import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { glossaryQuery } from "../data/queries.ts";
import { Hint } from "./hint.tsx";

/** Markdown's marks that a glossary entry has, as plain text. */
const plain = (markdown: string): string =>
  markdown.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");

/** A word that explains itself from the glossary. @param word as the glossary has it; absent: the children */
export function Term({ word, children }: { readonly word?: string; readonly children: ReactNode }) {
  const { data } = useQuery(glossaryQuery);
  const name = word ?? String(children);
  const entry = data?.terms.find(({ term }) => term.split(",")[0]?.toLowerCase() === name.toLowerCase());
  if (entry === undefined) return <>{children}</>;
  return (
    <Hint
      className="term"
      tip={
        <>
          <strong>{entry.term}</strong>
          {plain(entry.meaning)}
        </>
      }
    >
      {children}
    </Hint>
  );
}
