/** Checks src/ against the architecture rules. For each rule, a planted violation shows that it is found. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { foreignQueries, foreignStores } from './architecture/dashboard.ts';
import { importsPastDoors } from './architecture/doors.ts';
import {
  citedPages,
  environmentReaders,
  featuresInFoundations,
  folderCycles,
  importCycles,
  importsOutOfOrder,
  misplacedIds,
  queriesOutsideStores,
  reExports,
  shapes,
  spreadLiterals,
  tableWriters,
  typeEscapes,
  unmatchedWakeups,
  unusedExports,
  worldOutside,
  wronglyNamedLimits,
} from './architecture/rules.ts';
import { readSource, readSources, type Source } from './architecture/source.ts';
import { testsWithoutAssertion } from './architecture/test-blocks.ts';

const sources = readSources(fileURLToPath(new URL('../src', import.meta.url)));
const tests = readSources(fileURLToPath(new URL('.', import.meta.url)));

function planted(files: Record<string, string>): Source[] {
  return Object.entries(files).map(([path, text]) => readSource(path, text));
}

function finds(rule: (sources: readonly Source[]) => string[], path: string, text: string): string[] {
  return rule(planted({ [path]: text }));
}

test('the tests read the whole of src', () => {
  const paths = sources.map(({ path }) => path);
  assert.ok(paths.length > 50);
  for (const path of ['main.ts', 'db/tables.ts', 'tenants/store.ts', 'mail/address.ts'])
    assert.ok(paths.includes(path));
  const store = sources.find(({ path }) => path === 'tenants/store.ts');
  assert.ok(store?.imports.includes('db/operation.ts') && store.imports.includes('system/errors.ts'));
});

test('files import only what stands before them, and no file imports itself by way of others', () => {
  assert.deepEqual(importsOutOfOrder(sources), []);
  assert.deepEqual(importCycles(sources), []);
});

test('the entries of a folder form no cycle, a folder taken as everything below it', () => {
  assert.deepEqual(folderCycles(sources), []);
  const files = planted({
    'db/a.ts': "import { b } from './low/b.ts';",
    'db/low/b.ts': "import { c } from '../high/c.ts';",
    'db/high/c.ts': "import { d } from '../low/d.ts';",
    'db/low/d.ts': '',
  });
  assert.deepEqual(importCycles(files), []);
  assert.deepEqual(folderCycles(files), ['db: low -> high -> low']);
});

test('rooms are entered by their door, or by an inner folder with a reason', () => {
  assert.deepEqual(importsPastDoors(sources), []);
  const files = planted({
    'emails/send.ts': "import { a } from '../queue/state/a.ts'; import { b } from './inner/b.ts';",
    'api.ts': "import { a } from './queue/state/a.ts';",
    'emails/inner/b.ts': "import { c } from '../../db/inner/c.ts'; import { d } from '../../queue/store.ts';",
  });
  assert.deepEqual(importsPastDoors(files, new Set()), ['emails/send.ts -> queue/state/a.ts']);
  assert.deepEqual(importsPastDoors(files, new Set(['queue/state'])), []);
  assert.deepEqual(importsPastDoors([], new Set(['queue/state'])), [
    'queue/state is entered by no other room',
  ]);
});

test('a planted import out of order is named file -> file, a type import too', () => {
  for (const [path, text, finding] of [
    ['system/x.ts', "import { a } from '../db/page.ts';", 'system/x.ts -> db/page.ts'],
    ['db/x.ts', "import type { App } from '../app.ts';", 'db/x.ts -> app.ts'],
    ['http/x.ts', "import { type Tx } from '../db/operation.ts';", 'http/x.ts -> db/operation.ts'],
    ['mail/smtp/x.ts', "import { a } from '../../http/page.ts';", 'mail/smtp/x.ts -> http/page.ts'],
    ['blobs/x.ts', "import '../tenants/store.ts';", 'blobs/x.ts -> tenants/store.ts'],
    ['domains/x.ts', "import { a } from '../emails/store.ts';", 'domains/x.ts -> emails/store.ts'],
    ['queue/x.ts', "const a = await import('../webhooks/store.ts');", 'queue/x.ts -> webhooks/store.ts'],
    ['queue/x.ts', "type A = import('../emails/send.ts').A;", 'queue/x.ts -> emails/send.ts'],
    ['emails/x.ts', "import {\n  a,\n  b,\n} from '../main.ts';", 'emails/x.ts -> main.ts'],
    ['api.ts', "import { a } from './cli/serve.ts';", 'api.ts -> cli/serve.ts'],
    ['main.ts', "import './operations.ts';", 'main.ts -> operations.ts'],
    ['feature.ts', "import { a } from './topics/feature.ts';", 'feature.ts -> topics/feature.ts'],
    ['services/x.ts', '', 'services/x.ts has no place in the table of who may import whom'],
  ] as const) {
    assert.deepEqual(finds(importsOutOfOrder, path, text), [finding]);
  }
  const fine = "// import { a } from '../emails/store.ts';\nimport { b } from '../tenants/store.ts';";
  assert.deepEqual(finds(importsOutOfOrder, 'domains/x.ts', fine), []);
});

test('a planted cycle is named file by file', () => {
  const files = planted({
    'db/a.ts': "import type { B } from './b.ts';",
    'db/b.ts': "import { c } from './c.ts';",
    'db/c.ts': "import { a } from './a.ts';",
    'db/d.ts': "import { a } from './a.ts';",
  });
  assert.deepEqual(importCycles(files), ['db/a.ts -> db/b.ts -> db/c.ts -> db/a.ts']);
});

test('foundations know no feature by name', () => {
  assert.deepEqual(featuresInFoundations(sources), []);
  assert.deepEqual(finds(featuresInFoundations, 'system/x.ts', "run('webhooks'); // 'queue'"), [
    'system/x.ts names webhooks',
  ]);
  for (const path of ['db/tables.ts', 'db/main-migrations.ts', 'queue/x.ts'])
    assert.deepEqual(finds(featuresInFoundations, path, "run('webhooks')"), [], path);
});

test('each prefix of ids is listed by one feature', () => {
  assert.deepEqual(misplacedIds(sources), []);
  const files = planted({
    'queue/feature.ts': "const queue = { ids: ['em', 'req'] };",
    'queue/x.ts': "type A = Id<'em'>;\nnewId('xx', 0);",
  });
  assert.deepEqual(misplacedIds(files), [
    '"req" is listed twice',
    'queue/x.ts uses "xx", which no feature lists',
  ]);
});

test('every wake-up that is sent has a listener, and every listener waits for one that is sent', () => {
  assert.deepEqual(unmatchedWakeups(sources), []);
  const heard = "const work = { wakeOn: ['one', 'two'] };\napp.wakeups.listen('three', () => {});";
  assert.deepEqual(
    finds(
      unmatchedWakeups,
      'queue/x.ts',
      `${heard}\nwakeups.notify('one', keys);\nwakeAfterCommit('four', key);`,
    ),
    ['nobody listens for "four"', 'nobody sends "two"', 'nobody sends "three"'],
  );
});

test('there are no barrels and no default exports', () => {
  assert.deepEqual(reExports(sources), []);
  for (const text of [
    "export * from './a.ts';",
    "export { a } from './a.ts';",
    "export type {\n  A,\n} from './a.ts';",
    'export default function f() {}',
    'const a = 1;\nexport { a as default };',
  ]) {
    assert.equal(finds(reExports, 'db/x.ts', text).length, 1, text);
  }
  assert.deepEqual(
    finds(reExports, 'db/x.ts', "export type A = 1;\nconst from = 'x';\nexport const b = from;"),
    [],
  );
});

test('clock, timers, chance and network are used in src/system alone', () => {
  assert.deepEqual(worldOutside(sources), []);
  for (const text of [
    'const a = Date.now();',
    'const a = new Date();',
    'const a = new Date;',
    'const a = Date();',
    'const a = performance.now();',
    `const a = \`\${Math.random()}\`;`,
    'setTimeout(() => {}, 1);',
    'const later = setInterval;',
    "await fetch('http://a');",
    "import { setTimeout as sleep } from 'node:timers/promises';",
    "import { lookup } from 'node:dns';",
    "import { Resolver } from 'node:dns/promises';",
    "import { request } from 'undici';",
  ]) {
    assert.ok(finds(worldOutside, 'queue/x.ts', text).length > 0, text);
    assert.deepEqual(finds(worldOutside, 'system/x.ts', text), []);
  }
  for (const text of [
    'const a = new Date(row.createdAt);',
    'await app.fetch({});',
    '// Date.now() is not asked here',
    "const a = 'setTimeout(';",
    'const quote = /[\'"]/;\n// Math.random()',
  ]) {
    assert.deepEqual(finds(worldOutside, 'queue/x.ts', text), [], text);
  }
});

test('process.env is read where the configuration comes from, and nowhere else', () => {
  assert.deepEqual(environmentReaders(sources), []);
  for (const text of ['const a = process.env;', "const a = process.env['X'];", "const a = process['env'];"]) {
    assert.equal(finds(environmentReaders, 'system/x.ts', text).length, 1, text);
    assert.deepEqual(finds(environmentReaders, 'config/config.ts', text), []);
  }
  assert.deepEqual(finds(environmentReaders, 'system/x.ts', '/** not process.env */\nprocess.kill(1);'), []);
});

