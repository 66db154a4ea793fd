/** Compares what README.md and docs/ say of scripts, commands, settings, packages and files with the program itself. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { MAX_VALUE_CHARACTERS } from '../../src/audiences/contacts/fields.ts';
import { MAX_PROPERTIES, MAX_PROPERTIES_BYTES } from '../../src/audiences/contacts/merge.ts';
import { MAX_DEPTH, MAX_RULES } from '../../src/audiences/segments/filter.ts';
import { MAX_SEGMENTS } from '../../src/audiences/segments/store.ts';
import { MAX_AUDIENCES } from '../../src/audiences/store.ts';
import { runProgram } from '../../src/cli/program.ts';
import { MAX_COUNTED_DAYS } from '../../src/counts/store.ts';
import { MAX_DOMAINS } from '../../src/domains/store.ts';
import { MAX_BATCH_BODY_BYTES } from '../../src/emails/schemas.ts';
import { MAX_KEPT as MAX_EXPORTS_KEPT, MAX_KEPT_GIB } from '../../src/exports/store.ts';
import { MAX_CSV_BODY_BYTES } from '../../src/http/json/csv-body.ts';
import { MAX_TEXT_MIB } from '../../src/http/json/json-body.ts';
import { MAX_ATTACHMENTS_BODY_BYTES, MAX_BODY_BYTES } from '../../src/http/json/server.ts';
import { MAX_RECORD_BYTES } from '../../src/imports/records.ts';
import { MAX_COLUMNS } from '../../src/imports/run.ts';
import { MAX_ERRORS } from '../../src/jobs/errors/store.ts';
import { MAX_WAITING_JOBS } from '../../src/jobs/store.ts';
import { MAX_APP_PASSWORDS } from '../../src/mailboxes/app-passwords/store.ts';
import { MAX_MAILBOXES } from '../../src/mailboxes/store.ts';
import { MAX_ROUTES } from '../../src/routes/store.ts';
import { MAX_ROWS } from '../../src/statistics/report.ts';
import { MAX_HOURLY_DAYS } from '../../src/statistics/schemas.ts';
import { MAX_SOURCE_BYTES, MAX_VARIABLES } from '../../src/templates/schemas.ts';
import { MAX_TEMPLATES } from '../../src/templates/store.ts';
import { MAX_ALLOWED_IPS } from '../../src/tenants/allowed-ips.ts';
import { MAX_KEYS } from '../../src/tenants/store.ts';
import { MAX_TOPICS } from '../../src/topics/store.ts';
import { MAX_ENDPOINTS } from '../../src/webhooks/store.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { findDifference } from './documented.ts';
import { anchorOf, findBlocks, findHeadings, findLinks, PAGES, readPage, readTable } from './page.ts';
import { fillInIds } from './placeholders.ts';

const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);
const TEXT = PAGES.map(({ text }) => text).join('\n');
/** Pages whose links are checked. */
const LINKED = [...PAGES, readPage('src/README.md'), readPage('src/mail/README.md')];

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
  const documented = readTable(readPage('docs/operations.md').text, 'Command line')
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
    'A tenant': [MAX_DOMAINS, MAX_TEMPLATES, MAX_TOPICS, MAX_KEYS, MAX_ENDPOINTS, MAX_APP_PASSWORDS],
    'A contact': [MAX_PROPERTIES, MAX_PROPERTIES_BYTES / KIB, MAX_VALUE_CHARACTERS],
    'A segment': [MAX_RULES, MAX_DEPTH],
    'A template': [MAX_SOURCE_BYTES / MIB, MAX_SOURCE_BYTES / MIB, MAX_VARIABLES],
    'A CSV file': [MAX_COLUMNS, MAX_RECORD_BYTES / KIB, MAX_ERRORS],
    Jobs: [MAX_WAITING_JOBS, MAX_WAITING_JOBS, MAX_EXPORTS_KEPT, MAX_KEPT_GIB],
    Metrics: [MAX_COUNTED_DAYS, MAX_HOURLY_DAYS, MAX_ROWS, MAX_COUNTED_DAYS],
    'A key': [MAX_ALLOWED_IPS],
  };
  const documented = new Map(
    readTable(readPage('docs/api.md').text, 'Limits').map(([, of = '', text = '']) => [of, text]),
  );
  for (const [of, numbers] of Object.entries(limits)) {
    const said = [...(documented.get(of) ?? '').matchAll(/\d[\d,]*(?<!,)/g)].map(([number]) =>
      Number(number.replaceAll(',', '')),
    );
    const reason = `docs/api.md, row "${of}": one number for each limit, in this order`;
    assert.deepEqual(said.slice(0, numbers.length), numbers, reason);
  }
  // Each of these is said with another.
  assert.equal(MAX_MAILBOXES, MAX_TEMPLATES);
  assert.equal(MAX_CSV_BODY_BYTES, MAX_BATCH_BODY_BYTES);
  for (const most of [MAX_AUDIENCES, MAX_SEGMENTS, MAX_ROUTES]) assert.equal(most, MAX_DOMAINS);
});

