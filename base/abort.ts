/** Signals that end what takes too long. */

/** The longest time that a timer takes, ms: 24 days. A longer time sets no timer. */
const MOST_MS = 2 ** 31 - 1;

/** Aborts after a time with a DOMException TimeoutError, or with the reason of the first other signal that does. In place
 *  of `AbortSignal.any([…, AbortSignal.timeout(ms)])`, of which Node.js 20 and 22 forget the time when they collect
 *  garbage (nodejs/node#57736): whoever waited for it waited for ever. Keeps no process alive.
 *  @param ms above 2^31 − 1: never by itself */
export function abortAfter(ms: number, ...named: readonly (AbortSignal | undefined)[]): AbortSignal {
  const others = named.filter((one) => one !== undefined);
  const controller = new AbortController();
  const end = (reason: unknown): void => {
    clearTimeout(timer as NodeJS.Timeout | undefined);
    for (const other of others) other.removeEventListener("abort", onOther);
    controller.abort(reason);
  };
  const onOther = ({ target }: Event): void => end((target as AbortSignal).reason);
  const late = () => end(new DOMException(`It took longer than ${ms} ms.`, "TimeoutError"));
  const timer: unknown = ms > MOST_MS ? undefined : setTimeout(late, ms);
  // A number in browsers.
  if (typeof timer === "object") (timer as NodeJS.Timeout).unref();
  for (const other of others) other.addEventListener("abort", onOther);
  const aborted = others.find((other) => other.aborted);
  if (aborted !== undefined) end(aborted.reason);
  return controller.signal;
}
