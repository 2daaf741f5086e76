/** What befalls a fleet: a seeded order of faults, each of one daemon or of PostgreSQL. */
import { setTimeout } from "node:timers/promises";
import type { Postgres } from "../postgres.ts";
import type { Rng } from "../rng.ts";
import type { Member } from "./member.ts";

/** A daemon, or the server that several share. */
export interface Victim {
  readonly name: string;
  /** of which it is one: a prover, a challenger, a worker, PostgreSQL */
  readonly kind: string;
  /** what can befall it, each for as long as the promise of `pause` takes */
  readonly faults: Readonly<Record<string, (pause: () => Promise<void>) => Promise<void>>>;
}

export interface Fault {
  /** between it and the one before, ms */
  readonly afterMs: number;
  readonly victim: Victim;
  readonly kind: string;
  readonly lengthMs: number;
}

export interface Pace {
  /** how long short faults last, and long ones */
  readonly lengthsMs: readonly (readonly [number, number])[];
  readonly betweenMs: readonly [number, number];
  /** faults at once */
  readonly atOnce: number;
  /** at least; in each one everything happens that can befall a kind of victim */
  readonly rounds: number;
}

export function memberVictim(member: Member): Victim {
  const { host, plan } = member;
  return {
    name: plan.name,
    kind: `a ${plan.kind}`,
    faults: {
      "is killed": (pause) => member.dieFor(pause),
      hangs: (pause) => member.hangFor(pause),
      "is cut off": (pause) => member.beWithoutNodeFor(host, pause),
      ...(plan.kind !== "worker" && {
        "has no node": (pause: () => Promise<void>) => member.beWithoutNodeFor(host.node, pause),
      }),
      ...(plan.database !== undefined && {
        "has no database": async (pause: () => Promise<void>) => {
          host.database.cut();
          await pause();
          host.database.mend();
        },
      }),
    },
  };
}

export const postgresVictim = (postgres: Postgres): Victim => ({
  name: "PostgreSQL",
  kind: "PostgreSQL",
  faults: {
    "is killed": async (pause) => {
      await postgres.crash();
      await pause();
      await postgres.start();
    },
    hangs: async (pause) => {
      postgres.freeze();
      await pause();
      postgres.thaw();
    },
  },
});

const labelOf = (kind: string, fault: string): string => `${kind} ${fault}`;

/** Everything that can befall a kind of victim, each befalling one of them, in a random order. The same for the same
 *  numbers and victims; its times on a machine are not. */
function roundOf(rng: Rng, victims: readonly Victim[], { lengthsMs, betweenMs }: Pace): readonly Fault[] {
  const kinds = victims.flatMap(({ kind, faults }) => Object.keys(faults).map((fault) => ({ kind, fault })));
  const left = [...new Map(kinds.map((one) => [labelOf(one.kind, one.fault), one])).values()];
  const round: Fault[] = [];
  while (left.length > 0) {
    const one = rng.pick(left);
    left.splice(left.indexOf(one), 1);
    const victim = rng.pick(victims.filter(({ kind, faults }) => kind === one.kind && one.fault in faults));
    const [shortest, longest] = rng.pick(lengthsMs);
    const afterMs = rng.int(...betweenMs);
    round.push({ afterMs, victim, kind: one.fault, lengthMs: rng.int(shortest, longest) });
  }
  return round;
}

/** Lets faults happen until the rounds are over and all is done, then ends those that last.
 *  @param isDone whether all that they were to disturb is @returns how many there were of each kind */
export async function injectFaults(
  rng: Rng,
  victims: readonly Victim[],
  pace: Pace,
  isDone: () => boolean,
  note: (what: string) => void,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const lasting = new Map<string, Promise<void>>();
  let failure: unknown;
  const befall = async ({ afterMs, victim, kind, lengthMs }: Fault): Promise<void> => {
    await setTimeout(afterMs);
    await lasting.get(victim.name);
    while (lasting.size >= pace.atOnce) await Promise.race(lasting.values());
    note(`${victim.name} ${kind} for ${lengthMs} ms`);
    const fault = victim.faults[kind] as Victim["faults"][string];
    const over = fault(async () => void (await setTimeout(lengthMs)))
      .then(() => note(`${victim.name}: it is over (${kind})`))
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => lasting.delete(victim.name));
    lasting.set(victim.name, over);
    const label = labelOf(victim.kind, kind);
    counts.set(label, (counts.get(label) ?? 0) + 1);
  };
  const isOver = (round: number) => failure !== undefined || (round >= pace.rounds && isDone());
  for (let round = 0; !isOver(round); round++)
    for (const fault of roundOf(rng, victims, pace)) if (!isOver(round)) await befall(fault);
  await Promise.all(lasting.values());
  if (failure !== undefined) throw failure;
  return counts;
}
