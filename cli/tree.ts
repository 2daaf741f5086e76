/** A tree as lines for people. */
export interface TreeNode {
  readonly text: string;
  readonly children: readonly TreeNode[];
}

export const leaf = (text: string): TreeNode => ({ text, children: [] });

export function treeLines({ text, children }: TreeNode): string[] {
  return [
    text,
    ...children.flatMap((child, i) => {
      const isLast = i === children.length - 1;
      const [first = "", ...rest] = treeLines(child);
      return [`${isLast ? "└─ " : "├─ "}${first}`, ...rest.map((line) => `${isLast ? "   " : "│  "}${line}`)];
    }),
  ];
}
