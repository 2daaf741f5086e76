/** The container of iden3's files: magic, version, then sections of a type and a length. Source: the format of
 *  .r1cs, .wtns and .zkey files, https://github.com/iden3/r1csfile/blob/master/doc/r1cs_bin_format.md. */
import { concatBytes, viewOf } from "../../../../base/bytes.ts";
import { BaseError } from "../../../../base/errors.ts";

export type Section = readonly [type: number, content: Uint8Array];

export function writeBinFile(magic: string, version: number, sections: readonly Section[]): Uint8Array {
  const head = new Uint8Array(12);
  head.set(new TextEncoder().encode(magic));
  viewOf(head).setUint32(4, version, true);
  viewOf(head).setUint32(8, sections.length, true);
  return concatBytes(
    head,
    ...sections.flatMap(([type, content]) => [sectionHead(type, content.length), content]),
  );
}

function sectionHead(type: number, length: number): Uint8Array {
  const head = new Uint8Array(12);
  viewOf(head).setUint32(0, type, true);
  viewOf(head).setBigUint64(4, BigInt(length), true);
  return head;
}

/** @returns content by type, views on the same memory
 *  @throws BaseError BINFILE_INVALID for another magic, or sections that leave the file or come twice */
export function readBinFile(magic: string, bytes: Uint8Array): Map<number, Uint8Array> {
  const found = new TextDecoder("latin1").decode(bytes.subarray(0, 4));
  if (bytes.length < 12 || found !== magic) refuse(magic, `it starts with ${JSON.stringify(found)}`);
  const view = viewOf(bytes);
  const sections = new Map<number, Uint8Array>();
  let at = 12;
  for (let left = view.getUint32(8, true); left > 0; left--) {
    if (at + 12 > bytes.length) refuse(magic, `byte ${at} should start a section`);
    const type = view.getUint32(at, true);
    const length = Number(view.getBigUint64(at + 4, true));
    at += 12;
    if (at + length > bytes.length) refuse(magic, `section ${type} of ${length} bytes leaves the file`);
    if (sections.has(type)) refuse(magic, `section ${type} comes twice`);
    sections.set(type, bytes.subarray(at, at + length));
    at += length;
  }
  return sections;
}

function refuse(magic: string, why: string): never {
  throw new BaseError({
    code: "BINFILE_INVALID",
    shortMessage: `The file is no ${magic} file: ${why}.`,
    nextStep: "Make it again with `assay proof setup`.",
    details: { magic },
  });
}

/** Unsigned integers as 32 bytes, little-endian. */
export function writeFields(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(32 * values.length);
  const view = viewOf(bytes);
  values.forEach((value, i) => {
    let rest = value;
    for (let at = 32 * i; rest !== 0n; at += 8) {
      view.setBigUint64(at, rest & 0xffff_ffff_ffff_ffffn, true);
      rest >>= 64n;
    }
  });
  return bytes;
}

export const u32s = (...values: readonly number[]): Uint8Array => {
  const bytes = new Uint8Array(4 * values.length);
  values.forEach((value, i) => {
    viewOf(bytes).setUint32(4 * i, value, true);
  });
  return bytes;
};
