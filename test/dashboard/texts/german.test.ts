/** The German texts have one word for one thing, whichever page it is on. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const FOLDER = new URL('../../../src/dashboard/texts/de/', import.meta.url);

/** Words that some page has used, each with the one that all pages use. */
const ONE_WORD: readonly (readonly [other: RegExp, word: string])[] = [
  [/Kampagne|Rundschreiben|Newsletter|Rundbrief/, 'Rundmail'],
  [/Zielgruppe|Adressliste/, 'Verteiler'],
  [/Kennung|\bIds?\b/, 'ID'],
  [/\bTemplates?\b|Schablone/, 'Vorlage'],
  [/\bTopics?\b/, 'Thema'],
  [/\bTags?: |mit diesem Tag\b/, 'Schlagwort'],
  [/'beschwert'/, 'als Spam gemeldet'],
  [/'[Vv]erschoben'/, 'aufgeschoben'],
  [/'[Gg]escheitert'/, 'fehlgeschlagen'],
  [/geprüften? Domain/, 'bestätigte Domain'],
  [/Prüfprotokoll|Audit-Log/, 'Protokoll'],
];

test('no text has another word for what the others call by one', () => {
  const found = readdirSync(FOLDER).flatMap((file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    const lines = text.split('\n').filter((line) => !/^(?:import|export|\/\*\*)/.test(line));
    return lines.flatMap((line) =>
      ONE_WORD.flatMap(([other, word]) => (other.test(line) ? [`${file}: ${line.trim()} (${word})`] : [])),
    );
  });
  assert.deepEqual(found, []);
});

test('people are addressed as Sie', () => {
  for (const file of readdirSync(FOLDER)) {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    assert.doesNotMatch(text, /\b(?:[Dd]u|[Dd]ein\w*|[Dd]ich|[Dd]ir)\b/, file);
  }
});
