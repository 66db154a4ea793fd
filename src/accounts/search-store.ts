/** Stores and finds search texts. All SQL of `search.db` is here. */
import { sql } from 'kysely';
import { defineWrite, type Tx } from '../db/operation.ts';
import { type Param, paramsOf, statement } from '../db/statement.ts';
import type { SearchText } from '../mail/message/search-text.ts';
import { putFields, removeFields } from './search-field-store.ts';
import type { SearchTables, TextRow } from './search-tables.ts';

type SearchTx = Tx<SearchTables>;

export type NewText = SearchText & { contentId: number };

const insert = statement((db: SearchTx, param: Param<TextRow>) =>
  db
    .insertInto('texts')
    .values(paramsOf(param, ['contentId', 'header', 'body', 'isComplete']))
    .onConflict((conflict) => conflict.doNothing())
    .returning('contentId'),
);

const indexText = statement((db: SearchTx, param: Param<{ rowid: number; text: string }>) =>
  db.insertInto('trigrams').values({ rowid: param('rowid'), text: param('text') }),
);

const addBytes = statement((db: SearchTx, param: Param<{ bytes: number }>) =>
  db.updateTable('source').set({ textBytes: sql`textBytes + ${param('bytes')}` }),
);

const source = statement((db: SearchTx) => db.selectFrom('source').selectAll());

/** Returns which database the texts come from, their size, and how far they are indexed. */
export async function findSource(tx: SearchTx): Promise<SearchTables['source']> {
  const row = await source.first(tx, {});
  if (!row) throw new Error('the search texts have no source');
  return row;
}

/** Names the database that the texts come from. */
export const setIdentity = defineWrite(
  'search.setIdentity',
  async (tx: SearchTx, { identity }: { identity: string }): Promise<void> => {
    await tx.updateTable('source').set({ identity }).execute();
  },
);

/** Adds texts, and the fields that come with them; texts that are known stay. */
export const insertTexts = defineWrite(
  'search.insertTexts',
  async (tx: SearchTx, { texts }: { texts: readonly NewText[] }): Promise<void> => {
    const { indexedTo } = await findSource(tx);
    let bytes = 0;
    for (const { contentId, header, body, isComplete } of texts) {
      const row = { contentId, header: Buffer.from(header), body: Buffer.from(body) };
      if (!(await insert.first(tx, { ...row, isComplete: isComplete ? 1 : 0 }))) continue;
      bytes += row.header.length + row.body.length;
      if (contentId <= indexedTo) await indexText.all(tx, { rowid: contentId, text: `${header}\n${body}` });
    }
    await addBytes.all(tx, { bytes });
    await putFields(
      tx,
      texts.flatMap(({ contentId, fields }) => (fields ? [{ contentId, fields }] : [])),
    );
  },
);

/** Removes the texts and fields of contents that were removed. */
export const deleteTexts = defineWrite(
  'search.deleteTexts',
  async (tx: SearchTx, { contentIds }: { contentIds: readonly number[] }): Promise<void> => {
    const rows = await tx
      .deleteFrom('texts')
      .where('contentId', 'in', contentIds)
      .returning(sql<number>`length(header) + length(body)`.as('bytes'))
      .execute();
    await tx.deleteFrom('trigrams').where('rowid', 'in', contentIds).execute();
    await removeFields(tx, contentIds);
    await addBytes.all(tx, { bytes: -rows.reduce((sum, { bytes }) => sum + bytes, 0) });
  },
  { priority: 'bulk' },
);

const nextTexts = statement((db: SearchTx, param: Param<{ after: number }>) =>
  db.selectFrom('texts').selectAll().where('contentId', '>', param('after')).orderBy('contentId').limit(20),
);

/** Size of the texts that one write adds to the index, which takes some milliseconds. */
const MAX_INDEXED_BYTES = 16 * 1024;