test('nothing escapes the type checker or the linter', () => {
  assert.deepEqual(typeEscapes(sources), []);
  for (const text of [
    'const a: any = 1;',
    'const a = b as any;',
    'const a: Promise<any> = b;',
    'const a: Record<string, any> = b;',
    'let a: string | any;',
    'let a: unknown[] | any[];',
    '// @ts-ignore\nconst a = 1;',
    '// @ts-expect-error\nconst a = 1;',
    '// biome-ignore lint/a: because\nconst a = 1;',
  ]) {
    assert.equal(finds(typeEscapes, 'db/x.ts', text).length, 1, text);
  }
  const fine =
    "// takes any: number\nconst a = AbortSignal.any([b]);\nconst c = ': any';\nconst many: number = 1;";
  assert.deepEqual(finds(typeEscapes, 'db/x.ts', fine), []);
});

test('no object literal is spread into another one to save lines', () => {
  assert.deepEqual(spreadLiterals(sources), []);
  for (const text of ['const a = { ...{ b, c }, d };', 'f(...({ b }));', 'const a = {\n  ...{ b: 1 },\n};'])
    assert.equal(finds(spreadLiterals, 'db/x.ts', text).length, 1, text);
  const fine =
    "// ...{ a }\nconst b = { ...c, ...(d && { e }), f: '...{ g }' };\nconst h = ({ i, ...j }) => [...k, {}];";
  assert.deepEqual(finds(spreadLiterals, 'db/x.ts', fine), []);
});

