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
