/** What the README says of scripts, commands, settings and files, held against those there are. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MOST_VALUE_CHARACTERS } from '../../src/audiences/contacts/fields.ts';
import { MOST_PROPERTIES, MOST_PROPERTIES_BYTES } from '../../src/audiences/contacts/merge.ts';
import { MOST_DEPTH, MOST_RULES } from '../../src/audiences/segments/filter.ts';
import { MOST_SEGMENTS } from '../../src/audiences/segments/store.ts';
import { MOST_AUDIENCES } from '../../src/audiences/store.ts';
import { runProgram } from '../../src/cli/program.ts';
import { MOST_DOMAINS } from '../../src/domains/store.ts';
import { BATCH_BODY_LIMIT_BYTES } from '../../src/emails/schemas.ts';
import {
  MOST_WAITING as MOST_EXPORTS,
  MOST_KEPT as MOST_EXPORTS_KEPT,
  MOST_KEPT_GIB,
} from '../../src/exports/store.ts';
import { CSV_BODY_LIMIT_BYTES } from '../../src/http/csv-body.ts';
import { MOST_TEXT_MIB } from '../../src/http/json-body.ts';
import { ATTACHMENTS_BODY_LIMIT_BYTES, BODY_LIMIT_BYTES } from '../../src/http/server.ts';
import { MOST_RECORD_BYTES } from '../../src/imports/records.ts';
import { MOST_COLUMNS } from '../../src/imports/run.ts';
import { MOST_ERRORS, MOST_WAITING as MOST_IMPORTS } from '../../src/imports/store.ts';
import { MOST_ROUTES } from '../../src/inbound/routes/store.ts';
import { MOST_SOURCE_BYTES, MOST_VARIABLES } from '../../src/templates/schemas.ts';
import { MOST_TEMPLATES } from '../../src/templates/store.ts';
import { MOST_ALLOWED_IPS } from '../../src/tenants/allowed-ips.ts';
import { MOST_KEYS } from '../../src/tenants/store.ts';
import { MOST_TOPICS } from '../../src/topics/store.ts';
import { MOST_ENDPOINTS } from '../../src/webhooks/store.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { findDifference } from './documented.ts';
import { findBlocks, PAGE, readTable } from './page.ts';

const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);

async function help(...command: string[]): Promise<string> {
  const terminal = fakeTerminal();
  assert.equal(await runProgram([...command, '--help'], terminal), 0, command.join(' '));
  return terminal.output;
}

/** Names under a heading of a help text. */
function listed(text: string, heading: 'Commands' | 'Options', item: RegExp): string[] {
  const section = text.split(/\n(?=\S)/).find((part) => part.startsWith(`${heading}:`)) ?? '';
  return [...section.matchAll(item)].map(([, name = '']) => name);
}

const commandsIn = (text: string) =>
  listed(text, 'Commands', /^ {2}([a-z]+(?:-[a-z]+)*)/gm).filter((name) => name !== 'help');
const optionsIn = (text: string) =>
  listed(text, 'Options', /(--[a-z-]+)/g).filter((name) => !['--help', '--version'].includes(name));

/** `tenant create`, with its options. */
async function findCommands(path: readonly string[] = []): Promise<Map<string, string[]>> {
  const text = await help(...path);
  const names = commandsIn(text);
  if (names.length === 0) return new Map([[path.join(' '), optionsIn(text).sort()]]);
  const found = await Promise.all(names.map((name) => findCommands([...path, name])));
  return new Map(found.flatMap((commands) => [...commands]));
}

test('the table of commands holds every command and each of its options', async () => {
  const documented = readTable(PAGE, 'Command line')
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command))
    .map((command): [string, string[]] => [
      /^[a-z-]+( [a-z][a-z-]*)*/.exec(command)?.[0] ?? '',
      [...command.matchAll(/--[a-z-]+/g)].map(([option]) => option).sort(),
    ]);
  assert.deepEqual(new Map(documented.sort()), new Map([...(await findCommands())].sort()));
});