/** Adds the next texts to the index. Returns false when there was none. */
export const indexNextTexts = defineWrite(
  'search.indexNextTexts',
  async (tx: SearchTx, _input: null): Promise<boolean> => {
    const { indexedTo } = await findSource(tx);
    let bytes = 0;
    let last: number | undefined;
    for (const { contentId, header, body } of await nextTexts.all(tx, { after: indexedTo })) {
      if (bytes > MAX_INDEXED_BYTES) break;
      await indexText.all(tx, { rowid: contentId, text: `${textOf(header)}\n${textOf(body)}` });
      bytes += header.length + body.length;
      last = contentId;
    }
    if (last !== undefined) await tx.updateTable('source').set({ indexedTo: last }).execute();
    return last !== undefined;
  },
  { priority: 'bulk' },
);

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

const known = statement((db: SearchTx, param: Param<{ ids: string }>) =>
  db
    .selectFrom('texts')
    .select('contentId')
    // With both values the small index answers, and the texts are not read.
    .where('isComplete', 'in', [0, 1])
    .where('contentId', 'in', sql<number>`(SELECT value FROM json_each(${param('ids')}))`),
);

/** Returns those of the contents whose texts are stored. */
export async function listKnown(tx: SearchTx, contentIds: readonly number[]): Promise<Set<number>> {
  const rows = await known.all(tx, { ids: JSON.stringify(contentIds) });
  return new Set(rows.map(({ contentId }) => contentId));
}

export type Sought = {
  /** Folded text. */
  needle: string;
  /** `text` is the header and the body. */
  where: 'text' | 'body';
};

export type Match = { contentId: number; isMatch: 0 | 1 };

const matches = statement(
  (_db: SearchTx, param: Param<{ ids: string; needle: Uint8Array; isHeader: number }>) => ({
    compile: () =>
      sql<Match>`
        SELECT * FROM (
          SELECT contentId, isComplete,
            instr(body, ${param('needle')}) > 0
              OR (${param('isHeader')} AND instr(header, ${param('needle')}) > 0) AS isMatch
          FROM texts WHERE contentId IN (SELECT value FROM json_each(${param('ids')}))
        ) WHERE isMatch OR NOT isComplete`.compile(_db),
  }),
);

/** Returns the contents whose texts contain what is sought, and those of the others whose texts are not complete. */
export function findMatches(
  tx: SearchTx,
  contentIds: readonly number[],
  { needle, where }: Sought,
): Promise<Match[]> {
  return matches.all(tx, {
    ids: JSON.stringify(contentIds),
    needle: Buffer.from(needle),
    isHeader: where === 'text' ? 1 : 0,
  });
}

const byTrigrams = statement((_db: SearchTx, param: Param<{ query: string }>) => ({
  compile: () =>
    sql<{ rowid: number }>`SELECT rowid FROM trigrams WHERE trigrams MATCH ${param('query')}`.compile(_db),
}));

const incomplete = statement((db: SearchTx) =>
  db.selectFrom('texts').select('contentId').where('isComplete', '=', 0),
);

/**
 * Returns the indexed contents that may contain a text, which are all that do, and those whose texts are not complete; undefined
 * when the index cannot tell.
 */
export async function findByTrigrams(tx: SearchTx, needle: string): Promise<Set<number> | undefined> {
  const query = trigramQuery(needle);
  if (query === undefined) return undefined;
  const found = await byTrigrams.all(tx, { query });
  const others = await incomplete.all(tx, {});
  return new Set([...found.map(({ rowid }) => rowid), ...others.map(({ contentId }) => contentId)]);
}

/** Maximum number of trigrams that are asked for. A few of them choose well, and the text is compared anyway. */
const MAX_TRIGRAMS = 32;

function trigramQuery(needle: string): string | undefined {
  const characters = [...needle];
  // A query of FTS5 ends at a NUL.
  if (characters.length < 3 || needle.includes('\0')) return undefined;
  const trigrams = new Set(
    characters.slice(2).map((_, index) => characters.slice(index, index + 3).join('')),
  );
  return [...trigrams]
    .slice(0, MAX_TRIGRAMS)
    .map((trigram) => `"${trigram.replaceAll('"', '""')}"`)
    .join(' AND ');
}
