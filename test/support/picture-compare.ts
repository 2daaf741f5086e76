/** Pages against what they looked like, by a measure that other fonts do not move and a broken layout does. A page is its
 *  blocks (header, headings, sheets): each has to stand where it stood, as wide, about as high, in the same order, and
 *  its picture, shrunk to a few blurred cells, has to be as bright and as full. Only widths are compared closely: how
 *  high text is depends on where its lines break. */
import type { Page } from "playwright-core";

/** Pixels across of a committed picture; its height follows. */
const WIDTH = 160;
/** Of the window's width that a block's sides may differ by. */
const SIDEWAYS = 0.04;
/** Times that a block may be higher or lower, and pixels besides. */
const [TIMES, BESIDES] = [1.9, 60];
/** Pixels by which the gap above a block may differ, and by which blocks may overlap that did not. */
const [GAP, OVERLAP] = [90, 6];
/** Most that a block's cells may differ on average: brightness and ink, each from 0 to 1. */
export const MOST_DIFFERENT = 0.11;
/** Cells of a block's picture. */
const [COLUMNS, ROWS] = [3, 2];

/** A block of a page, in pixels of the page. */
export interface Block {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
/** How a page looks: its picture, `WIDTH` across, and its blocks. */
export interface Look {
  readonly png: Buffer;
  readonly width: number;
  readonly blocks: readonly Block[];
}

const SELECTOR =
  "header.shell-header, .shell-nav, h1, main section, main article, main .sheet, main .columns, footer.shell-footer";

/** @param page as it is, scrolled to its beginning @param blank a page without a policy */
export async function lookOf(page: Page, blank: Page): Promise<Look> {
  const blocks = (await page.evaluate(BLOCKS)) as Block[];
  const full = await page.screenshot({ fullPage: true });
  const { png } = await shrink(blank, full);
  return { png: Buffer.from(png, "base64"), width: page.viewportSize()?.width ?? 0, blocks };
}

/** In the browser: every visible block, by the order of the document. */
const BLOCKS = `[...document.querySelectorAll(${JSON.stringify(SELECTOR)})].map((element, i) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  const label = element.getAttribute("aria-labelledby") ?? element.className.split(" ")[0];
  const round = Math.round;
  return {
    name: element.localName + (label ? "." + label : ""),
    x: round(x), y: round(y + scrollY), width: round(width), height: round(height),
  };
}).filter(({ width, height }) => width > 0 && height > 0)`;

interface Small {
  readonly png: string;
  /** brightness of each pixel, 0 to 255, row by row */
  readonly grey: readonly number[];
  readonly height: number;
}

/** Chromium decodes, shrinks and encodes. @param png of any size */
const shrink = async (blank: Page, png: Buffer): Promise<Small> =>
  (await blank.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(png.toString("base64"))}), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const height = Math.round((image.height * ${WIDTH}) / image.width);
    const canvas = new OffscreenCanvas(${WIDTH}, height);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, ${WIDTH}, height);
    const { data } = context.getImageData(0, 0, ${WIDTH}, height);
    const grey = Array.from({ length: ${WIDTH} * height }, (_, i) =>
      Math.round(0.3 * data[4 * i] + 0.59 * data[4 * i + 1] + 0.11 * data[4 * i + 2]));
    // Grey alone: what is kept is small, and colours are not compared.
    for (const [i, value] of grey.entries()) data.fill(value & 0xf0, 4 * i, 4 * i + 3);
    context.putImageData(new ImageData(data, ${WIDTH}, height), 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/png" });
    const text = Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte));
    return { png: btoa(text.join("")), grey, height };
  })()`)) as Small;

/** What is wrong with a look, one line each; nothing where it is as it was. */
export async function differencesOf(blank: Page, was: Look, is: Look): Promise<string[]> {
  const names = (look: Look) => look.blocks.map(({ name }) => name).join(", ");
  if (names(was) !== names(is)) return [`the blocks are ${names(is)}, and were ${names(was)}`];
  const [before, now] = [await shrink(blank, was.png), await shrink(blank, is.png)];
  return was.blocks.flatMap((block, i) => {
    const other = is.blocks[i] as Block;
    const problem =
      placeProblem(block, other, was, is) ??
      gapProblem(was.blocks, is.blocks, i) ??
      (isText(block)
        ? undefined
        : pictureProblem(cellsOf(before, block, was.width), cellsOf(now, other, is.width)));
    return problem === undefined ? [] : [`${block.name} ${problem}`];
  });
}

/** As wide as its words, of which it is full. */
const isText = ({ name }: Block): boolean => name.startsWith("h1");

function placeProblem(
  was: Block,
  is: Block,
  { width: wasWide }: Look,
  { width: isWide }: Look,
): string | undefined {
  const sides = ({ x, width }: Block, wide: number) => [x / wide, (x + width) / wide];
  const [left, right] = sides(was, wasWide).map((side, i) =>
    Math.abs(side - (sides(is, isWide)[i] as number)),
  );
  if (Math.max(left as number, isText(was) ? 0 : (right as number)) > SIDEWAYS)
    return `is from ${is.x} to ${is.x + is.width} pixels, and was from ${was.x} to ${was.x + was.width}`;
  const [low, high] = [Math.min(was.height, is.height), Math.max(was.height, is.height)];
  return high > TIMES * low + BESIDES ? `is ${is.height} pixels high, and was ${was.height}` : undefined;
}

/** How far a block begins behind the end of the nearest block above it that shares a column and does not hold it. */
function gapAbove(blocks: readonly Block[], i: number): number | undefined {
  const { x, y, width } = blocks[i] as Block;
  const above = blocks
    .slice(0, i)
    .filter((one) => one.x < x + width && x < one.x + one.width && !holds(one, blocks[i] as Block));
  return above.length === 0 ? undefined : y - Math.max(...above.map((one) => one.y + one.height));
}

const holds = (outer: Block, inner: Block): boolean =>
  outer.y <= inner.y && inner.y + inner.height <= outer.y + outer.height + OVERLAP;

function gapProblem(was: readonly Block[], is: readonly Block[], i: number): string | undefined {
  const [before, now] = [gapAbove(was, i), gapAbove(is, i)];
  if (before === undefined || now === undefined) {
    return before === now ? undefined : "stands in another column, or inside of another block";
  }
  if (before >= -OVERLAP && now < -OVERLAP) return `overlaps what is above it by ${-now} pixels`;
  return Math.abs(before - now) > GAP
    ? `begins ${now} pixels behind what is above it, and was ${before}`
    : undefined;
}

interface Cell {
  /** mean brightness, 0 to 1 */
  readonly light: number;
  /** how much brightness changes from pixel to pixel, 0 to 1 */
  readonly ink: number;
}

function cellsOf({ grey, height }: Small, block: Block, pageWidth: number): Cell[] {
  const scale = WIDTH / pageWidth;
  const at = (x: number, y: number): number =>
    grey[Math.min(height - 1, y) * WIDTH + Math.min(WIDTH - 1, x)] ?? 0;
  const bound = (from: number, size: number, parts: number, i: number) =>
    Math.round(scale * (from + (size * i) / parts));
  return Array.from({ length: COLUMNS * ROWS }, (_, i): Cell => {
    const [column, row] = [i % COLUMNS, Math.floor(i / COLUMNS)];
    const [left, right] = [column, column + 1].map((at) => bound(block.x, block.width, COLUMNS, at)) as [
      number,
      number,
    ];
    const [top, bottom] = [row, row + 1].map((at) => bound(block.y, block.height, ROWS, at)) as [
      number,
      number,
    ];
    let [light, ink, count] = [0, 0, 0];
    for (let y = top; y < Math.max(bottom, top + 1); y++)
      for (let x = left; x < Math.max(right, left + 1); x++) {
        light += at(x, y);
        ink += Math.abs(at(x, y) - at(x + 1, y)) + Math.abs(at(x, y) - at(x, y + 1));
        count += 1;
      }
    // Text changes by a tenth of what two pixels could.
    return { light: light / (255 * count), ink: Math.min(1, (4 * ink) / (2 * 255 * count)) };
  });
}

function pictureProblem(was: readonly Cell[], is: readonly Cell[]): string | undefined {
  const mean =
    was.reduce((sum, { light, ink }, i) => {
      const other = is[i] as Cell;
      return sum + Math.abs(light - other.light) + Math.abs(ink - other.ink);
    }, 0) / was.length;
  return mean > MOST_DIFFERENT
    ? `looks otherwise: its cells differ by ${mean.toFixed(2)}, at most ${MOST_DIFFERENT}`
    : undefined;
}
