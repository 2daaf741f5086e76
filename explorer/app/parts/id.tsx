import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Hint } from "./hint.tsx";

/** The ends of an id, which people compare. */
export const shortId = (id: string): string => (id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`);

/** A line with every id and every run of bytes in it in short: what it is about stands beside it whole. */
export const shortenIds = (text: string): string => text.replace(/0x[0-9a-fA-F]{16,}/g, (id) => shortId(id));

const COPIED_MS = 1_500;

function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <button type="button" className="copy" aria-label={isCopied ? "copied" : `copy ${what}`} onClick={copy}>
      <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
        {isCopied ? (
          <path d="m3 8.5 3.2 3.2L13 5" strokeLinecap="round" strokeLinejoin="round" />
        ) : (
          <path d="M5.5 5.5h8v8h-8zM10.5 5.500v-3h-8v8h3" strokeLinejoin="round" />
        )}
      </svg>
    </button>
  );
}

/** Kinds of ids that have a page. */
const PAGES = {
  claim: "/claims/$id",
  batch: "/batches/$id",
  "signed claim": "/signed-claims/$id",
  request: "/requests/$id",
  model: "/models/$id",
  account: "/accounts/$id",
} as const;

interface IdProps {
  readonly id: string;
  /** links to its page */
  readonly to?: keyof typeof PAGES;
  readonly what?: string;
  /** without a stop for the keyboard but the link, for lists */
  readonly plain?: boolean;
  readonly children?: ReactNode;
}

/** An id in short, with a way to copy all of it. */
export function Id({ id, to, what = to ?? "id", plain = false, children }: IdProps) {
  const label = children ?? shortId(id);
  return (
    <span className="id">
      {to !== undefined ? (
        <Link to={PAGES[to]} params={{ id }} title={id}>
          {label}
        </Link>
      ) : plain ? (
        <span title={id}>{label}</span>
      ) : (
        <Hint tip={<span className="mono">{id}</span>}>{label}</Hint>
      )}
      {!plain && <Copy text={id} what={what} />}
    </span>
  );
}
