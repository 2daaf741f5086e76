/** What an operator must hear of at once: notices as alerts. */
import { formatAmount } from "../base/amounts.ts";
import type { Notice } from "./notices.ts";
import type { PromiseNotice } from "./promises/metrics.ts";

export type Severity = "critical" | "warning" | "info";

export interface Alert {
  readonly kind: string;
  readonly severity: Severity;
  /** one sentence; chat services show it as the message */
  readonly text: string;
  readonly claim?: string;
  /** digest of a signed claim, or batch, or batch and index of a leaf */
  readonly promise?: string;
  readonly model?: string;
}

/** @returns undefined for what is no news */
export function alertOf(notice: Notice): Alert | undefined {
  switch (notice.kind) {
    case "verdict":
      return verdictAlert(notice);
    case "engine": {
      const { subject, model, outcome } = notice;
      const text = `The fast path of ${model} ${outcome === "failed" ? "fails" : "differs from the canonical executor"}.`;
      return { kind: `engine-${outcome}`, severity: "warning", text, ...subject, model };
    }
    case "uncovered": {
      const { id: claim, claim: terms } = notice.claim;
      const text = `Nobody here can check claim ${claim}: no folder holds its model.`;
      return { kind: "uncovered-claim", severity: "warning", text, claim, model: terms.modelId };
    }
    case "unaffordable": {
      const text = `A wrong claim is not challenged: with its ticket the exposure of ${formatAmount(BigInt(notice.exposure))} would pass --max-exposure.`;
      return { kind: "unaffordable", severity: "critical", text, claim: notice.claim.id };
    }
    case "tripped": {
      const { subject, reason } = notice;
      return {
        kind: "tripped",
        severity: "critical",
        text: `No more tickets are filed: ${reason}.`,
        ...subject,
      };
    }
    case "attention":
      if (notice.result === "detected") return undefined;
      return {
        kind: `attention-${notice.result}`,
        severity: "critical",
        text: `A planned wrong claim of ${notice.model} was not found: ${notice.result}.`,
        model: notice.model,
      };
    case "over": {
      const { claim, lost } = notice;
      return lost
        ? { kind: "lost", severity: "critical", text: `Wrong claim ${claim} became final.`, claim }
        : {
            kind: "fallen",
            severity: "info",
            text: `The dispute about claim ${claim} is over, it fell.`,
            claim,
          };
    }
    case "taken-up": {
      const { claim } = notice;
      const text = `Claim ${claim} was not checked by the challenger whose it was.`;
      return { kind: "taken-up", severity: "warning", text, claim };
    }
    case "move":
      return undefined;
    default:
      return promiseAlert(notice);
  }
}

function promiseAlert(notice: PromiseNotice): Alert | undefined {
  switch (notice.kind) {
    case "leaves": {
      const { batch: promise, model, wrong, unchecked } = notice;
      if (wrong > 0) {
        const text = `${wrong} leaves of batch ${promise} of ${model} are wrong.`;
        return { kind: "wrong-leaves", severity: "critical", text, promise, model };
      }
      if (unchecked === 0) return undefined;
      const text = `${unchecked} leaves of batch ${promise} of ${model} could not be checked.`;
      return { kind: "unchecked-leaves", severity: "warning", text, promise, model };
    }
    case "signed-claim": {
      const { digest: promise, model, verdict } = notice;
      if (verdict.kind !== "wrong") return undefined;
      const text = `Signed claim ${promise} of ${model} is wrong.`;
      return { kind: "wrong-signed-claim", severity: "critical", text, promise, model };
    }
    case "uncovered-batch": {
      const { batch: promise, modelId: model } = notice;
      const text = `Nobody here can check batch ${promise}: no folder holds its model.`;
      return { kind: "uncovered-batch", severity: "warning", text, promise, model };
    }
    case "promise-move":
      return undefined;
    case "promise-withheld": {
      const { promise, reason } = notice;
      const text = `Wrong promise ${promise} is not opened: ${reason}.`;
      return { kind: "withheld", severity: "critical", text, promise };
    }
    case "promise-over": {
      const { promise, ending } = notice;
      if (ending === "fallen") {
        return { kind: "promise-fallen", severity: "info", text: `Wrong promise ${promise} fell.`, promise };
      }
      const text = `Wrong promise ${promise} is over, and its prover keeps its stake: ${ending}.`;
      return { kind: "promise-lost", severity: "critical", text, promise };
    }
  }
}

function verdictAlert({ claim, model, verdict }: Extract<Notice, { kind: "verdict" }>): Alert | undefined {
  if (verdict.kind === "right") return undefined;
  const about = { claim: claim.id, model };
  if (verdict.kind === "wrong") {
    const text = `Claim ${claim.id} of ${model} by ${claim.claim.prover} is wrong.`;
    return { kind: "wrong-claim", severity: "critical", text, ...about };
  }
  const text = `Claim ${claim.id} of ${model} could not be checked: ${verdict.reason}.`;
  return { kind: "could-not-check", severity: "warning", text, ...about };
}
