/** The data dictionary, part of the contents of messages. The conventions are those of tables.ts. */
import { bytes, id, integer, type Row, rowNumber, table } from './table.ts';

/** Written by queue/contents/store.ts: the texts of a message. Messages that share them have `mergeValues` of their own. */
export const contents = table({
  id: rowNumber(),
  tenantId: id('ten'),
  /** Size of the unpacked source in bytes. */
  sizeBytes: integer(),
  /** SHA-256 hash of `source` as it is stored. */
  sha256: bytes(),
  /** The packed source (queue/contents/source.ts). */
  source: bytes(),
});
export type ContentRow = Row<typeof contents>;
