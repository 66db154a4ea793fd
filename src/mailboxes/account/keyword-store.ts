/** Stores sets of keywords once each, so that a message names its set by a number. All SQL of the table is here. */
import { type Param, statement } from '../../db/statement.ts';
import type { AccountTx } from './store.ts';

/** Set of messages without keywords. It has no row. */
export const NO_KEYWORDS = 0;

const byWords = statement((db: AccountTx, param: Param<{ words: string }>) =>
  db.selectFrom('keywordSets').select('id').where('words', '=', param('words')),
);

const insertSet = statement((db: AccountTx, param: Param<{ words: string }>) =>
  db
    .insertInto('keywordSets')
    .values({ words: param('words') } as never)
    .returning('id'),
);

/** Returns the number of a set, which is added when it is new. `keywords` are sorted, as `readFlags` (flags.ts) returns them. */
export async function internKeywords(tx: AccountTx, keywords: readonly string[]): Promise<number> {
  if (keywords.length === 0) return NO_KEYWORDS;
  const words = JSON.stringify(keywords);
  const row = (await byWords.first(tx, { words })) ?? (await insertSet.first(tx, { words }));
  if (!row) throw new Error('the set of keywords was not added');
  return row.id;
}

const all = statement((db: AccountTx) => db.selectFrom('keywordSets').selectAll());

/** Returns all sets by their numbers. */
export async function listKeywordSets(tx: AccountTx): Promise<Map<number, readonly string[]>> {
  const rows = await all.all(tx, {});
  return new Map(rows.map(({ id, words }) => [id, JSON.parse(words) as string[]]));
}

const byId = statement((db: AccountTx, param: Param<{ id: number }>) =>
  db.selectFrom('keywordSets').select('words').where('id', '=', param('id')),
);

/** Returns the keywords of a set, sorted; none when there is no such set. */
export async function findKeywords(tx: AccountTx, id: number): Promise<readonly string[]> {
  const row = id === NO_KEYWORDS ? undefined : await byId.first(tx, { id });
  return row ? (JSON.parse(row.words) as string[]) : [];
}
