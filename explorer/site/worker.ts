/** The worker of an exported site. It knows its site by its own address: it lies in the folder assets. */
import sqliteModule from "@sqlite.org/sqlite-wasm";
import { expose } from "comlink";
import { BaseError } from "../../base/errors.ts";
import glossary from "../../docs/GLOSSARY.md?raw";
import { parseGlossary } from "../read/glossary.ts";
import { failed } from "./answer.ts";
import type { Listener, Reading, SiteWorker } from "./forms.ts";
import { Reader } from "./reader.ts";
import { MODELS_FILE, parseSite, SITE_FILE, type SiteModel } from "./site-file.ts";
import { fetchBelow, SiteShelf } from "./site-shelf.ts";
import { loadSqlite, openInMemory } from "./sqlite.ts";

const TABLES = textsOf(
  import.meta.glob<string>("../index/migrations/*.sql", {
    query: "?raw",
    import: "default",
    eager: true,
  }),
);

/** In the order of their numbers. */
function textsOf(files: Readonly<Record<string, string>>): string[] {
  return Object.keys(files)
    .sort()
    .map((name) => files[name] as string);
}

let last: Reading = { state: "connecting" };
let listening: Listener | undefined;
const listener: Listener = {
  reading(state) {
    last = state;
    listening?.reading(state);
  },
  emit: (message) => listening?.emit(message),
};

async function start(): Promise<Reader> {
  const file = fetchBelow(new URL("..", self.location.href));
  const text = async (name: string) => new TextDecoder().decode(await file(name));
  const [site, models, sqlite] = await Promise.all([
    text(SITE_FILE).then(parseSite),
    text(MODELS_FILE).then((found) => JSON.parse(found) as SiteModel[]),
    loadSqlite(sqliteModule),
  ]);
  const reader = new Reader({
    ...{ site, listener, glossary: parseGlossary(glossary) },
    db: openInMemory(sqlite, TABLES),
    shelf: (fromChain) => new SiteShelf(models, file, fromChain),
  });
  void reader.run(new AbortController().signal);
  return reader;
}

function fail(error: unknown): void {
  const {
    code,
    shortMessage,
    nextStep = "",
  } = error instanceof BaseError
    ? error
    : { code: "UNEXPECTED", shortMessage: String(error), nextStep: "Try another browser, and report it." };
  listener.reading({ state: "failed", fault: { code, message: shortMessage, nextStep } });
}

const started = start();
started.catch(fail);
// SQLite's loader waits for ever for code that cannot be loaded.
self.addEventListener("unhandledrejection", ({ reason }) => fail(reason));

const worker: SiteWorker = {
  answer: (question) => started.then((reader) => reader.answer(question), failed),
  listen(listener) {
    listening = listener;
    listener.reading(last);
  },
};
expose(worker);
