/** Text records that the zone has for a while, such as the proof that an authority of certificates asks for (RFC 8555 section 8.4). */
import type { App } from '../app.ts';
import type { OperatorRecord } from '../domains/operator-records.ts';
import { isSameOrBelow } from '../mail/domain-names.ts';
import type { NameServerCalls } from './part.ts';
import { listZoneTexts, putZoneText, removeZoneText } from './store.ts';
import { zoneName } from './zone/records.ts';

/** Time for which a record stays unless it is removed before, in milliseconds. Authorities look at once; an order may take hours. */
const LIFETIME_MS = 24 * 3_600_000;

export type ZoneTexts = {
  /** Adds a record, and resolves with true once it is answered with. False when the zone does not have the name. */
  setTxt(name: string, value: string): Promise<boolean>;
  /** Removes a record, if it is there. */
  removeTxt(name: string, value: string): Promise<void>;
};

/** Returns the functions that change the text records of the zone. */
export function createZoneTexts(
  { config, db, clock }: Pick<App, 'config' | 'db' | 'clock'>,
  { reload }: Pick<NameServerCalls, 'reload'>,
): ZoneTexts {
  return {
    async setTxt(text, value) {
      const name = text.toLowerCase();
      if (!config.nameserver.enabled || !isSameOrBelow(name, zoneName(config))) return false;
      const now = clock.now();
      await db.commit(putZoneText, { name, value, expiresAt: now + LIFETIME_MS, now });
      await reload();
      return true;
    },
    async removeTxt(text, value) {
      await db.commit(removeZoneText, { name: text.toLowerCase(), value });
    },
  };
}

/** Returns the text records as the zone has them. */
export async function zoneTextRecords({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<OperatorRecord[]> {
  const texts = await listZoneTexts(db.read, clock.now());
  return texts.map((text) => ({ type: 'TXT', ...text, purpose: 'needed for a while' }));
}
