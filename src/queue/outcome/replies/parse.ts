/** Reads the reply table from YAML (config/data-table.ts). */
import { type Static, Type } from 'typebox';
import { DataTableError, listOf, oneOrMore, parseShape } from '../../../config/data-table.ts';
import { BOUNCE_SUBTYPES, FACTS, REPLY_CLASSES, SCOPES, SUPPRESSIONS } from './meaning.ts';
import { isUsablePhrase } from './phrases.ts';
import { type Provider, REPLY_PHASES, type ReplyRows, type Row, SECTIONS, type Section } from './row.ts';

/** Maximum number of rows. The packaged table has about 150. */
const MAX_ROWS = 5_000;
/** Maximum length of a phrase in characters. */
const MAX_PHRASE_CHARACTERS = 200;

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
 * @throws DataTableError
 */
export function parseReplies(yaml: string): ReplyRows {
  const file = parseShape(fileSchema, yaml);
  const providers = new Map<string, Provider>(
    Object.entries(file.hosts).map(([name, { hosts, words = [] }]) => [name, { hosts, words }]),
  );
  const all = SECTIONS.flatMap((section) => file[section].map((row) => rowOf(file, section, row)));
  requireUsableRows(all, providers);
  return { rows: all, providers };
}

function rowOf(file: ReplyFile, section: Section, row: FileRow): Row {
  const defaults = file.classes[row.class];
  if (!defaults)
    throw new DataTableError(`${section}: row "${row.id}": "classes" does not describe ${row.class}`);
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

function requireUsableRows(all: readonly Row[], providers: ReadonlyMap<string, Provider>): void {
  const ids = new Set<string>();
  if (all.length > MAX_ROWS) throw new DataTableError(`the table has more than ${MAX_ROWS} rows`);
  for (const row of all) {
    const problem = ids.has(row.id) ? 'another row has the same id' : problemOf(row, providers);
    if (problem !== undefined) throw new DataTableError(`${row.section}: row "${row.id}": ${problem}`);
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