test('the table of limits holds those that are kept to', () => {
  const KIB = 1024;
  const MIB = 1024 * KIB;
  const limits: Record<string, number[]> = {
    'A body': [
      ATTACHMENTS_BODY_LIMIT_BYTES / MIB,
      BATCH_BODY_LIMIT_BYTES / MIB,
      BODY_LIMIT_BYTES / MIB,
      MOST_TEXT_MIB,
    ],
    'A tenant': [MOST_DOMAINS, MOST_TEMPLATES, MOST_TOPICS, MOST_KEYS, MOST_ENDPOINTS],
    'A contact': [MOST_PROPERTIES, MOST_PROPERTIES_BYTES / KIB, MOST_VALUE_CHARACTERS],
    'A segment': [MOST_RULES, MOST_DEPTH],
    'A template': [MOST_SOURCE_BYTES / MIB, MOST_SOURCE_BYTES / MIB, MOST_VARIABLES],
    'A CSV file': [MOST_COLUMNS, MOST_RECORD_BYTES / KIB, MOST_ERRORS],
    Jobs: [MOST_IMPORTS, MOST_EXPORTS, MOST_EXPORTS_KEPT, MOST_KEPT_GIB],
    'A key': [MOST_ALLOWED_IPS],
  };
  const documented = new Map(readTable(PAGE, 'Limits').map(([, of = '', text = '']) => [of, text]));
  for (const [of, numbers] of Object.entries(limits)) {
    const said = [...(documented.get(of) ?? '').matchAll(/\d[\d,]*(?<!,)/g)].map(([number]) =>
      Number(number.replaceAll(',', '')),
    );
    assert.deepEqual(said.slice(0, numbers.length), numbers, of);
  }
  // Each of these is said with another.
  assert.equal(CSV_BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES);
  for (const most of [MOST_AUDIENCES, MOST_SEGMENTS, MOST_ROUTES]) assert.equal(most, MOST_DOMAINS);
});

test('every setting that is named exists', () => {
  const example = readFileSync(fromRoot('config/postrider.example.yaml'), 'utf8');
  const named = [...PAGE.matchAll(/POSTRIDER_[A-Z_]+/g)].map(([name]) => name);
  assert.ok(named.length > 10);
  for (const name of named.filter((variable) => variable !== 'POSTRIDER_CONFIG')) {
    assert.ok(example.includes(`(${name})`), name);
  }
});

test('every script that is named exists', () => {
  const { scripts } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'));
  const named = [...PAGE.matchAll(/npm (?:run ([a-z:]+)|(start|test))/g)].map(
    ([, run, short]) => run ?? short ?? '',
  );
  assert.ok(named.length > 5);
  for (const name of named) assert.ok(name in scripts, name);
});

test('every file that is linked exists', () => {
  const linked = [...PAGE.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path);
  assert.ok(linked.length >= 4);
  for (const path of linked) assert.ok(existsSync(fromRoot(path)), path);
});

test('blocks are found with their heading, without the indentation of their list, and must end', () => {
  const page = '# A\n```sh\na\n\n  b\n```\n## B\n1. x\n   ```json\n   {}\n   ```\n';
  assert.deepEqual(findBlocks(page), [
    { language: 'sh', text: 'a\n\n  b\n', heading: 'A', line: 2 },
    { language: 'json', text: '{}\n', heading: 'B', line: 9 },
  ]);
  // A heading inside a block is none.
  assert.equal(findBlocks('# A\n```sh\n# x\n```\n```sh\n```\n')[1]?.heading, 'A');
  assert.throws(() => findBlocks('```sh\na\n'), /line 1 never ends/);
});

test('an answer that is not the documented one is told, at the place where they differ', () => {
  const actual = { id: 'em_1', list: [{ a: 1, b: null }, { a: 2 }], more: true };
  for (const documented of [{}, { id: 'em_…' }, { list: [{ a: 1 }] }, { list: [{ b: null }], more: true }]) {
    assert.equal(findDifference(documented, actual), undefined);
  }
  for (const [documented, place] of [
    [{ id: 'dom_…' }, 'id'],
    [{ id: 'em_1…' }, 'id'],
    [{ id: 'em' }, 'id'],
    [{ id: '_1' }, 'id'],
    [{ id: 'em.1' }, 'id'],
    [{ list: [{ a: 1 }, { a: 3 }] }, 'list[1].a'],
    [{ list: [{ b: '…' }] }, 'list[0].b'],
    [{ list: { a: 1 } }, 'list'],
    [{ absent: false }, 'absent'],
    [{ more: 'true' }, 'more'],
  ] as const) {
    assert.equal(findDifference(documented, actual)?.split(':')[0], place);
  }
});
