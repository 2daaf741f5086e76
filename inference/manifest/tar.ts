/** A tar archive that depends on nothing but names and content: no times, owners or modes of a machine. */

import { concatBytes } from "../../base/bytes.ts";

const BLOCK = 512;

/** POSIX ustar, files in the given order. @param files names of at most 99 ASCII characters */
export function tar(files: readonly { readonly name: string; readonly content: Uint8Array }[]): Uint8Array {
  const parts = files.flatMap(({ name, content }) => [header(name, content.length), padded(content)]);
  return concatBytes(...parts, new Uint8Array(2 * BLOCK));
}

function padded(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(content.length / BLOCK) * BLOCK);
  bytes.set(content);
  return bytes;
}

function header(name: string, size: number): Uint8Array {
  const bytes = new Uint8Array(BLOCK);
  const put = (at: number, text: string): void => {
    bytes.set(new TextEncoder().encode(text), at);
  };
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");
  put(0, name);
  put(100, octal(0o644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(size, 11));
  put(136, octal(0, 11));
  put(148, "        ");
  put(156, "0");
  put(257, "ustar");
  put(263, "00");
  put(
    148,
    `${octal(
      bytes.reduce((sum, b) => sum + b, 0),
      6,
    )}\0 `,
  );
  return bytes;
}
