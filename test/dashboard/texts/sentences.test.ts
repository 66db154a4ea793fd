/** Sentences of the daemon are shown in the language of the reader, or as English ones; no translation is of a sentence that nothing says. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sentences } from '../../../src/dashboard/texts/de/sentences.ts';
import { TranslatedRefusal } from '../../../src/dashboard/texts/refusal.ts';
import { translate, translateRefusal } from '../../../src/dashboard/texts/sentences.ts';
import { KINDS } from '../../../src/emails/check/findings.ts';
import { AppError, invalid, limitReached, notFound } from '../../../src/system/errors.ts';

const ROOT = new URL('../../../', import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function sourcesIn(folder: string): string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => `${folder}${path}`);
}

const german = (sentence: string) => translate('de', sentence);
/** A literal of a source as the sentence that a reader may see: every inserted value is `1`, which fits wherever a number or a name does. */
const sampleOf = (literal: string) =>
  literal
    .slice(1, -1)
    .replace(/\$\{[^}]*\}/g, '1')
    .replace(/\\(.)/g, '$1');

test('a sentence is found with the values that stand in it, and one that is not known stays English and says so', () => {
  assert.deepEqual(german('`to[3]` is required'), { text: '`to[3]` fehlt.' });
  assert.deepEqual(german('`name` must have 1 to 100 characters, without control characters'), {
    text: '`name` muss 1 bis 100 Zeichen haben, ohne Steuerzeichen.',
  });
  assert.deepEqual(german('The domain a.example is not verified'), {
    text: 'Die Domain a.example ist noch nicht bestätigt.',
  });
  const unknown = 'Nobody has written this in another language';
  assert.deepEqual(german(unknown), { text: unknown, lang: 'en' });
  assert.deepEqual(translate('en', unknown), { text: unknown });
  const long = `\`name\` must be one of ${'x'.repeat(5_000)}`;
  assert.deepEqual(german(long), { text: long, lang: 'en' });
});

test('values are shown as they are, also when they look like a part of a translation', () => {
  assert.equal(german('There is no domain $& {1} {2}').text, 'Es gibt keine Domain $& {1} {2}.');
});

test('a refusal is translated by its sentence, by its kind, or not at all', () => {
  const wordsOf = (refusal: AppError) => translateRefusal('de', refusal);
  assert.equal(wordsOf(notFound('Email')).text, 'Das gibt es nicht, oder nicht mehr.');
  assert.equal(wordsOf(new AppError('unavailable', 'Something else')).lang, undefined);
  assert.match(wordsOf(limitReached('topics', 100)).text, /^Es gibt schon 100 davon/);
  assert.equal(wordsOf(invalid('name', '`name` must not be empty')).text, '`name` darf nicht leer sein.');
  assert.equal(wordsOf(new AppError('validation_error', 'Something else')).lang, 'en');
  assert.deepEqual(wordsOf(new TranslatedRefusal('validation_error', 'Schon auf Deutsch')), {
    text: 'Schon auf Deutsch',
  });
});

test('each sentence is translated once, with the same values in both languages', () => {
  const seen = new Set<string>();
  for (const [english, translated] of sentences) {
    assert.ok(!seen.has(english), english);
    seen.add(english);
    const values = new Set(english.match(/\{\d\}/g));
    for (const value of translated.match(/\{\d\}/g) ?? []) assert.ok(values.has(value), translated);
  }
});

/** Where the program puts sentences together of parts. */
const SEAMS = /\{\d\}|[;:] | \(| is not supported by | must be /;
/** Length in characters from which a part of a sentence says enough to be looked for. */
const MIN_PART_CHARACTERS = 12;

test('every translated sentence is one that the program says', () => {
  const sources = sourcesIn('src/')
    .filter((path) => !path.startsWith('src/dashboard/texts/'))
    .map(read);
  const all = [...sources, read('config/replies.yaml')].join('\n').replace(/\\(?=[`'"])/g, '');
  const stale = sentences.flatMap(([english]) =>
    english
      .split(SEAMS)
      .map((part) => part.replace(/^\W+/, ''))
      .filter((part) => part.length >= MIN_PART_CHARACTERS && !all.includes(part))
      .map((part) => `${english}: ${part}`),
  );
  assert.deepEqual(stale, []);
});

const LITERAL = String.raw`(?:'(?:[^'\\]|\\.)*'|\x60(?:[^\x60\\]|\\.)*\x60)`;
/** A refusal, with its sentence, or with the expression in its place. */
const REFUSAL = new RegExp(
  String.raw`(?:new AppError|(?<![.\w])invalid)\(\s*[^,]+,\s*(${LITERAL}|[^\s,)]+)`,
  'g',
);
/** Sources that pass on refusals of others, whose sentences are translated where they are shown. */
const PASSING_ON = ['src/dashboard/marketing/segments/refusal.ts'];

test('every refusal of the dashboard itself is translated, and none is an English one with a text of the catalogue', () => {
  const found: string[] = [];
  let count = 0;
  for (const path of sourcesIn('src/dashboard/').filter((one) => !PASSING_ON.includes(one))) {
    for (const [, said = ''] of read(path).matchAll(REFUSAL)) {
      count += 1;
      const isLiteral = /^['`]/.test(said);
      if (!isLiteral || german(sampleOf(said)).lang !== undefined) found.push(`${path}: ${said}`);
    }
  }
  assert.deepEqual(found, []);
  assert.ok(count >= 45, `only ${count} refusals were found`);
});

test('what to do after every reply of the shipped table, and what checks of emails and broadcasts find, is translated', () => {
  const advice = read('config/replies.yaml')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => /\badvice: (?:'([^']+)'|([A-Z].*))/.exec(line)?.slice(1) ?? [])
    .filter((text) => text !== undefined);
  assert.ok(advice.length >= 35);
  const lacking = [...read('src/emails/check/client-support.ts').matchAll(/lacking\('([^']+)'/g)];
  assert.ok(lacking.length >= 20);
  const source = read('src/broadcasts/preflight/warnings.ts').replace(/\/\*.*?\*\//gs, '');
  const warnings = [...source.matchAll(new RegExp(LITERAL, 'g'))]
    .map(([literal]) => sampleOf(literal))
    .filter((text) => /^[^\s`].* .* .* /.test(text));
  assert.ok(warnings.length >= 10, String(warnings.length));
  const said = [
    ...advice,
    ...Object.values(KINDS).map(({ message }) => message),
    ...lacking.map(([, what]) => `${what} is not supported by Gmail, Yahoo`),
    ...warnings,
  ];
  assert.deepEqual(
    said.filter((sentence) => german(sentence).lang !== undefined),
    [],
  );
});
