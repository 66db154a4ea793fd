/**
 * The data dictionary of `search.db`: the text in which SEARCH looks. All of it is read from the messages, so it can be deleted at
 * any time, and nothing waits for it to be written.
 */

import { createTables } from '../db/create-tables.ts';
import type { Schema } from '../db/migrate.ts';
import { bytes, flag, integer, key, type Row, type RowsOf, table, text } from '../db/table.ts';

/** There is one row. */
const source = table({
  id: key(integer<1>()),
  /** Name of the `index.db` that the texts were made from. Texts of another one are deleted. */
  identity: text(),
  /** Size of all texts. */
  textBytes: integer(),
  /** Id of the last content whose text is in `trigrams`, with all before it. */
  indexedTo: integer(),
});

const texts = table({
  contentId: key(integer()),
  /** Folded text in UTF-8 (mail/message/search-text.ts). */
  header: bytes(),
  body: bytes(),
  /** 0 when text beyond a limit is missing, so that a search reads the message. */
  isComplete: flag(),
}).indexedBy({ textsByCompleteness: '(isComplete, contentId)' });
export type TextRow = Row<typeof texts>;

/** An FTS5 table without its own content, whose row ids are ids of contents. */
const trigrams = table({ rowid: integer(), text: text() });

/** Written by accounts/search-field-store.ts: the values of a header field in 256 contents. */
const fieldPages = table({
  /** Name in lower case (mail/message/search-fields.ts). */
  field: key(text()),
  /** Id of the first content, divided by 256. */
  page: key(integer()),
  /** Folded values (field-page.ts). */
  texts: bytes(),
});
export type FieldPageRow = Row<typeof fieldPages>;

/** Written by accounts/search-store.ts, except fieldPages. */
const SEARCH_TABLES = { source, texts, trigrams, fieldPages };
export type SearchTables = RowsOf<typeof SEARCH_TABLES>;

const TRIGRAMS = `
CREATE VIRTUAL TABLE trigrams USING fts5(
  text, tokenize = 'trigram case_sensitive 1', detail = none, content = '', contentless_delete = 1
);
`;

export const SEARCH_SCHEMA: Schema = {
  creation: `${createTables({ source, texts, fieldPages })}${TRIGRAMS}INSERT INTO source VALUES (1, '', 0, 0);`,
  oldest: '0003-addresses-as-shown',
  migrations: [],
};
