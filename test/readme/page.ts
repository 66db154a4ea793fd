/** The README as data: its fenced blocks, and the rows of its tables. */
import { readFileSync } from 'node:fs';

export type Block = {
  /** Such as `sh` or `json`. */
  language: string;
  text: string;
  /** The nearest heading above it. */
  heading: string;
  /** Where its fence opens, from 1. */
  line: number;
};

export const PAGE = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** Blocks inside a list are indented with it; their text is not. */
export function findBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: { indent: string; block: Block } | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    const [, indent = '', language] = /^( *)```(\w*)$/.exec(line) ?? [];
    if (language !== undefined && open) {
      blocks.push(open.block);
      open = undefined;
    } else if (language !== undefined) {
      open = { indent, block: { language, text: '', heading, line: index + 1 } };
    } else if (open) {
      const { indent, block } = open;
      block.text += `${line.startsWith(indent) ? line.slice(indent.length) : line}\n`;
    } else {
      heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
    }
  }
  if (open) throw new Error(`the block that opens in line ${open.block.line} never ends`);
  return blocks;
}

/** The cells of a table under a heading, without its head. */
export function readTable(page: string, heading: string): string[][] {
  const section = page.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')));
}
