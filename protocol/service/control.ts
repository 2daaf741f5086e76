/** A daemon's control socket: a Unix socket in its data folder, which the folder's owner alone can use. By it commands
 *  have a running daemon do what only the process that holds the folder's journal may do. One line of JSON each way. */
import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";

/** Answers a command. Throws what the command's user shall read. */
export type ControlHandler = (args: Readonly<Record<string, unknown>>) => Promise<object>;
export type ControlHandlers = Readonly<Record<string, ControlHandler>>;

export interface ControlServer {
  close(): Promise<void>;
}

/** Bytes of a path that sockets may have on every system. */
const MAX_PATH_BYTES = 103;
/** Characters of a request. */
const MAX_REQUEST = 4_096;
/** Time for a request, and to take its answer. */
const PATIENCE_MS = 10_000;
/** At once: they never take the descriptors that the daemon needs. */
const MAX_CONNECTIONS = 16;

const socketOf = (folder: string): string => join(folder, "control.sock");

const requestSchema = z.object({ command: z.string(), args: z.record(z.string(), z.unknown()) });
const replySchema = z.union([
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({
    error: z.object({
      code: z.string(),
      shortMessage: z.string(),
      nextStep: z.string().optional(),
      retryable: z.boolean(),
    }),
  }),
]);

/** Listens in a folder whose lock this process holds. Where that cannot be, the log says so and the daemon works
 *  without. */
export async function listenControl(
  folder: string,
  handlers: ControlHandlers,
  log: Logger,
): Promise<ControlServer | undefined> {
  const path = socketOf(folder);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    log.warn({ path }, `no control socket: its path has more than ${MAX_PATH_BYTES} bytes`);
    return undefined;
  }
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).on("error", () => socket.destroy());
    serve(socket, handlers, log);
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Nobody else may connect even before the mode is set.
  const mask = process.umask(0o177);
  try {
    // What is there was left by a process that held the lock before.
    rmSync(path, { force: true });
    server.listen(path);
  } catch (error) {
    log.warn({ path, error }, "no control socket");
    return undefined;
  } finally {
    process.umask(mask);
  }
  try {
    await once(server, "listening");
    chmodSync(path, 0o600);
  } catch (error) {
    log.warn({ path, error }, "no control socket");
    server.close();
    return undefined;
  }
  const close = async () => {
    server.close();
    for (const socket of open) socket.destroy();
    rmSync(path, { force: true });
  };
  return { close };
}

/** Answers one line. What comes after it is not looked at, and what has no end is not done. */
function serve(socket: Socket, handlers: ControlHandlers, log: Logger): void {
  let text = "";
  // Not the socket's own timeout: each byte would begin it anew.
  const patience = () => setTimeout(() => socket.destroy(), PATIENCE_MS);
  let timer: NodeJS.Timeout | undefined = patience();
  socket.on("close", () => clearTimeout(timer));
  socket.setEncoding("utf8");
  const take = (part: string) => {
    text += part;
    const end = text.indexOf("\n");
    const isTooLong = end > MAX_REQUEST || (end < 0 && text.length > MAX_REQUEST);
    if (isTooLong) socket.destroy();
    if (isTooLong || end < 0) return;
    socket.off("data", take).resume();
    // A command may take as long as a transaction.
    clearTimeout(timer);
    timer = undefined;
    answer(text.slice(0, end), handlers, log)
      .then((reply) => {
        // Who does not read is not waited for.
        if (!socket.destroyed) timer = patience();
        socket.end(`${JSON.stringify(reply)}\n`);
      })
      .catch((error: unknown) => {
        log.error({ error }, "a command of the control socket failed");
        socket.destroy();
      });
  };
  socket.on("data", take);
}

async function answer(line: string, handlers: ControlHandlers, log: Logger): Promise<object> {
  try {
    const { command, args } = readRequest(line);
    const handler = Object.hasOwn(handlers, command) ? handlers[command] : undefined;
    if (handler === undefined) throw unknownCommand(command, Object.keys(handlers));
    log.info({ command, args }, "a command came by the control socket");
    return { result: await handler(args) };
  } catch (error) {
    if (error instanceof BaseError) {
      const { code, shortMessage, nextStep, retryable } = error;
      return { error: { code, shortMessage, nextStep, retryable } };
    }
    log.error({ error }, "a command of the control socket failed");
    const shortMessage = `The daemon failed: ${String(error).slice(0, 200)}.`;
    return { error: { code: "CONTROL_FAILED", shortMessage, nextStep: "Read its log.", retryable: false } };
  }
}

/** @throws BaseError CONTROL_REQUEST_INVALID */
function readRequest(line: string): z.infer<typeof requestSchema> {
  try {
    return requestSchema.parse(JSON.parse(line));
  } catch {
    throw new BaseError({
      code: "CONTROL_REQUEST_INVALID",
      shortMessage: `The line ${JSON.stringify(line.slice(0, 60))} is no command.`,
      nextStep: 'Send one line of JSON: {"command": "withdraw", "args": {}}.',
    });
  }
}

/** Has the daemon that uses a folder do something.
 *  @returns undefined where none listens
 *  @throws BaseError the daemon's, or CONTROL_FAILED */
export async function askDaemon(
  folder: string,
  command: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const socket = createConnection(socketOf(folder));
  try {
    await once(socket, "connect");
  } catch {
    return undefined;
  }
  socket.on("error", () => socket.destroy());
  socket.write(`${JSON.stringify({ command, args })}\n`);
  for await (const line of createInterface({ input: socket })) {
    const reply = replySchema.parse(JSON.parse(line));
    if ("result" in reply) return reply.result;
    const { nextStep, ...error } = reply.error;
    throw new BaseError({ ...error, ...(nextStep === undefined ? {} : { nextStep }) });
  }
  throw new BaseError({
    code: "CONTROL_FAILED",
    shortMessage: `The process that uses ${folder} ended before it answered, or has no connection left.`,
    nextStep: "Repeat the command: what was journalled is done once.",
    retryable: true,
  });
}

const unknownCommand = (command: string, known: readonly string[]) =>
  new BaseError({
    code: "CONTROL_UNKNOWN",
    shortMessage: `This daemon does not know the command ${JSON.stringify(command.slice(0, 40))}.`,
    nextStep: `It knows ${known.join(", ")}.`,
  });
