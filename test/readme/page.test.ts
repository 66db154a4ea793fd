/** What the README says of scripts, commands, settings and files, held against those there are. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MAX_VALUE_CHARACTERS } from '../../src/audiences/contacts/fields.ts';
import { MAX_PROPERTIES, MAX_PROPERTIES_BYTES } from '../../src/audiences/contacts/merge.ts';
import { MAX_DEPTH, MAX_RULES } from '../../src/audiences/segments/filter.ts';
import { MAX_SEGMENTS } from '../../src/audiences/segments/store.ts';
import { MAX_AUDIENCES } from '../../src/audiences/store.ts';
import { runProgram } from '../../src/cli/program.ts';
import { MAX_DOMAINS } from '../../src/domains/store.ts';
import { MAX_BATCH_BODY_BYTES } from '../../src/emails/schemas.ts';
import {
  MAX_WAITING as MAX_EXPORTS,
  MAX_KEPT as MAX_EXPORTS_KEPT,
  MAX_KEPT_GIB,
} from '../../src/exports/store.ts';
import { MAX_CSV_BODY_BYTES } from '../../src/http/csv-body.ts';
import { MAX_TEXT_MIB } from '../../src/http/json-body.ts';
import { MAX_ATTACHMENTS_BODY_BYTES, MAX_BODY_BYTES } from '../../src/http/server.ts';
import { MAX_RECORD_BYTES } from '../../src/imports/records.ts';
import { MAX_COLUMNS } from '../../src/imports/run.ts';
import { MAX_ERRORS, MAX_WAITING as MAX_IMPORTS } from '../../src/imports/store.ts';
import { MAX_ROUTES } from '../../src/inbound/routes/store.ts';
import { MAX_SOURCE_BYTES, MAX_VARIABLES } from '../../src/templates/schemas.ts';
import { MAX_TEMPLATES } from '../../src/templates/store.ts';
import { MAX_ALLOWED_IPS } from '../../src/tenants/allowed-ips.ts';
import { MAX_KEYS } from '../../src/tenants/store.ts';
import { MAX_TOPICS } from '../../src/topics/store.ts';
import { MAX_ENDPOINTS } from '../../src/webhooks/store.ts';
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
      MAX_ATTACHMENTS_BODY_BYTES / MIB,
      MAX_BATCH_BODY_BYTES / MIB,
      MAX_BODY_BYTES / MIB,
      MAX_TEXT_MIB,
    ],
    'A tenant': [MAX_DOMAINS, MAX_TEMPLATES, MAX_TOPICS, MAX_KEYS, MAX_ENDPOINTS],
    'A contact': [MAX_PROPERTIES, MAX_PROPERTIES_BYTES / KIB, MAX_VALUE_CHARACTERS],
    'A segment': [MAX_RULES, MAX_DEPTH],
    'A template': [MAX_SOURCE_BYTES / MIB, MAX_SOURCE_BYTES / MIB, MAX_VARIABLES],
    'A CSV file': [MAX_COLUMNS, MAX_RECORD_BYTES / KIB, MAX_ERRORS],
    Jobs: [MAX_IMPORTS, MAX_EXPORTS, MAX_EXPORTS_KEPT, MAX_KEPT_GIB],
    'A key': [MAX_ALLOWED_IPS],
  };
  const documented = new Map(readTable(PAGE, 'Limits').map(([, of = '', text = '']) => [of, text]));
  for (const [of, numbers] of Object.entries(limits)) {
    const said = [...(documented.get(of) ?? '').matchAll(/\d[\d,]*(?<!,)/g)].map(([number]) =>
      Number(number.replaceAll(',', '')),
    );
    assert.deepEqual(said.slice(0, numbers.length), numbers, of);
  }
  // Each of these is said with another.
  assert.equal(MAX_CSV_BODY_BYTES, MAX_BATCH_BODY_BYTES);
  for (const most of [MAX_AUDIENCES, MAX_SEGMENTS, MAX_ROUTES]) assert.equal(most, MAX_DOMAINS);
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