test('every setting that is named exists', () => {
  const example = readFileSync(fromRoot('config/postrider.example.yaml'), 'utf8');
  const named = [...TEXT.matchAll(/POSTRIDER_[A-Z_]+/g)].map(([name]) => name);
  assert.ok(named.length > 10);
  for (const name of named.filter((variable) => variable !== 'POSTRIDER_CONFIG')) {
    assert.ok(example.includes(`(${name})`), name);
  }
});

test('every script that is named exists', () => {
  const { scripts } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'));
  const named = [...TEXT.matchAll(/npm (?:run ([a-z:]+)|(start|test))/g)].map(
    ([, run, short]) => run ?? short ?? '',
  );
  assert.ok(named.length > 5);
  for (const name of named) assert.ok(name in scripts, name);
});

test('every link leads to a file, and to a heading of it', () => {
  const dead = LINKED.flatMap(({ path, text }) =>
    findLinks(text)
      .filter((target) => !target.startsWith('https://') && !leadsSomewhere(path, target))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

function leadsSomewhere(from: string, target: string): boolean {
  const [relative = '', anchor] = target.split('#');
  const path = relative === '' ? from : posix.join(posix.dirname(from), relative);
  if (!existsSync(fromRoot(path))) return false;
  return anchor === undefined || findHeadings(readPage(path).text).map(anchorOf).includes(anchor);
}

test('the page of dependencies gives a reason for every runtime package, and for no other', () => {
  const { dependencies } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'));
  const rows = readTable(readPage('docs/dependencies.md').text, 'Runtime packages');
  assert.deepEqual(
    rows.map(([, name = '']) => name.replaceAll('`', '')),
    Object.keys(dependencies),
  );
  for (const [, name, reason] of rows) assert.ok(reason, name);
});

test('dead links and dead anchors are found', () => {
  for (const target of ['docs/api.md', 'docs/api.md#errors', '#start', 'LICENSE']) {
    assert.ok(leadsSomewhere('README.md', target), target);
  }
  for (const target of ['docs/none.md', 'docs/api.md#none', '#none', 'api.md']) {
    assert.ok(!leadsSomewhere('README.md', target), target);
  }
  assert.deepEqual(findLinks('[a](b.md#c), and `[d](e)`'), ['b.md#c', 'e']);
  assert.equal(anchorOf('Recipients, tags and `state`: a-b_c'), 'recipients-tags-and-state-a-b_c');
});

test('the README has at most 150 lines and links every page of docs/', () => {
  const readme = readPage('README.md').text;
  assert.ok(readme.split('\n').length - 1 <= 150);
  const linked = new Set(findLinks(readme).map((target) => target.replace(/#.*/, '')));
  assert.deepEqual(
    PAGES.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !linked.has(path)),
    [],
  );
});

test('a shortened id stands for the latest id of its kind, and for nothing else', () => {
  const ids = ['em_1', 'em_2', 'dom_1', undefined];
  const exchanges = ids.map((id) => ({ method: '', path: '', status: 200, replayed: false, body: { id } }));
  assert.equal(fillInIds('curl em_… item_ em_…/cancel', exchanges), 'curl em_2 item_ em_2/cancel');
  assert.throws(() => fillInIds('curl tpl_…', exchanges), /tpl_… is used before any answer/);
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
