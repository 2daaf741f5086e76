import type { ApiError } from "../../api/types.ts";

/** What an answer that is no success says, or that there was no answer. */
export class ApiFailure extends Error {
  readonly code: string;
  readonly nextStep: string;
  /** of HTTP; undefined where nothing answered */
  readonly status: number | undefined;

  constructor(code: string, message: string, nextStep: string, status?: number) {
    super(message);
    this.name = "ApiFailure";
    this.code = code;
    this.nextStep = nextStep;
    this.status = status;
  }
}

export async function failureOf(response: Response): Promise<ApiFailure> {
  try {
    const { error } = (await response.json()) as ApiError;
    return new ApiFailure(error.code, error.message, error.nextStep, response.status);
  } catch {
    const message = `The explorer answered ${response.status} without saying why.`;
    return new ApiFailure("ANSWER_INVALID", message, "Look at the log of the explorer.", response.status);
  }
}
