/** JSON that people edit: comments and a comma after the last item are allowed. */

/** Strings stay as they are; what else matches goes. Each alternative also matches what does not end, so that no text
 *  is looked at twice; JSON.parse then refuses it. */
const STRINGS_AND_COMMENTS = /"(?:[^"\\]|\\.)*"?|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?/g;
const STRINGS_AND_LAST_COMMAS = /"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])/g;

/** @returns plain JSON, its lines where they were
 *  @throws SyntaxError as JSON.parse does */
export function parseJsonWithComments(text: string): unknown {
  const blank = (found: string): string => (found.startsWith('"') ? found : found.replace(/[^\n]/g, " "));
  return JSON.parse(text.replace(STRINGS_AND_COMMENTS, blank).replace(STRINGS_AND_LAST_COMMAS, blank));
}
