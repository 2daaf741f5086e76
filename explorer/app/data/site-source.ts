import { proxy, wrap } from "comlink";
import type { SiteWorker } from "../../site/forms.ts";
import type { Source } from "./source.ts";

const FILE = /^\/v1\/models\/(0x[0-9a-f]{64})\/files\/([^/?]+)$/;
/** Where export puts a model's files, seen from the page. */
const fileUrl = (model: string, name: string): string => `models/${model}/${encodeURIComponent(name)}`;

/** Starts the worker, which begins to read the chain. */
export function siteSource(): Source {
  const worker = wrap<SiteWorker>(
    new Worker(new URL("../../site/worker.ts", import.meta.url), { type: "module" }),
  );
  return {
    async ask(path, { method = "GET", body } = {}) {
      const [, model, name] = FILE.exec(path) ?? [];
      if (model !== undefined && name !== undefined) return fetch(fileUrl(model, decodeURIComponent(name)));
      const answer = await worker.answer({
        method: method === "POST" ? "POST" : "GET",
        path,
        ...(typeof body === "string" ? { body } : {}),
      });
      const headers = { "content-type": "application/json" };
      return new Response(answer.body, { status: answer.status, headers });
    },
    listen(listener) {
      void worker.listen(
        proxy({
          reading(state) {
            listener.reading(state);
            listener.connected(state.state === "live");
          },
          emit: (message) => listener.emit(message),
        }),
      );
    },
    fileUrl,
  };
}
