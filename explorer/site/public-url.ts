/** A node's URL that becomes public: everybody who opens a site reads it. */
import { BaseError } from "../../base/errors.ts";

/** As long as the keys of providers are; words of paths are shorter. */
const LEAST_KEY = 20;
const KEY_NAME = /key|token|secret|auth|pass/i;
/** Machines and networks that strangers do not reach. */
const NEAR =
  /^(localhost|.*\.(local|internal|localhost)|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|\[::1\]|\[f[cd].*\]|0\.0\.0\.0)$/i;

/** What whoever publishes the URL should know before; none for a URL that is meant for everybody.
 *  @throws BaseError RPC_URL_NOT_PUBLIC for one with a user's name or password, which no browser asks */
export function publicityWarnings(url: string): string[] {
  const { hostname, host, protocol, pathname, searchParams, username, password } = new URL(url);
  if (username !== "" || password !== "") {
    throw new BaseError({
      code: "RPC_URL_NOT_PUBLIC",
      shortMessage: `The URL of the node at ${host} holds a name or a password, which no browser sends from a page.`,
      nextStep: "Name a node that answers everybody with --rpc-url.",
    });
  }
  const isNear = NEAR.test(hostname);
  const holdsKey =
    pathname.split("/").some(looksLikeKey) ||
    [...searchParams].some(([name, value]) => KEY_NAME.test(name) || looksLikeKey(value));
  return [
    ...(holdsKey
      ? [
          `The URL of the node at ${host} holds what looks like a key: everybody who opens the site can read it and use it up. Name a node without one, or a key that only this site's origin may use.`,
        ]
      : []),
    ...(isNear
      ? [`The node at ${host} answers on its own machine or network alone, and so does the site.`]
      : []),
    ...(protocol === "http:" && !isNear
      ? [`The node at ${host} is asked by http: no browser does that from a site with https.`]
      : []),
  ];
}

const looksLikeKey = (text: string): boolean =>
  text.length >= LEAST_KEY && /^[\w-]+$/.test(text) && /\d/.test(text) && /[a-z]/i.test(text);
