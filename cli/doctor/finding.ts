/** What `assay doctor` says of one thing. */
import { BaseError } from "../../base/errors.ts";

export interface Finding {
  /** what was looked at */
  readonly subject: string;
  /** warn: it works, and the operator should know; fail: a daemon would not work, or lose money */
  readonly status: "ok" | "warn" | "fail";
  readonly text: string;
  /** what to do about it */
  readonly nextStep?: string | undefined;
}

export const ok = (subject: string, text: string): Finding => ({ subject, status: "ok", text });
export const warn = (subject: string, text: string, nextStep: string): Finding => ({
  subject,
  status: "warn",
  text,
  nextStep,
});
export const fail = (subject: string, text: string, nextStep?: string): Finding => ({
  subject,
  status: "fail",
  text,
  nextStep,
});

/** Runs a check; what it throws is a finding too. */
export async function found(
  subject: string,
  check: () => Promise<Finding[]> | Finding[],
): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof BaseError) return [fail(subject, error.shortMessage, error.nextStep)];
    return [fail(subject, error instanceof Error ? error.message : String(error))];
  }
}

/** For one look, ms. */
const LOOK_MS = 10_000;
/** After which it says what it waits for, ms. */
const PATIENCE_MS = 1_000;

/** As `found`, but not for ever, and not in silence.
 *  @param what is looked at, for whoever waits @param report absent: on standard error */
export async function inTime(
  subject: string,
  what: string,
  check: () => Promise<Finding[]> | Finding[],
  report: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<Finding[]> {
  const reporting = setTimeout(
    () => report(`${subject}: waiting for ${what}, at most ${LOOK_MS / 1_000} s`),
    PATIENCE_MS,
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    const finding = fail(
      subject,
      `${what} gave no answer within ${LOOK_MS / 1_000} s`,
      "See whether it runs, and run `assay doctor` again.",
    );
    timer = setTimeout(() => resolve([finding]), LOOK_MS);
  });
  try {
    return await Promise.race([found(subject, check), late]);
  } finally {
    clearTimeout(reporting);
    clearTimeout(timer);
  }
}
