/** The architecture rules. Each returns one line for each violation. */
import { readFileSync } from 'node:fs';
import type { Source } from './source.ts';

/** In the order in which features may import each other: each only those before it. `src/features.ts` lists them so. */
const FEATURES = readFeatures(readFileSync(new URL('../../src/features.ts', import.meta.url), 'utf8'));

function readFeatures(list: string): string[] {
  const [, entries = ''] = /^const features = \[\n(.*?)\]/ms.exec(list) ?? [];
  return [...entries.matchAll(/^ {2}(?:\{ name: ')?([\w-]+)/gm)].map(([, name = '']) =>
    name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  );
}

const FOUNDATIONS: Readonly<Record<string, readonly string[]>> = {
  system: [],
  db: ['system', 'version.ts'],
  blobs: ['system', 'db'],
  http: ['system'],
  mail: ['system'],
  objects: ['system', 'mail'],
  'version.ts': [],
  'data-files.ts': [],
  'crash-points.ts': [],
  config: ['system', 'data-files.ts', 'crash-points.ts'],
  'app.ts': ['system', 'db', 'blobs', 'mail', 'config'],
  'thread-app.ts': ['system', 'db', 'config', 'app.ts'],
  tasks: ['system', 'db', 'app.ts', 'thread-app.ts'],
  'feature.ts': ['system', 'db', 'http', 'app.ts', 'tasks'],
};

const ALL_UNITS = [...Object.keys(FOUNDATIONS), ...FEATURES];

/** Who may import whom; a unit is a folder of src/ or a file in it, and may always import itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ...FOUNDATIONS,
  ...Object.fromEntries(
    FEATURES.map((feature, index) => [feature, [...Object.keys(FOUNDATIONS), ...FEATURES.slice(0, index)]]),
  ),
  'operations.ts': [],
  'features.ts': ['feature.ts', ...FEATURES],
  'api.ts': [...ALL_UNITS, 'features.ts'],
  'control-socket.ts': [...ALL_UNITS, 'features.ts'],
  'reload.ts': ALL_UNITS,
  'main.ts': [...ALL_UNITS, 'features.ts', 'api.ts', 'control-socket.ts', 'reload.ts'],
  cli: [...ALL_UNITS, 'features.ts', 'api.ts', 'control-socket.ts', 'main.ts'],
};

export function importsOutOfOrder(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) => {
    const allowed = MAY_IMPORT[unitOf(path)];
    if (!allowed) return [`${path} has no place in the table of who may import whom`];
    return imports
      .filter((target) => unitOf(target) !== unitOf(path) && !allowed.includes(unitOf(target)))
      .map((target) => `${path} -> ${target}`);
  });
}

function unitOf(path: string): string {
  return path.split('/')[0] ?? path;
}

/** Creates the tables of all features, and changes them. */
const SCHEMA_FILE =
  /^db\/main-(?:schema|migrations|migrations-of-(?:tasks|approvals|audit|mailbox-keys))\.ts$/;

/** Foundations know no feature by name. The schema of the database is the one list of all tables, and settings have sections. */
export function featuresInFoundations(sources: readonly Source[]): string[] {
  const foundations = sources.filter(
    ({ path }) =>
      FOUNDATIONS[unitOf(path)] &&
      !/^[\w-]+\.ts$|^config\/|^db\/[\w-]*tables\.ts/.test(path) &&
      !SCHEMA_FILE.test(path),
  );
  const literal = new RegExp(`'(${FEATURES.join('|')})'`, 'g');
  return foundations.flatMap(({ path, code }) =>
    [...code.matchAll(literal)].map(([, feature]) => `${path} names ${feature}`),
  );
}

/** Prefixes of ids that foundations make: of requests, and of blobs. */
const FOUNDATION_IDS = ['req', 'blob'];

/** One feature lists each prefix of ids. */
export function misplacedIds(sources: readonly Source[]): string[] {
  const listed = sources
    .filter(({ path }) => /^[\w-]+\/feature\.ts$/.test(path))
    .flatMap(({ code }) => /\bids: \[([^\]]*)\]/.exec(code)?.[1]?.match(/\w+/g) ?? []);
  const known = [...FOUNDATION_IDS, ...listed];
  const used = sources.flatMap(({ path, code }) =>
    [...code.matchAll(/\b(?:Id<|newId\()'(\w+)'/g)].map(([, prefix = '']) => ({ path, prefix })),
  );
  return [
    ...known.filter((prefix, index) => known.indexOf(prefix) < index).map((id) => `"${id}" is listed twice`),
    ...used
      .filter(({ prefix }) => !known.includes(prefix))
      .map(({ path, prefix }) => `${path} uses "${prefix}", which no feature lists`),
  ];
}

/** Each wake-up that is sent has a listener, and no listener waits for a wake-up that nobody sends. */
export function unmatchedWakeups(sources: readonly Source[]): string[] {
  const namesIn = (pattern: RegExp): Set<string> =>
    new Set(
      sources.flatMap(({ code }) =>
        [...code.matchAll(pattern)].flatMap(([text]) => text.match(/(?<=')\w+(?=')/g) ?? []),
      ),
    );
  const sent = namesIn(/\b(?:wakeups\.notify|wakeAfterCommit)\([^,)]*/g);
  const awaited = namesIn(/\bwakeups\.listen\([^,)]*|\bwakeOn: \[[^\]]*\]/g);
  return [
    ...[...sent].filter((name) => !awaited.has(name)).map((name) => `nobody listens for "${name}"`),
    ...[...awaited].filter((name) => !sent.has(name)).map((name) => `nobody sends "${name}"`),
  ];
}

export function importCycles(sources: readonly Source[]): string[] {
  return cyclesOf(new Map(sources.map((source) => [source.path, source.imports])));
}

function cyclesOf(imports: ReadonlyMap<string, Iterable<string>>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) cycles.push([...trail.slice(seenAt), path].join(' -> '));
    if (seenAt >= 0 || done.has(path)) return;
    for (const target of imports.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return cycles;
}

/**
 * Finds cycles between the entries of each folder, where a file counts as itself and a folder as everything below it. A
 * folder is then a part that can be understood without what uses it.
 */
export function folderCycles(sources: readonly Source[]): string[] {
  const levels = new Map<string, Map<string, Set<string>>>();
  for (const { path, imports } of sources) {
    for (const target of imports) {
      const [from, to] = [path.split('/'), target.split('/')];
      const depth = from.findIndex((part, index) => part !== to[index]);
      const [entry, other] = [from[depth], to[depth]];
      if (entry === undefined || other === undefined) continue;
      const level = from.slice(0, depth).join('/');
      const entries = levels.get(level) ?? new Map<string, Set<string>>();
      levels.set(level, entries);
      entries.set(entry, (entries.get(entry) ?? new Set()).add(other));
    }
  }
  return [...levels].flatMap(([level, entries]) =>
    cyclesOf(entries).map((cycle) => `${level || 'src'}: ${cycle}`),
  );
}

export function reExports(sources: readonly Source[]): string[] {
  return matches(sources, (source) => source.code, [
    [/^\s*export\s*(?:type\s*)?[{*][^;]*?\bfrom\b/m, 're-exports'],
    [/^\s*export\s+default\b|\bas default\b/m, 'has a default export'],
  ]);
}

/**
 * The world outside comes through `System`; `new Date(milliseconds)` and `app.fetch(…)` are no such thing. Scripts for browsers run in another
 * world.
 */
export function worldOutside(sources: readonly Source[]): string[] {
  const outside = sources.filter(
    ({ path }) => unitOf(path) !== 'system' && !path.startsWith('dashboard/browser/'),
  );
  const code = matches(outside, (source) => source.bare, [
    [/\bDate\.now\b/, 'uses Date.now'],
    [/\bnew Date(?:\(\s*\)|(?!\s*\())/, 'uses new Date()'],
    [/(?<!\.)\bDate\(/, 'uses Date()', /\bnew Date\(/g],
    [/\bperformance\.now\b/, 'uses performance.now'],
    [/\bMath\.random\b/, 'uses Math.random'],
    [/(?<![.\w])(?:setTimeout|setInterval)\b/, 'uses a timer'],
    [/(?<![.\w])fetch\(/, 'uses fetch'],
  ]);
  const packages = outside.flatMap(({ path, packages: names }) =>
    names
      .filter((name) => /^node:(?:dns|timers)\b/.test(name) || name === 'undici')
      .filter((name) => !(WORLD_OF_ITS_OWN.get(name) ?? []).some((place) => path.startsWith(place)))
      .map((name) => `${path} -> ${name}`),
  );
  return [...code, ...packages];
}

/** Where such a module is rightly imported: it yields to the loop; it talks to the daemon's own socket and demo. */
const WORLD_OF_ITS_OWN = new Map([
  ['node:timers/promises', ['mail/dkim/canonical.ts']],
  ['undici', ['cli/']],
]);

const READS_ENVIRONMENT = ['config/config.ts', 'cli/terminal.ts'];

export function environmentReaders(sources: readonly Source[]): string[] {
  return matches(
    sources.filter(({ path }) => !READS_ENVIRONMENT.includes(path)),
    (source) => source.bare,
    [[/\bprocess\s*(?:\.|\[\s*)\s*(?:env\b|'')/, 'reads process.env']],
  );
}

export function typeEscapes(sources: readonly Source[]): string[] {
  return [
    ...matches(sources, (source) => source.bare, [
      [/[:<|&,]\s*any\b(?!\s*[(.])|\bas\s+any\b|\bany\[\]/, 'uses any'],
    ]),
    ...matches(sources, (source) => source.text, [
      [/@ts-(?:ignore|expect-error|nocheck)\b/, 'silences the type checker'],
      [/\bbiome-ignore\b/, 'silences the linter'],
    ]),
  ];
}

/** The properties of a literal belong into the object that it is spread into, one on each line. */
export function spreadLiterals(sources: readonly Source[]): string[] {
  return matches(sources, (source) => source.bare, [[/\.\.\.\s*\(?\s*\{/, 'spreads an object literal']]);
}

const MAX_LINES = 400;
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.d)?\.tsx?$/;
const KEBAB_CASE_FOLDER = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

export function shapes(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1;
    const name = path.split('/');
    const wellNamed =
      KEBAB_CASE.test(name.at(-1) ?? '') && name.slice(0, -1).every((part) => KEBAB_CASE_FOLDER.test(part));
    return [
      ...(lines > MAX_LINES ? [`${path} has ${lines} lines, more than ${MAX_LINES}`] : []),
      ...(wellNamed ? [] : [`${path} is not named in kebab-case`]),
    ];
  });
}

/** Files of accounts use a database of their own (accounts/tables.ts). */
const ACCOUNT_FOLDER = 'accounts/';

/** The data dictionary says who writes each table: nobody else does, and that file does. */
export function tableWriters(sources: readonly Source[]): string[] {
  const dictionary = sources.filter(({ path }) => /^db\/(?:\w+-)?tables\.ts$/.test(path));
  const owners = readOwners(dictionary.map(({ text }) => text).join('\n'));
  const writes = sources
    .filter(({ path }) => !SCHEMA_FILE.test(path) && !path.startsWith(ACCOUNT_FOLDER))
    .flatMap(({ path, code }) => writtenTables(code).map((table) => ({ path, table })))
    .filter(({ table }) => owners.has(table));
  const strangers = writes
    .filter(({ path, table }) => owners.get(table) !== path)
    .map(({ path, table }) => `${path} writes ${table}, which belongs to ${owners.get(table)}`);
  const unwritten = [...owners]
    .filter(([table, owner]) => !writes.some((write) => write.table === table && write.path === owner))
    .map(([table, owner]) => `${owner} does not write ${table}`);
  return [...new Set(strangers), ...unwritten];
}

function readOwners(tables: string): Map<string, string> {
  const owned =
    /\/\*\*[\s*]*(?:Written by ([\w/-]+\.ts)\b)?(?:(?!\*\/).)*\*\/\s*(?:export )?const (\w+) = table\(/gs;
  return new Map([...tables.matchAll(owned)].map(([, owner = 'nobody', table = '']) => [table, owner]));
}

/** Calls of the functions of db/rows.ts that write, with the name of their table. */
const ROW_WRITES =
  /\b(?:insertRow|insertRowOnce|putRow|addToRow|updateRows|deleteRows)\(\s*[\w.]+,\s*['"](\w+)/g;

function writtenTables(code: string): string[] {
  const kysely = code.matchAll(
    /\b(?:insertInto|updateTable|deleteFrom|mergeInto|replaceInto)\(\s*['"](\w+)/g,
  );
  const rows = code.matchAll(ROW_WRITES);
  const sql = code.matchAll(
    /\b(?:(?:INSERT(?:\s+OR\s+\w+)?|REPLACE)\s+INTO|UPDATE|DELETE\s+FROM)\s+"?(\w+)/g,
  );
  return [...kysely, ...rows, ...sql].map(([, table = '']) => table);
}

/** Queries live in the `store.ts` of their feature, or in files whose names end with it. */
export function queriesOutsideStores(sources: readonly Source[]): string[] {
  return matches(
    sources.filter(({ path }) => !path.startsWith('db/') && !/[/-]store\.ts$/.test(path)),
    (source) => source.code,
    [
      [/\b(?:selectFrom|insertInto|updateTable|deleteFrom)\(/, 'holds a query'],
      [
        /\b(?:find|insert|update|delete|put|list|addTo)(?:Row|Rows|RowOnce|Columns)\(\s*[\w.]+,\s*'/,
        'holds a query',
      ],
    ],
  );
}

/** Comments give the reason itself, or name a page that every reader of the repository has. */
export function citedPages(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, comments }) =>
    comments
      .flatMap((comment) => comment.match(/[\w./-]+\.md\b|\bdecisions? \d+/gi) ?? [])
      .filter((page) => !/^(?:(?:[\w-]+\/)*README|docs\/[\w-]+)\.md$/.test(page))
      .map((page) => `${path} cites ${page}, which is not in the repository`),
  );
}

const EXPORTS = /^export (?:abstract |async )*(?:function\*?|const|let|class|type|interface) (\w+)/gm;

/** Values and types that one file uses are not exported. A test may be the other file that uses them. */
export function unusedExports(sources: readonly Source[], tests: readonly Source[]): string[] {
  const used = new Map<string, Set<string>>();
  for (const { importedNames } of [...sources, ...tests]) {
    for (const [file, names] of importedNames) {
      const path = file.replace(/^(?:\.\.\/)+src\//, '');
      used.set(path, new Set([...(used.get(path) ?? []), ...names]));
    }
  }
  return sources.flatMap(({ path, code }) =>
    [...code.matchAll(EXPORTS)]
      .map(([, name = '']) => name)
      .filter((name) => !used.get(path)?.has(name) && !used.get(path)?.has('*'))
      .map((name) => `${path} exports ${name}, which no other file imports`),
  );
}

/** Limits are `MAX_…` and `MIN_…` everywhere. */
export function wronglyNamedLimits(sources: readonly Source[]): string[] {
  return matches(sources, (source) => source.bare, [
    [
      /(?<!\.)\b(?:MOST|LEAST|LONGEST|SHORTEST|LARGEST|SMALLEST)_[A-Z]/,
      'names a limit other than MAX_ or MIN_',
    ],
  ]);
}

type Pattern = readonly [pattern: RegExp, finding: string, except?: RegExp];

function matches(
  sources: readonly Source[],
  read: (source: Source) => string,
  patterns: readonly Pattern[],
): string[] {
  return sources.flatMap((source) =>
    patterns.flatMap(([pattern, finding, except]) => {
      const text = except ? read(source).replace(except, '') : read(source);
      return pattern.test(text) ? [`${source.path} ${finding}`] : [];
    }),
  );
}