test('files are short and named in kebab-case', () => {
  assert.deepEqual(shapes(sources), []);
  assert.deepEqual(finds(shapes, 'db/x.ts', 'a\n'.repeat(400)), []);
  assert.equal(finds(shapes, 'db/x.ts', 'a\n'.repeat(401)).length, 1);
  for (const path of ['db/fooBar.ts', 'db/Foo.ts', 'db/foo_bar.ts', 'dbThings/foo.ts']) {
    assert.equal(finds(shapes, path, '').length, 1, path);
  }
});

const DICTIONARY = `
/** Written by a/store.ts. Two
 * lines. */
export const one = table({ id: text() });
/**
 * Written by b/store.ts.
 */
export const two = table({ id: text() });
`;

type Override = { includes: string[]; linter?: { rules?: { complexity?: Record<string, unknown> } } };

test('the linter limits the length and the parameters of every function of src, closures included', () => {
  const biome = JSON.parse(readFileSync(new URL('../biome.json', import.meta.url), 'utf8')) as {
    linter: { rules: { complexity: Record<string, unknown> } };
    overrides: Override[];
  };
  const atMost = (max: number) => ({ level: 'error', options: { max } });
  const { useMaxParams, noExcessiveLinesPerFunction } = biome.linter.rules.complexity;
  assert.deepEqual(useMaxParams, atMost(3));
  assert.deepEqual(noExcessiveLinesPerFunction, {
    level: 'error',
    options: { maxLines: 70, skipBlankLines: true },
  });
  const loosened = biome.overrides.filter(({ linter }) => linter?.rules?.complexity);
  assert.deepEqual(
    loosened.map(({ includes, linter }) => [includes, linter?.rules?.complexity]),
    [
      // Fastify calls some hooks with four values.
      [
        [
          'src/compatibility/resend/register.ts',
          'src/http/json/csv-body.ts',
          'src/http/json/server.ts',
          'src/http/transport/**',
          'src/tenants/quota-headers.ts',
        ],
        { useMaxParams: atMost(4) },
      ],
      // A method has the parameters of the path, a body, a query and options.
      [['sdk/node/**'], { useMaxParams: atMost(5) }],
      [['sdk/node/test/**', 'test/**'], { noExcessiveLinesPerFunction: 'off', useMaxParams: 'off' }],
    ],
  );
});

