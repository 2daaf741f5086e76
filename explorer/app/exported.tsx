/** Entry of an exported site: any host of files serves it, from any folder, so that pages stand behind the number sign. */
import { createHashHistory } from "@tanstack/react-router";
import { siteSource } from "./data/site-source.ts";
import { choose } from "./data/source.ts";
import { start } from "./start.tsx";

const source = siteSource();
choose(source);
// For whoever opens the browser's console: what a server would answer.
Object.assign(globalThis, { assay: { fetch: source.ask } });
start(createHashHistory());
