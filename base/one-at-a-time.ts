/** Runs what it is given one after another, in the order of calls; one that fails holds up none. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const running = last.then(work);
    last = running.catch(() => undefined);
    return running;
  };
}
