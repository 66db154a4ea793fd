/**
 * Sources of mail that was accepted a moment ago, on their way from the thread that accepts to the one that delivers, so that a first
 * attempt neither reads nor unpacks what is stored. Whatever does not fit is read from the database, as later attempts do.
 */
import { LRUCache } from 'lru-cache';
import type { MessageRow } from '../../db/tables.ts';
import type { NewSource, Source } from './source.ts';

/** The source of one message. `sizeBytes` is that of its texts. */
export type Handed = { id: MessageRow['id']; source: Source; sizeBytes: number };

/** Hands the source of an accepted message to those who deliver it. One that is packed is left out: unpacking it is work for a pool. */
export type HandOver = (mail: Omit<Handed, 'source'> & { source: NewSource | undefined }) => void;

/** Hands nothing over, for a process that delivers nothing. */
export const handNothing: HandOver = () => {};

/** Maximum size of the texts that are on their way, and of those that wait for their first attempt. Our own limits. */
const MAX_UNDER_WAY_BYTES = 1024 * 1024;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Memory of an entry beside its texts, so that short texts are bounded too. */
const ENTRY_BYTES = 500;

/** Returns what hands sources over. Those of one turn of the event loop go together. */
export function createHandOver(send: (handed: readonly Handed[]) => Promise<unknown>): HandOver {
  let next: Handed[] = [];
  let underWayBytes = 0;
  const flush = () => {
    const handed = next;
    next = [];
    const bytes = handed.reduce((sum, mail) => sum + weightOf(mail), 0);
    // While the thread starts or ends, its mail is read from the database.
    send(handed)
      .catch(() => {})
      .finally(() => {
        underWayBytes -= bytes;
      });
  };
  return ({ id, source, sizeBytes }) => {
    if (source === undefined || 'source' in source) return;
    const mail = { id, source, sizeBytes };
    if (underWayBytes + weightOf(mail) > MAX_UNDER_WAY_BYTES) return;
    underWayBytes += weightOf(mail);
    if (next.length === 0) setImmediate(flush);
    next.push(mail);
  };
}

/** The sources that were handed over and wait for the first attempt. The oldest give way to new ones. */
export class HandedSources {
  readonly #waiting = new LRUCache<Handed['id'], Handed>({
    maxSize: MAX_WAITING_BYTES,
    sizeCalculation: weightOf,
  });

  keep(handed: readonly Handed[]): void {
    for (const mail of handed) this.#waiting.set(mail.id, mail);
  }

  /** Returns the source of a message, and forgets it: what lives longer would have to be collected with the old generation. */
  take(id: Handed['id']): Source | undefined {
    const mail = this.#waiting.peek(id);
    this.#waiting.delete(id);
    return mail?.source;
  }
}

function weightOf({ sizeBytes }: Pick<Handed, 'sizeBytes'>): number {
  return sizeBytes + ENTRY_BYTES;
}
