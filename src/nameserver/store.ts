/** Stores the text records of the zone that are needed for a while. All SQL of this table is here, and nothing else writes it. */
import { wakeAfterCommit } from '../db/commit-wakeups.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { putRow } from '../db/rows.ts';

/** A text record. `name` is in lower case and has no final dot. */
type ZoneText = { name: string; value: string };

/** Adds a text record until `expiresAt`, in Unix milliseconds, and removes those that have expired. */
export const putZoneText = defineWrite(
  'nameserver.putText',
  async (tx, { now, ...text }: ZoneText & { expiresAt: number; now: number }): Promise<void> => {
    await tx.deleteFrom('zoneTexts').where('expiresAt', '<=', now).execute();
    await putRow(tx, 'zoneTexts', text);
    wakeAfterCommit('zone', text.name);
  },
);

/** Removes a text record, if it is there. */
export const removeZoneText = defineWrite(
  'nameserver.removeText',
  async (tx, { name, value }: ZoneText): Promise<void> => {
    await tx.deleteFrom('zoneTexts').where('name', '=', name).where('value', '=', value).execute();
    wakeAfterCommit('zone', name);
  },
);

/** Removes all text records. */
export const removeAllZoneTexts = defineWrite(
  'nameserver.removeAllTexts',
  async (tx, _input: object): Promise<void> => {
    await tx.deleteFrom('zoneTexts').execute();
    wakeAfterCommit('zone', '');
  },
);

/** Returns the text records that have not expired. */
export function listZoneTexts(tx: Tx, now: number): Promise<ZoneText[]> {
  return tx.selectFrom('zoneTexts').select(['name', 'value']).where('expiresAt', '>', now).execute();
}
