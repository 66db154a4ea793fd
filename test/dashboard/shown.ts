/** Reads the texts of pages, for tests of the dashboard. */
import { Parser } from 'htmlparser2';

/** Returns the texts of all elements with this name, in their order. */
export function textsIn(html: string, element: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  const parser = new Parser(
    {
      onopentagname(name) {
        if (name !== element) return;
        if (depth === 0) texts.push('');
        depth++;
      },
      ontext(text) {
        if (depth > 0) texts[texts.length - 1] += text;
      },
      onclosetag(name) {
        if (name === element) depth--;
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return texts;
}
