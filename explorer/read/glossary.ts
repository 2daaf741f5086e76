import type { Glossary } from "../api/types.ts";

/** @param text of docs/GLOSSARY.md: rows `| word | meaning |` of one table, after its head */
export function parseGlossary(text: string): Glossary {
  const rows = [...text.matchAll(/^\| (.+?) \| (.+) \|$/gm)].map(([, term = "", meaning = ""]) => ({
    term,
    meaning,
  }));
  return { terms: rows.filter(({ term }) => term !== "word") };
}
