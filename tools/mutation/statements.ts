/** Finds the statements of function bodies in Solidity or TypeScript as the two formatters lay them out, without
 *  understanding more of the languages than brackets, comments and a few keywords. */
import { closing, OPEN, type Place } from "./places.ts";
import { assemblyPlaces } from "./yul.ts";

export type Language = "solidity" | "typescript";

/** The text with comments and strings blanked, so that positions stay. */
export function masked(text: string): string {
  const tokens = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
  return text.replace(tokens, (token) => token.replace(/[^\n]/g, " "));
}

const BODIES: Readonly<Record<Language, RegExp>> = {
  solidity: /\b(?:function|modifier|constructor)\b[^;{}]*\{/g,
  // A function, a method or an arrow with a block.
  typescript:
    /(?:\bfunction\b|\n {2}(?!(?:if|for|while|switch)\b)(?:(?:static|async|get) )*#?\w+\()[^;{}]*?(?:\{[^{}]*\}[^;{}]*?)*?\)[^;{}]*\{\n|=> \{\n/g,
};

/** Constants that are an arrow without a block, up to what they give. */
const ARROW = /^(?:export )?const \w+ = \([^;]*?\)[^;=]*=>\s+(?!\{)/gm;

const DECLARATION: Readonly<Record<Language, RegExp>> = {
  solidity: /^(?:[A-Za-z]\w*(?:\.\w+)?(?:\[\d*\])*(?: (?:memory|calldata|storage))? \w+) =\s/,
  typescript: /^(?:const|let) [^=]*? =\s/,
};

/** Places of all function bodies, in order. */
export function findPlaces(text: string, language: Language): Place[] {
  const code = masked(text);
  const places: Place[] = [];
  let done = 0;
  for (const match of code.matchAll(BODIES[language])) {
    const open = match.index + match[0].lastIndexOf("{");
    if (open < done) continue;
    done = closing(code, open);
    new Scanner(code, language, places).block(open);
  }
  if (language === "typescript")
    for (const { 0: head, index } of code.matchAll(ARROW))
      places.push({ kind: "value", start: index + head.length, end: code.indexOf(";", index) });
  return places.sort((a, b) => a.start - b.start);
}

class Scanner {
  readonly #code: string;
  readonly #language: Language;
  readonly #places: Place[];

  constructor(code: string, language: Language, places: Place[]) {
    this.#code = code;
    this.#language = language;
    this.#places = places;
  }

  /** Statements between the brace at `open` and its counterpart. @returns the position after that */
  block(open: number): number {
    const end = closing(this.#code, open);
    for (let at = this.#skip(open + 1); at < end; at = this.#skip(at)) at = this.#statement(at);
    return end + 1;
  }

  #skip(at: number): number {
    let next = at;
    while (/\s/.test(this.#code[next] ?? "x")) next++;
    return next;
  }

  /** @returns the position after the statement at `at` */
  #statement(at: number): number {
    const code = this.#code;
    if (code[at] === "{") return this.block(at);
    const word = /^\w+/.exec(code.slice(at, at + 20))?.[0] ?? "";
    if (word === "unchecked" || word === "else" || word === "do")
      return this.#statement(this.#skip(at + word.length));
    if (word === "assembly" && this.#language === "solidity")
      return assemblyPlaces(code, code.indexOf("{", at), this.#places);
    if (word === "switch" || word === "try") return closing(code, code.indexOf("{", at)) + 1;
    if (word === "if" || word === "while" || word === "for") return this.#branch(at + word.length, word);
    return this.#simple(at);
  }

  #branch(at: number, word: string): number {
    const open = this.#code.indexOf("(", at);
    const end = closing(this.#code, open);
    if (word !== "for") this.#add("condition", open + 1, end);
    else {
      const header = this.#code.slice(open, end);
      const [first, last] = [header.indexOf(";"), header.lastIndexOf(";")];
      if (first >= 0 && last > first) this.#add("condition", open + first + 1, open + last);
    }
    return this.#statement(this.#skip(end + 1));
  }

  #simple(at: number): number {
    let end = at;
    while (end < this.#code.length && this.#code[end] !== ";")
      end = OPEN.includes(this.#code[end] as string) ? closing(this.#code, end) + 1 : end + 1;
    const text = this.#code.slice(at, end);
    const declared = DECLARATION[this.#language].exec(text);
    if (/=> \{\n/.test(text)) this.#inner(at, end);
    else if (declared !== null && !text.startsWith("return "))
      this.#add("value", at + declared[0].length, end);
    else if (!this.#isBare(text)) this.#add("statement", at, end + 1);
    return end + 1;
  }

  /** Bodies of functions inside a statement. */
  #inner(at: number, end: number): void {
    for (let arrow = this.#code.indexOf("=> {\n", at); arrow >= 0 && arrow < end; ) {
      const next = this.block(arrow + "=> ".length);
      arrow = this.#code.indexOf("=> {\n", next);
    }
  }

  /** Nothing that could be left out, or that names something later statements need. */
  #isBare(text: string): boolean {
    return (
      text === "_" ||
      text === "" ||
      /^\((?:\w+ )?\w* ?\w*[,)].*\) =\s/s.test(text) ||
      /^(?!return|revert|delete|emit|throw)[\w.\][]+(?: memory| storage| calldata)? \w+$/.test(text)
    );
  }

  #add(kind: Place["kind"], start: number, end: number): void {
    this.#places.push({ kind, start, end });
  }
}
