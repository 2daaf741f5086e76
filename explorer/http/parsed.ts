/** Path and query of a route, by their forms. */
import type { z } from "zod";
import { BaseError } from "../../base/errors.ts";

/** @throws BaseError QUERY_INVALID, ID_INVALID naming the first part that is wrong, and what it must be */
export function parsed<Form extends z.ZodObject>(
  form: Form,
  value: unknown,
  place: "path" | "query",
): z.output<Form> {
  const result = form.safeParse(place === "path" ? lowerCased(value) : value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const name = issue?.path.join(".") || "The query";
  throw new BaseError({
    code: place === "path" ? "ID_INVALID" : "QUERY_INVALID",
    shortMessage: `${name} cannot be used: ${issue?.message}.`,
    nextStep: "GET /openapi.json says what this route takes.",
    details: { name, known: Object.keys(form.shape) },
  });
}

/** Ids may be written in any case. */
const lowerCased = (parameters: unknown): unknown => {
  const { id, ...rest } = parameters as Record<string, string>;
  return id === undefined ? rest : { ...rest, id: id.toLowerCase() };
};
