/** Reads README.md and the pages of docs/ as data: their fenced blocks, headings, links, and the rows of their tables. */
import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

export type Page = {
  /** Path from the root of the repository, such as `docs/api.md`. */
  path: string;
  text: string;
};

export type Block = {
  /** Such as `sh` or `json`. */
  language: string;
  text: string;
  /** The nearest heading above the block. */
  heading: string;
  /** Number of the line that opens the block, from 1. */
  line: number;
};

export function readPage(path: string): Page {
  return { path, text: readFileSync(new URL(path, ROOT), 'utf8') };
}

/** README.md first: it sets the shell variables that the other pages use. */
export const PAGES: readonly Page[] = [
  'README.md',
  ...readdirSync(new URL('docs/', ROOT))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
].map(readPage);

/** Returns the fenced blocks of a page. A block inside a list loses the indentation of the list. */
export function findBlocks(page: string): Block[] {
  return scan(page).blocks;
}

/** Returns the text of every heading, in the order of the page. Lines inside fenced blocks are no headings. */
export function findHeadings(page: string): string[] {
  return scan(page).headings;
}

/** Returns the anchor that GitHub gives a heading: lower case, punctuation removed, spaces replaced by hyphens. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns the targets of all links of a page, such as `api.md#errors`. */
export function findLinks(page: string): string[] {
  return [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

function scan(page: string): { blocks: Block[]; headings: string[] } {
  const blocks: Block[] = [];
  const headings: string[] = [];
  let open: { indent: string; block: Block } | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    const [, indent = '', language] = /^( *)```(\w*)$/.exec(line) ?? [];
    if (language !== undefined && open) {
      blocks.push(open.block);
      open = undefined;
    } else if (language !== undefined) {
      open = { indent, block: { language, text: '', heading: headings.at(-1) ?? '', line: index + 1 } };
    } else if (open) {
      const { indent, block } = open;
      block.text += `${line.startsWith(indent) ? line.slice(indent.length) : line}\n`;
    } else {
      const [, heading] = /^#+ (.*)$/.exec(line) ?? [];
      if (heading !== undefined) headings.push(heading);
    }
  }
  if (open) throw new Error(`the block that opens in line ${open.block.line} never ends`);
  return { blocks, headings };
}

/** Returns the cells of the table under a heading, without the head of the table. */
export function readTable(page: string, heading: string): string[][] {
  const section = page.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')));
}
