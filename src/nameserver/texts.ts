/**
 * Text records that are published for a while, such as the proof that an authority of certificates asks for (RFC 8555 section 8.4).
 * The database has them, and each place that serves a part of DNS for this installation lists them from there: a place that was
 * not reached, or a process that was killed, leaves nothing that the next listing does not put right.
 */
import type { App } from '../app.ts';
import type { OperatorRecord } from '../domains/operator-records.ts';
import { listZoneTexts, putZoneText, removeAllZoneTexts, removeZoneText } from './store.ts';

/** Time for which a record stays unless it is removed before, in milliseconds. Authorities look at once; an order may take hours. */
const LIFETIME_MS = 24 * 3_600_000;

/** A part of DNS that this installation writes: the zone of the built-in name server, or zones that take dynamic updates. */
export type TextPlace = {
  /** Returns true for names, in lower case, whose records are published here. */
  hasName(name: string): boolean;
  /** Publishes the texts of the database now. Returns why this text is not there afterwards; undefined when it is. */
  publishText(name: string, value: string): Promise<string | undefined>;
};

export type ZoneTexts = {
  /** Returns true when at least one place has the name. */
  hasName(name: string): boolean;
  /** Adds a record, and returns true once each place that has the name has published it. Otherwise nothing is left of it. */
  setTxt(name: string, value: string): Promise<boolean>;
  /** Removes a record, if it is there. The places follow soon. */
  removeTxt(name: string, value: string): Promise<void>;
};

/** Returns the functions that change the text records of some places. */
export function createZoneTexts(
  { db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>,
  places: readonly TextPlace[],
): ZoneTexts {
  const placesOf = (name: string) => places.filter((place) => place.hasName(name.toLowerCase()));
  return {
    hasName: (name) => placesOf(name).length > 0,
    async setTxt(text, value) {
      const name = text.toLowerCase();
      const having = placesOf(name);
      if (having.length === 0) return false;
      await using unfinished = new AsyncDisposableStack();
      const now = clock.now();
      await db.commit(putZoneText, { name, value, expiresAt: now + LIFETIME_MS, now });
      unfinished.defer(() => db.commit(removeZoneText, { name, value }));
      const problems = await Promise.all(having.map((place) => place.publishText(name, value)));
      const problem = problems.find((one) => one !== undefined);
      if (problem !== undefined) {
        log.warn({ name, problem }, 'a text record could not be published');
        return false;
      }
      unfinished.move();
      return true;
    },
    async removeTxt(text, value) {
      await db.commit(removeZoneText, { name: text.toLowerCase(), value });
    },
  };
}

/** Removes the records that an earlier process has left when it was killed. Orders that go on set theirs again. */
export async function forgetZoneTexts({ db }: Pick<App, 'db'>): Promise<void> {
  const left = await listZoneTexts(db.read, 0);
  if (left.length > 0) await db.commit(removeAllZoneTexts, {});
}

/** Returns the text records as the places list them. */
export async function zoneTextRecords({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<OperatorRecord[]> {
  const texts = await listZoneTexts(db.read, clock.now());
  return texts.map((text) => ({
    type: 'TXT',
    ...text,
    purpose: 'needed for a while',
    ttlSeconds: TTL_SECONDS,
  }));
}

/** TTL of the records, in seconds. The proof of the next order stands at the same name, and must not wait for this one to be forgotten. */
const TTL_SECONDS = 60;
