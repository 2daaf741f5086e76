/** Where the pages get what they show: from the explorer's server, or, in an exported site, from a worker that reads the
 *  chain itself. Chosen once, before the first page. */
import type { StreamEvents } from "../../api/types.ts";
import type { Listener } from "../../site/forms.ts";

export interface SourceListener extends Listener {
  /** @param isOpen whether news come */
  connected(isOpen: boolean): void;
}

export interface Source {
  /** Asks the JSON interface. @throws TypeError where nothing answers */
  ask(path: string, init?: RequestInit): Promise<Response>;
  listen(listener: SourceListener): void;
  /** of a model's file, to link to */
  fileUrl(model: string, name: string): string;
  /** where programs ask for the same JSON; absent: nowhere */
  readonly origin?: string;
}

const STREAM: readonly (keyof StreamEvents)[] = ["event", "head", "rollback", "reset"];

const server: Source = {
  ask: (path, init) => fetch(path, init),
  listen(listener) {
    const stream = new EventSource("/v1/stream");
    stream.addEventListener("open", () => listener.connected(true));
    stream.addEventListener("error", () => listener.connected(false));
    for (const event of STREAM)
      stream.addEventListener(event, ({ data }: MessageEvent<string>) =>
        listener.emit({ event, data: JSON.parse(data) }),
      );
  },
  fileUrl: (model, name) => `/v1/models/${model}/files/${encodeURIComponent(name)}`,
  origin: location.origin,
};

let chosen = server;
export const source = (): Source => chosen;
export const choose = (other: Source): void => {
  chosen = other;
};
