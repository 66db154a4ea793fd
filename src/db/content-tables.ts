/** The data dictionary, part of the contents of messages. The conventions are those of tables.ts. */
import type { Id } from '../system/ids.ts';

/** Written by queue/contents/store.ts: the texts of a message. Messages that share them have `mergeValues` of their own. */
export type ContentRow = {
  id: number;
  tenantId: Id<'ten'>;
  /** Size of the unpacked source in bytes. */
  sizeBytes: number;
  /** SHA-256 hash of `source` as it is stored. */
  sha256: Uint8Array;
  /** The packed source (queue/contents/source.ts). */
  source: Uint8Array;
};
