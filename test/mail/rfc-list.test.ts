import assert from 'node:assert/strict';
import { globSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';

const SOURCES = new URL('../../src/', import.meta.url);

/** RFC number -> files of `src/` that cite it. */
function citations(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const file of globSync('**/*.{ts,tsx}', { cwd: SOURCES })) {
    const numbers = readFileSync(new URL(file, SOURCES), 'utf8').matchAll(/\bRFCs?[\s*/]+([0-9]+)/g);
    for (const number of new Set([...numbers].map((match) => match[1] ?? ''))) {
      cited.set(number, [...(cited.get(number) ?? []), file]);
    }
  }
  return cited;
}

/** The rows of the table in `src/mail/README.md`: RFC number -> its files. */
function listed(): Map<string, string[]> {
  const text = readFileSync(new URL('mail/README.md', SOURCES), 'utf8');
  const rows = text.matchAll(/^\| ([0-9]+) \| [^|]+ \| (?:full|partial|cited) \| ([^|]+) \|/gm);
  return new Map(
    [...rows].map(([, number = '', files = '']) => [
      number,
      [...files.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
    ]),
  );
}

test('every RFC that the source cites is in the list', () => {
  const rows = listed();
  const missing = [...citations()].filter(([number]) => !rows.has(number));
  assert.deepEqual(
    missing.map(([number, files]) => `RFC ${number}: ${files.join(', ')}`),
    [],
  );
});

test('every file and folder in the list cites its RFC, and every file of src/mail that cites one is named', () => {
  const cited = citations();
  const wrong: string[] = [];
  for (const [number, places] of listed()) {
    const files = cited.get(number) ?? [];
    for (const place of places) {
      const isFolder = statSync(new URL(place, SOURCES), { throwIfNoEntry: false })?.isDirectory() ?? false;
      const found = files.some((file) => (isFolder ? file.startsWith(`${place}/`) : file === place));
      if (!found) wrong.push(`${place} does not cite RFC ${number}`);
    }
    for (const file of files.filter((name) => name.startsWith('mail/') && !places.includes(name))) {
      wrong.push(`${file} cites RFC ${number} and is not named`);
    }
  }
  assert.deepEqual(wrong, []);
});