test('each table is written by the one file that the data dictionary names', () => {
  assert.deepEqual(tableWriters(sources), []);
  const good = {
    'db/tables.ts': DICTIONARY,
    'a/store.ts': "db.insertInto('one')",
    'b/store.ts': "exec('DELETE FROM two')",
  };
  assert.deepEqual(tableWriters(planted(good)), []);
  for (const text of [
    "tx.insertInto('one')",
    "tx\n.updateTable(\n'one')",
    "tx.deleteFrom('one')",
    "insertRow(tx, 'one', row)",
    "updateRows(\ntx,\n'one', { set, where })",
    'database.exec(`UPDATE one SET id = 1`)',
    "database.exec('INSERT OR REPLACE INTO one VALUES (1)')",
  ]) {
    assert.deepEqual(
      tableWriters(planted({ ...good, 'c/x.ts': text })),
      ['c/x.ts writes one, which belongs to a/store.ts'],
      text,
    );
  }
  assert.deepEqual(tableWriters(planted({ ...good, 'a/store.ts': "db.selectFrom('one')" })), [
    'a/store.ts does not write one',
  ]);
  assert.deepEqual(tableWriters(planted({ ...good, 'c/x.ts': "// insertInto('one')" })), []);
});

test('queries live in store.ts files', () => {
  assert.deepEqual(queriesOutsideStores(sources), []);
  assert.equal(finds(queriesOutsideStores, 'emails/api.ts', "app.db.read.selectFrom('emails')").length, 1);
  assert.deepEqual(finds(queriesOutsideStores, 'emails/store.ts', "tx.selectFrom('emails')"), []);
});

test('the dashboard has SQL for people, sessions, drafts, sent forms and the audit log alone, and asks the API for everything else', () => {
  assert.deepEqual(foreignQueries(sources), []);
  assert.deepEqual(foreignStores(sources), []);
  for (const [path, text, table] of [
    ['dashboard/people/store.ts', "tx.selectFrom('emails')", 'emails'],
    ['dashboard/people/store.ts', "tx.selectFrom('people').innerJoin('mailboxes', 'a', 'b')", 'mailboxes'],
    ['dashboard/drafts/store.ts', "findRow(tx, 'people', { id })", 'people'],
    ['dashboard/team/store.ts', "tx.selectFrom('people')", 'people'],
  ] as const)
    assert.deepEqual(finds(foreignQueries, path, text), [`${path} asks for ${table}`]);
  const uses = (text: string) => foreignStores(planted({ 'dashboard/team/x.tsx': text }), new Map());
  assert.deepEqual(uses("import { MAX_NAMES, findTenant } from '../../tenants/store.ts';"), [
    'dashboard/team/x.tsx -> tenants/store.ts',
  ]);
  assert.deepEqual(uses("import { MAX_NAMES, type TenantRow } from '../../tenants/store.ts';"), []);
  assert.deepEqual(uses("import { findPerson } from '../people/store.ts';"), []);
  assert.deepEqual(foreignStores([], new Map([['a -> b', 'It was needed.']])), [
    'a -> b is not there any more',
  ]);
});

