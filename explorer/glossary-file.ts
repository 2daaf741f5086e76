import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Glossary } from "./api/types.ts";
import { parseGlossary } from "./read/glossary.ts";

const PATH = fileURLToPath(new URL("../docs/GLOSSARY.md", import.meta.url));

export const readGlossary = (): Glossary => parseGlossary(readFileSync(PATH, "utf8"));
