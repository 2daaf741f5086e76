/** Events of Promises as lines for people. */
import { formatAmount } from "../../../base/amounts.ts";
import { iso } from "../describe.ts";
import type { PromiseEvent } from "./events.ts";

/** One line for an event, without its time. */
export function describePromiseEvent({ name, args }: PromiseEvent): string {
  switch (name) {
    case "Deposited":
      return `${formatAmount(args.amount)} put behind the promises of ${args.prover} by ${args.from}`;
    case "ExitAnnounced":
      return `${formatAmount(args.amount)} of the stake of ${args.prover} leaves at ${iso(args.exitAt)}`;
    case "Exited":
      return `${formatAmount(args.amount)} of the stake of ${args.prover} taken out to ${args.to}`;
    case "SignerSet":
      return `what ${args.key} signs until ${iso(args.until)} binds ${args.prover}`;
    case "Queued":
      return `signed claim of ${args.prover} shown by ${args.opener}; it waits for stake`;
    case "Opened":
      return `signed claim of ${args.prover} opened by ${args.opener}`;
    case "HeadTooDear":
      return `the signed claim that waits first is dearer than the stake of ${args.prover}`;
    case "Passed":
      return `the signed claim goes to the end of the queue of ${args.prover}`;
    case "TakenBack":
      return "the signed claim was taken back";
    case "Posted":
      return `batch of ${args.batch.count} leaves posted by ${args.prover}, a bond of ${formatAmount(args.bond)} behind each`;
    case "LeafQueued":
      return `leaf ${args.index} shown by ${args.opener}; it waits for stake`;
    case "LeafOpened":
      return `leaf ${args.index} opened by ${args.opener}`;
    case "LeafDropped":
      return `leaf ${args.index} dropped: its batch has fallen`;
    case "Released":
      return `${formatAmount(args.amount)} that stood for a batch is free stake again`;
    case "Closed":
      return args.fallen ? "the promise's claim has fallen" : "the promise's claim has stood";
    case "Credited":
      return `${formatAmount(args.amount)} credited to ${args.account} in Promises`;
    case "Withdrawn":
      return `${args.account} withdrew ${formatAmount(args.amount)} from Promises`;
    case "Burned":
      return `${formatAmount(args.amount)} burned by Promises`;
  }
}