test('comments cite only pages that are in the repository', () => {
  assert.deepEqual(citedPages(sources), []);
  for (const text of [
    '/** Maximum number (api.md 1.2). */',
    '// See engine.md.',
    '/** A rule of decision 12. */',
  ])
    assert.equal(finds(citedPages, 'db/x.ts', text).length, 1, text);
  for (const text of ['/** A map is in src/README.md. */', '// See docs/api.md.', "const a = 'api.md';"])
    assert.deepEqual(finds(citedPages, 'db/x.ts', text), [], text);
});

test('limits are named MAX_ or MIN_', () => {
  assert.deepEqual(wronglyNamedLimits(sources), []);
  for (const text of ['const MOST_KEYS = 1;', 'export const LEAST_AGE_MS = 1;', 'f(LONGEST_NAME);'])
    assert.equal(finds(wronglyNamedLimits, 'queue/x.ts', text).length, 1, text);
  assert.deepEqual(finds(wronglyNamedLimits, 'queue/x.ts', "const MAX_KEYS = 'MOST_KEYS'; // MOST_KEYS"), []);
});

test('an export is used by another file', () => {
  assert.deepEqual(unusedExports(sources, tests), []);
});

test('a planted export that no other file imports is named, values and types alike', () => {
  const file = [
    'export const used = 1;',
    'export type Used = string;',
    'export const tested = 1;',
    'export async function lonely() {}',
    'export type Lonely = string;',
  ].join('\n');
  const files = planted({
    'db/a.ts': file,
    'db/b.ts': "import {\n  type Used,\n  used as other,\n} from './a.ts';",
    'db/c.ts': 'export const one = 1;\nexport const two = 2;',
    'db/d.ts': "import * as all from './c.ts';",
    'db/e.ts': 'export const late = 1;',
    'db/f.ts': "const { late } = await import('./e.ts');",
  });
  const callers = planted({ 'db/a.test.ts': "import { tested } from '../../src/db/a.ts';" });
  assert.deepEqual(unusedExports(files, callers), [
    'db/a.ts exports lonely, which no other file imports',
    'db/a.ts exports Lonely, which no other file imports',
  ]);
});

test('every test asserts something, by itself or by a function that does', () => {
  // The samples of the runner are what it is tried on.
  const judged = tests.filter(({ path }) => !path.startsWith('support-checks/samples/'));
  assert.deepEqual(testsWithoutAssertion(judged), []);
});

test('a planted test that asserts nothing is named with its line', () => {
  const helpers = `const { refused } = senderOf();
function senderOf() {
  return { refused: () => assert.rejects(send()) };
}
export async function openWorld() {
  assert.ok(await open());
}
export const refuse = () => refused();
`;
  const find = (block: string) =>
    testsWithoutAssertion(
      planted({
        'x/world.ts': helpers,
        'x/a.test.ts': `import { openWorld, refuse } from './world.ts';\n${block}`,
      }),
    );
  for (const body of [
    'await send();',
    'await openWorld();',
    '// assert.ok(true);',
    "log('assert.ok(true)');",
  ]) {
    assert.deepEqual(find(`test('one', async () => {\n  ${body}\n});\n`), ['x/a.test.ts:2'], body);
  }
  assert.deepEqual(find("test('one', () => send());\nassert.ok(true);"), ['x/a.test.ts:2']);
  for (const body of ['assert.equal(1, 1);', 'for (;;) {\n    await refuse();\n  }', 'assert(send());']) {
    assert.deepEqual(find(`test('one', async () => {\n  ${body}\n});\n`), [], body);
  }
});
