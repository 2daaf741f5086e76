/** A host's way to a server, which can be cut: connections stay open, and nothing comes through any more. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** @param target port on this machine @param host address that it listens on */
export async function startTcpProxy(target: number, host = "127.0.0.1") {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => {
        if (!isCut) to.write(data);
      });
      // A host that is cut off hears of no end either.
      from.on("close", () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
      from.on("error", () => from.destroy());
    }
  });
  server.listen(0, host);
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    cut: () => {
      isCut = true;
    },
    /** What was open before is lost. */
    mend: () => {
      for (const socket of sockets) socket.destroy();
      isCut = false;
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
