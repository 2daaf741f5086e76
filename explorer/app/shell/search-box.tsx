import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef } from "react";
import type { SearchResult } from "../../api/types.ts";
import { searchQuery } from "../data/queries.ts";

type Hit = SearchResult["hits"][number];

/** Where a hit's page is; undefined for a kind that has none. */
export function pageOf({ kind, id }: Hit) {
  switch (kind) {
    case "model":
      return { to: "/models/$id", params: { id } } as const;
    case "request":
      return { to: "/requests/$id", params: { id } } as const;
    case "claim":
      return { to: "/claims/$id", params: { id } } as const;
    case "batch":
      return { to: "/batches/$id", params: { id } } as const;
    case "signed claim":
      return { to: "/signed-claims/$id", params: { id } } as const;
    case "account":
      return { to: "/accounts/$id", params: { id } } as const;
    case "transaction":
      return { to: "/transactions/$id", params: { id } } as const;
    default:
      return undefined;
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

/** Finds anything by its id. One hit is opened at once. */
export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const search = async (event: FormEvent) => {
    event.preventDefault();
    const q = input.current?.value.trim() ?? "";
    if (q === "") return;
    const found = await queries.fetchQuery(searchQuery(q)).catch(() => undefined);
    const only = found?.hits.length === 1 ? pageOf(found.hits[0] as Hit) : undefined;
    await navigate(only ?? { to: "/search", search: { q } });
  };
  return (
    <search className="search-box">
      <form onSubmit={search}>
        <label className="unseen" htmlFor="search">
          Search by id, address, transaction or name
        </label>
        <input
          id="search"
          ref={input}
          className="input"
          type="search"
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          placeholder="id, address, transaction"
          aria-keyshortcuts="/"
        />
      </form>
    </search>
  );
}
