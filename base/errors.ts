/** Named facts about a failure: the bad value, the limit, ids. Never secrets, never whole proofs or tensors. */
export type ErrorDetails = Readonly<
  Record<string, string | number | bigint | boolean | readonly string[] | undefined>
>;

export interface BaseErrorOptions {
  /** Stable, upper case with underscores, e.g. CALLDATA_NOT_CANONICAL: what callers branch on. */
  readonly code: string;
  /** One sentence with the bad value, the limit and the unit. */
  readonly shortMessage: string;
  /** What the reader does now, one sentence in the imperative. */
  readonly nextStep?: string;
  readonly details?: ErrorDetails;
  /** True if the same call can succeed later without a change of its input: a fault of network, node or load. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

const BRAND = Symbol.for("assay.BaseError");

/** The one error class. A verdict is a value; this is thrown when something could not be done or decided. */
export class BaseError extends Error {
  override readonly name = "BaseError";
  readonly code: string;
  readonly shortMessage: string;
  readonly nextStep: string | undefined;
  readonly details: ErrorDetails;
  readonly retryable: boolean;
  readonly [BRAND] = true;

  /** Errors of other copies of this class too: a user's own module may bring one along. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  constructor(options: BaseErrorOptions) {
    const { code, shortMessage, nextStep, details = {}, retryable = false, cause } = options;
    super(
      nextStep === undefined ? shortMessage : `${shortMessage} ${nextStep}`,
      cause === undefined ? {} : { cause },
    );
    this.code = code;
    this.shortMessage = shortMessage;
    this.nextStep = nextStep;
    this.details = details;
    this.retryable = retryable;
  }
}

/** True for a BaseError with this code; without a code, for any BaseError. */
export function isBaseError(error: unknown, code?: string): error is BaseError {
  return error instanceof BaseError && (code === undefined || error.code === code);
}

/** What another thread needs to throw it again, whose class does not travel; the cause stays behind. */
export const errorOptions = ({
  code,
  shortMessage,
  nextStep,
  details,
  retryable,
}: BaseError): BaseErrorOptions => ({
  ...{ code, shortMessage, details, retryable },
  ...(nextStep === undefined ? {} : { nextStep }),
});
