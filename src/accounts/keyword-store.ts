/** Stores sets of keywords once each, so that a message names its set by a number. All SQL of the table is here. */

import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import { AppError } from '../system/errors.ts';
import { findColumns, insertNumbered } from './rows.ts';
import type { AccountTx } from './store.ts';

/**
 * Maximum length of all sets together, in characters of JSON: they are in memory while a folder is selected. A hundred thousand usual ones
 * have as many.
 */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Set of messages without keywords. It has no row. */
export const NO_KEYWORDS = 0;

const lengthOfAll = statement((db: AccountTx) =>
  db.selectFrom('keywordSets').select(sql<number>`coalesce(sum(length(words)), 0)`.as('characters')),
);

/**
 * Returns the number of a set, which is added when it is new. `keywords` are sorted, as `readFlags` (flags.ts) returns them.
 * @throws AppError invalid_state when the sets of the account would be too long
 */
export async function internKeywords(tx: AccountTx, keywords: readonly string[]): Promise<number> {
  const id = await internWithinLimit(tx, keywords);
  if (id === undefined)
    throw new AppError('invalid_state', 'The mailbox has too many different sets of keywords');
  return id;
}

/** Returns the number of a set as `internKeywords` does; undefined when the sets of the account would be too long. */
export async function internWithinLimit(
  tx: AccountTx,
  keywords: readonly string[],
): Promise<number | undefined> {
  if (keywords.length === 0) return NO_KEYWORDS;
  const words = JSON.stringify(keywords);
  const known = await findColumns(tx, 'keywordSets', { select: ['id'], where: { words } });
  if (known) return known.id;
  const characters = (await lengthOfAll.first(tx, {}))?.characters ?? 0;
  if (characters + words.length > MAX_CHARACTERS) return undefined;
  return insertNumbered(tx, 'keywordSets', { words });
}

type Slice = { after: number; count: number };

const someIds = statement((db: AccountTx, param: Param<Slice>) =>
  db
    .selectFrom('keywordSets')
    .select('id')
    .where('id', '>', param('after'))
    .orderBy('id')
    .limit(sql<number>`${param('count')}`),
);

/** Returns ids of sets behind `after`, without the highest one of all. It stays, so that no id is ever used again. */
export async function listKeywordSetIds(tx: AccountTx, slice: Slice): Promise<number[]> {
  const ids = (await someIds.all(tx, { ...slice, count: slice.count + 1 })).map(({ id }) => id);
  return ids.slice(0, -1);
}

/** Removes those of the sets that no message has. */
export async function removeUnusedKeywords(tx: AccountTx, ids: readonly number[]): Promise<void> {
  await tx
    .deleteFrom('keywordSets')
    .where('id', 'in', ids)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('messages')
            .select('uid')
            .whereRef('messages.keywordSetId', '=', 'keywordSets.id')
            // These words let SQLite use the index, which has these messages alone.
            .where(sql<boolean>`"messages"."keywordSetId" <> 0`),
        ),
      ),
    )
    .execute();
}

const all = statement((db: AccountTx) => db.selectFrom('keywordSets').selectAll());

const some = statement((db: AccountTx, param: Param<{ ids: string }>) =>
  db
    .selectFrom('keywordSets')
    .selectAll()
    .where('id', 'in', sql<number>`(SELECT value FROM json_each(${param('ids')}))`),
);

/** Returns sets by their numbers: those with these ids, or all. */
export async function listKeywordSets(
  tx: AccountTx,
  ids?: readonly number[],
): Promise<Map<number, readonly string[]>> {
  const rows = await (ids ? some.all(tx, { ids: JSON.stringify(ids) }) : all.all(tx, {}));
  return new Map(rows.map(({ id, words }) => [id, JSON.parse(words) as string[]]));
}

/** Returns the keywords of a set, sorted; none when there is no such set. */
export async function findKeywords(tx: AccountTx, id: number): Promise<readonly string[]> {
  const row =
    id === NO_KEYWORDS
      ? undefined
      : await findColumns(tx, 'keywordSets', { select: ['words'], where: { id } });
  return row ? (JSON.parse(row.words) as string[]) : [];
}
