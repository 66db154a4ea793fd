/** Stores and finds the header fields of `search.db` (field-page.ts). All SQL of its pages is here, and nothing else writes them. */
import { sql } from 'kysely';
import { defineWrite, type Tx } from '../db/operation.ts';
import { type Param, statement } from '../db/statement.ts';
import { type FieldTexts, SEARCH_FIELDS, type SearchField } from '../mail/message/search-fields.ts';
import { nextSlice } from '../system/slices.ts';
import { CONTENTS_PER_PAGE, changePage, emptyPage, isEmptyPage, searchPage } from './field-page.ts';
import type { FieldPageRow, SearchTables } from './search-tables.ts';

type SearchTx = Tx<SearchTables>;

/**
 * Maximum number of pages in memory at once, after which other accounts go on. A page has up to 512 KiB, and each message of a folder can have
 * its content in another one.
 */
const PAGES_PER_READ = 8;

export type NewFields = { contentId: number; fields: FieldTexts };

/** A folded text in a field. */
export type FieldSought = { field: SearchField; needle: string };

export type FieldMatches = {
  /** Ids of contents that have the text in the field. */
  matching: ReadonlySet<number>;
  /** Ids of contents whose field is too long to be here, or is not known. */
  unsure: ReadonlySet<number>;
  /** Ids of contents that were asked for and are not known. */
  missing: readonly number[];
};

const pagesOf = statement((db: SearchTx, param: Param<{ field: string; pages: string }>) =>
  db
    .selectFrom('fieldPages')
    .select(['page', 'texts'])
    .where('field', '=', param('field'))
    .where('page', 'in', sql<number>`(SELECT value FROM json_each(${param('pages')}))`),
);

const put = statement((db: SearchTx, param: Param<FieldPageRow>) =>
  db
    .insertInto('fieldPages')
    .values({ field: param('field'), page: param('page'), texts: param('texts') })
    .onConflict((conflict) =>
      conflict.columns(['field', 'page']).doUpdateSet((set) => ({ texts: set.ref('excluded.texts') })),
    ),
);

const remove = statement((db: SearchTx, param: Param<Pick<FieldPageRow, 'field' | 'page'>>) =>
  db.deleteFrom('fieldPages').where('field', '=', param('field')).where('page', '=', param('page')),
);

/** Finds contents by their fields. What is said of contents that were not asked for is of no use. */
export async function findInField(
  tx: SearchTx,
  contentIds: readonly number[],
  { field, needle }: FieldSought,
): Promise<FieldMatches> {
  const pages = [...pagesWith(contentIds)];
  const matching = new Set<number>();
  const unsure = new Set<number>();
  const missing = new Set<number>();
  for (let at = 0; at < pages.length; at += PAGES_PER_READ) {
    if (at > 0) await nextSlice();
    const some = pages.slice(at, at + PAGES_PER_READ);
    const texts = await readPages(tx, field, some);
    for (const page of some) {
      const found = searchPage(texts.get(page) ?? emptyPage(), needle);
      const first = page * CONTENTS_PER_PAGE;
      for (const position of found.matching) matching.add(first + position);
      for (const position of found.tooLong) unsure.add(first + position);
      for (const position of found.missing) missing.add(first + position);
    }
  }
  for (const contentId of missing) unsure.add(contentId);
  return { matching, unsure, missing: missing.size > 0 ? contentIds.filter((id) => missing.has(id)) : [] };
}

/** Returns the pages with these contents, most of which are neighbours. */
function pagesWith(contentIds: readonly number[]): Set<number> {
  const pages = new Set<number>();
  let last: number | undefined;
  for (const contentId of contentIds) {
    const page = pageOf(contentId);
    if (page !== last) pages.add(page);
    last = page;
  }
  return pages;
}

/** Adds the fields of contents. */
export const insertFields = defineWrite(
  'search.insertFields',
  (tx: SearchTx, { added }: { added: readonly NewFields[] }): Promise<void> => putFields(tx, added),
);

/** Adds the fields of contents, as a part of a write. Fields that are known are replaced. */
export async function putFields(tx: SearchTx, added: readonly NewFields[]): Promise<void> {
  if (added.length === 0) return;
  for (const field of SEARCH_FIELDS)
    await changeField(tx, field, new Map(added.map(({ contentId, fields }) => [contentId, fields[field]])));
}

/** Removes the fields of contents, as a part of a write. */
export async function removeFields(tx: SearchTx, contentIds: readonly number[]): Promise<void> {
  for (const field of SEARCH_FIELDS)
    await changeField(tx, field, new Map(contentIds.map((contentId) => [contentId, undefined])));
}

async function changeField(
  tx: SearchTx,
  field: SearchField,
  values: ReadonlyMap<number, readonly string[] | undefined>,
): Promise<void> {
  const changes = new Map<number, Map<number, readonly string[] | undefined>>();
  for (const [contentId, texts] of values) {
    const page = pageOf(contentId);
    const changed = changes.get(page) ?? new Map();
    changes.set(page, changed.set(contentId % CONTENTS_PER_PAGE, texts));
  }
  const all = [...changes];
  for (let at = 0; at < all.length; at += PAGES_PER_READ) {
    if (at > 0) await nextSlice();
    const some = all.slice(at, at + PAGES_PER_READ);
    const known = await readPages(
      tx,
      field,
      some.map(([page]) => page),
    );
    for (const [page, changed] of some) {
      const texts = changePage(known.get(page) ?? emptyPage(), changed);
      if (isEmptyPage(texts)) await remove.all(tx, { field, page });
      else await put.all(tx, { field, page, texts });
    }
  }
}

function pageOf(contentId: number): number {
  return Math.floor(contentId / CONTENTS_PER_PAGE);
}

async function readPages(
  tx: SearchTx,
  field: SearchField,
  pages: readonly number[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const rows = await pagesOf.all(tx, { field, pages: JSON.stringify(pages) });
  return new Map(rows.map(({ page, texts }) => [page, texts]));
}
