/** The control socket under those who did not write it. */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { askDaemon, type ControlServer, listenControl } from "../../../protocol/service/control.ts";
import { temporaryFolder } from "../../support/deploy.ts";

let folder: ReturnType<typeof temporaryFolder>;
let control: ControlServer | undefined;
let done: Record<string, unknown>[];
let logged: [level: string, message: string][];
const note = (level: string) => (_fields: object, message: string) => void logged.push([level, message]);
const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
const handlers = {
  pay: async (args: Readonly<Record<string, unknown>>) => {
    done.push(args);
    return { paid: true };
  },
};

beforeEach(async () => {
  folder = temporaryFolder();
  [done, logged] = [[], []];
  control = await listenControl(folder.path, handlers, log);
});
afterEach(async () => {
  vi.useRealTimers();
  await control?.close();
  folder.remove();
});

const open = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(join(folder.path, "control.sock"), () => resolve(socket));
    socket.on("error", reject);
  });
/** Sends bytes. @returns all that came back until the other side closed */
async function exchange(sent: string | Buffer): Promise<string> {
  const socket = await open();
  let text = "";
  socket.on("data", (part) => (text += part.toString()));
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.on("error", () => undefined);
  socket.write(sent);
  await closed;
  return text;
}
const PAY = '{"command":"pay","args":{"to":1}}';

describe("listenControl", () => {
  test("default: does what one line says, for its owner alone", async () => {
    expect(statSync(join(folder.path, "control.sock")).mode & 0o777).toBe(0o600);
    expect(await askDaemon(folder.path, "pay", { to: 1 })).toEqual({ paid: true });
    expect(done).toEqual([{ to: 1 }]);
  });

  test.each<[string, string | Buffer]>([
    ["no JSON", "pay everything\n"],
    ["bytes that are no text", Buffer.from([0xff, 0x00, 0xfe, 0x0a])],
    ["an empty line", "\n"],
    ["another form", '["pay"]\n'],
    ["arguments of another form", '{"command":"pay","args":[1]}\n'],
  ])("error: %s", async (_name, sent) => {
    expect(JSON.parse(await exchange(sent))).toMatchObject({ error: { code: "CONTROL_REQUEST_INVALID" } });
    expect(logged.filter(([level]) => level === "error")).toEqual([]);
    expect(done).toEqual([]);
  });

  test.each(["toString", "__proto__", "constructor"])("error: the command %s", async (command) => {
    const sent = `{"command":"${command}","args":{}}\n`;
    expect(JSON.parse(await exchange(sent))).toMatchObject({ error: { code: "CONTROL_UNKNOWN" } });
  });

  test("error: a line without an end is not done, one that is too long is cut off, whatever follows it", async () => {
    const half = await open();
    half.end(PAY);
    await new Promise((resolve) => half.on("close", resolve));
    expect(await exchange("x".repeat(5_000))).toBe("");
    expect(await exchange(`${" ".repeat(5_000)}${PAY}\n`)).toBe("");
    expect(await exchange(Buffer.alloc(2 ** 24, "x"))).toBe("");
    expect(done).toEqual([]);
  });

  test("behavior: of two lines the first is done, once", async () => {
    expect(JSON.parse(await exchange(`${PAY}\n${PAY}\n${"x".repeat(100_000)}`))).toEqual({
      result: { paid: true },
    });
    expect(done).toHaveLength(1);
  });

  test("behavior: many connections take few descriptors, and those that stay go in time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sockets = await Promise.all(Array.from({ length: 200 }, () => open()));
    const left = () => sockets.filter(({ destroyed }) => !destroyed).length;
    for (const socket of sockets) socket.on("end", () => socket.destroy()).resume();
    await vi.waitUntil(() => left() <= 16);
    // Bytes without a line do not hold a connection.
    for (let second = 0; second < 11; second += 1) {
      for (const socket of sockets) if (!socket.destroyed) socket.write(" ");
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await vi.waitUntil(() => left() === 0);
    vi.useRealTimers();
    expect(await askDaemon(folder.path, "pay", {})).toEqual({ paid: true });
  });

  test("behavior: those who ask and never read hold their connections for a while only", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const silent = await Promise.all(Array.from({ length: 16 }, () => open()));
    for (const socket of silent) socket.pause().write(`${PAY}\n`);
    await vi.waitUntil(() => done.length === 16);
    const refused = await exchange(`${PAY}\n`);
    await vi.advanceTimersByTimeAsync(11_000);
    vi.useRealTimers();
    expect([refused, await askDaemon(folder.path, "pay", {})]).toEqual(["", { paid: true }]);
    for (const socket of silent) socket.destroy();
  });

  test("behavior: what lies in the place of the socket keeps no daemon from starting", async () => {
    const other = temporaryFolder();
    mkdirSync(join(other.path, "control.sock"));
    writeFileSync(join(other.path, "control.sock", "file"), "");
    expect(await listenControl(other.path, handlers, log)).toBeUndefined();
    expect(logged.at(-1)).toEqual(["warn", "no control socket"]);
    other.remove();
  });
});
