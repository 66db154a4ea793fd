/** Reads the reply table from YAML. A mistake anywhere refuses the whole file, with the row and the field that are wrong. */
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { errorMessage } from '../../../system/errors.ts';
import { BOUNCE_SUBTYPES, FACTS, REPLY_CLASSES, SCOPES, SUPPRESSIONS } from './meaning.ts';
import { fragmentsOf, MAX_FRAGMENT_WORDS } from './phrases.ts';
import { type Provider, REPLY_PHASES, type ReplyRows, type Row, SECTIONS, type Section } from './row.ts';

/** Maximum number of rows. The packaged table has about 150. */
const MAX_ROWS = 5_000;
/** Maximum length of a phrase in characters. */
const MAX_PHRASE_CHARACTERS = 200;

/** Reports a table that cannot be used. The message is for the operator. */
export class ReplyTableError extends Error {
  override readonly name = 'ReplyTableError';
}

const oneOrMore = <Item extends TSchema>(item: Item) =>
  Type.Optional(Type.Union([item, Type.Array(item, { minItems: 1 })]));
const phrase = Type.String({ minLength: 1, maxLength: MAX_PHRASE_CHARACTERS });
const domain = Type.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' });
const strict = { additionalProperties: false };

const providerSchema = Type.Object(
  { hosts: Type.Array(domain), words: Type.Optional(Type.Array(phrase)) },
  strict,
);
const classSchema = Type.Object(
  {
    scope: Type.Enum([...SCOPES]),
    subType: Type.Optional(Type.Enum([...BOUNCE_SUBTYPES])),
    advice: Type.String({ minLength: 1 }),
  },
  strict,
);
const rowSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]*$' }),
    fact: Type.Optional(Type.Enum([...FACTS])),
    provider: Type.Optional(Type.String()),
    phase: oneOrMore(Type.Enum([...REPLY_PHASES])),
    code: oneOrMore(Type.Union([Type.Integer({ minimum: 200, maximum: 599 }), Type.Enum(['4xx', '5xx'])])),
    enhanced: oneOrMore(Type.String({ pattern: '^[45x]\\.(\\d{1,3}|x)\\.(\\d{1,3}|x)$' })),
    text: oneOrMore(phrase),
    unless: oneOrMore(phrase),
    names: oneOrMore(domain),
    class: Type.Enum([...REPLY_CLASSES]),
    suppresses: Type.Enum([...SUPPRESSIONS]),
    scope: Type.Optional(Type.Enum([...SCOPES])),
    subType: Type.Optional(Type.Enum([...BOUNCE_SUBTYPES])),
    advice: Type.Optional(Type.String({ minLength: 1 })),
    source: Type.String({ minLength: 1 }),
  },
  strict,
);
const rows = Type.Array(rowSchema);
const fileSchema = Type.Object(
  {
    phrases: Type.Optional(Type.Record(Type.String(), Type.Array(phrase))),
    hosts: Type.Record(Type.String(), providerSchema),
    classes: Type.Record(Type.String(), classSchema),
    facts: rows,
    vetoes: rows,
    providers: rows,
    enhanced: rows,
    basic: rows,
  },
  strict,
);
type FileRow = Static<typeof rowSchema>;
type ReplyFile = Static<typeof fileSchema>;

/**
 * Returns the rows of a table in the order in which they are read.
 * @throws ReplyTableError
 */
export function parseReplies(yaml: string): ReplyRows {
  const file = check(read(yaml));
  const providers = new Map<string, Provider>(
    Object.entries(file.hosts).map(([name, { hosts, words = [] }]) => [name, { hosts, words }]),
  );
  const all = SECTIONS.flatMap((section) => file[section].map((row) => rowOf(file, section, row)));
  requireUsableRows(all, providers);
  return { rows: all, providers };
}

function read(yaml: string): unknown {
  try {
    // Lists of phrases are shared between rows by aliases.
    return parse(yaml, { maxAliasCount: MAX_ROWS });
  } catch (error) {
    throw new ReplyTableError(errorMessage(error).split('\n', 1)[0] ?? '', { cause: error });
  }
}

function check(value: unknown): ReplyFile {
  const errors = [...Value.Errors(fileSchema, value)];
  const [error] = errors.filter(({ keyword }) => keyword === 'additionalProperties').concat(errors);
  if (error) throw new ReplyTableError(`${placeOf(value, error.instancePath)} ${error.message}`);
  return value as ReplyFile;
}

/** Returns where a mistake is, with the id of its row: `/vetoes/3/text` becomes `vetoes: row "your-ip": text`. */
function placeOf(file: unknown, path: string): string {
  const [section = '', index = '', ...field] = path.slice(1).split('/');
  const list = (file as Record<string, unknown> | null)?.[section];
  const row = Array.isArray(list) ? (list[Number(index)] as { id?: unknown } | undefined) : undefined;
  if (row === undefined) return path === '' ? 'the file' : path.slice(1).replaceAll('/', '.');
  const named = typeof row?.id === 'string' ? `row "${row.id}"` : `row ${Number(index) + 1}`;
  return `${section}: ${named}:${field.length > 0 ? ` ${field.join('.')}` : ''}`;
}

function rowOf(file: ReplyFile, section: Section, row: FileRow): Row {
  const defaults = file.classes[row.class];
  if (!defaults)
    throw new ReplyTableError(`${section}: row "${row.id}": "classes" does not describe ${row.class}`);
  return {
    id: row.id,
    section,
    fact: row.fact,
    provider: row.provider,
    phases: listOf(row.phase),
    codes: listOf(row.code).map(String),
    enhanced: listOf(row.enhanced),
    text: listOf(row.text),
    unless: listOf(row.unless),
    names: listOf(row.names),
    class: row.class,
    suppresses: row.suppresses,
    scope: row.scope ?? defaults.scope,
    subType: row.subType ?? defaults.subType ?? 'General',
    advice: row.advice ?? defaults.advice,
    source: row.source,
  };
}

function listOf<Item>(value: Item | readonly Item[] | undefined): readonly Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Item];
}

function requireUsableRows(all: readonly Row[], providers: ReadonlyMap<string, Provider>): void {
  const ids = new Set<string>();
  if (all.length > MAX_ROWS) throw new ReplyTableError(`the table has more than ${MAX_ROWS} rows`);
  for (const row of all) {
    const problem = ids.has(row.id) ? 'another row has the same id' : problemOf(row, providers);
    if (problem !== undefined) throw new ReplyTableError(`${row.section}: row "${row.id}": ${problem}`);
    ids.add(row.id);
  }
}

function problemOf(row: Row, providers: ReadonlyMap<string, Provider>): string | undefined {
  if ((row.section === 'facts') !== (row.fact !== undefined))
    return '"fact" belongs to each row of "facts" and to no other';
  if (row.section === 'vetoes' && row.suppresses !== 'never') return 'a veto never suppresses';
  if (row.provider !== undefined && !providers.has(row.provider))
    return `"hosts" does not name the provider ${row.provider}`;
  const bad = [...row.text, ...row.unless].find((text) => !isUsablePhrase(text));
  return bad === undefined ? undefined : `the phrase "${bad}" has no words beside a gap, or too many`;
}

function isUsablePhrase(text: string): boolean {
  return fragmentsOf(text).every(({ length }) => length > 0 && length <= MAX_FRAGMENT_WORDS);
}
