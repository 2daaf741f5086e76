/** Signed answers asked for by many inputs in a request. */
import { type Load, load } from "./http-load.ts";

export const INPUTS = 64;
export const REQUESTERS = 4;

/** @param id of a model that takes texts @param query of the route
 *  @returns a second and refused: of answers; times: of requests */
export async function loadTogether(
  port: number,
  id: string,
  texts: readonly string[],
  query = "",
): Promise<Load> {
  const bodies: Uint8Array[] = [];
  for (let from = 0; from < texts.length; from += INPUTS) {
    const inputs = texts.slice(from, from + INPUTS).map((text) => ({ text }));
    bodies.push(Buffer.from(JSON.stringify({ inputs })));
  }
  const path = `/v1/tools/${id}/signed-claims${query}`;
  const requests = await load(port, path, bodies, REQUESTERS, "application/json");
  return {
    ...requests,
    aSecond: (requests.aSecond * texts.length) / bodies.length,
    refused: requests.refused * INPUTS,
  };
}
