/** The terms of docs/GLOSSARY.md. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Glossary } from "../api/types.ts";

const PATH = fileURLToPath(new URL("../../docs/GLOSSARY.md", import.meta.url));

/** @param text rows `| word | meaning |` of one table, after its head */
export function parseGlossary(text: string): Glossary {
  const rows = [...text.matchAll(/^\| (.+?) \| (.+) \|$/gm)].map(([, term = "", meaning = ""]) => ({
    term,
    meaning,
  }));
  return { terms: rows.filter(({ term }) => term !== "word") };
}

export const readGlossary = (): Glossary => parseGlossary(readFileSync(PATH, "utf8"));
