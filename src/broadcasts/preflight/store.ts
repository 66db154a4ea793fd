/** Reads what a preflight needs to know of contacts, and of mail that was sent before. This module writes nothing. */

import type { EmailRow } from '../../db/email-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import { DAY_MS } from '../../system/clock.ts';
import { firstIdAt } from '../../system/ids.ts';

/** Number of days in which transactional mail from an address counts. */
const RECENT_DAYS = 30;
/** Maximum number of the newest emails that are read. */
const MAX_NEWEST = 2_000;
/** Maximum number of emails that are read of each day. */
const MAX_PER_DAY = 50;

type Sender = Pick<BroadcastRow, 'tenantId' | 'mode'> & {
  /** Address of the sender, as its `addressKey`. */
  fromAddress: string;
  now: number;
};

/**
 * Returns true when transactional mail was sent from the address in the last 30 days. An address that has also sent
 * broadcasts may have millions of emails, so only the newest ones and a sample of each day are read.
 */
export const hasTransactionalMail = defineRead(
  'broadcasts.hasTransactionalMail',
  async (tx, sender: Sender): Promise<boolean> => {
    const since = sender.now - RECENT_DAYS * DAY_MS;
    const newest = await typesOf(tx, sender, since).limit(MAX_NEWEST).execute();
    if (newest.some(isTransactional)) return true;
    if (newest.length < MAX_NEWEST) return false;
    for (let day = 0; day < RECENT_DAYS; day++) {
      const from = since + day * DAY_MS;
      const sample = await typesOf(tx, sender, from)
        .where('id', '<', firstIdAt('em', from + DAY_MS))
        .limit(MAX_PER_DAY)
        .execute();
      if (sample.some(isTransactional)) return true;
    }
    return false;
  },
);

/** Number of the newest contacts whose properties are read. */
const MAX_CONTACTS = 1_000;

/** Returns the keys of all properties of the newest contacts of an audience; undefined when it has no contacts. */
export const findPropertyKeys = defineRead(
  'broadcasts.findPropertyKeys',
  async (
    tx,
    { tenantId, audienceId }: Pick<BroadcastRow, 'tenantId' | 'audienceId'>,
  ): Promise<string[] | undefined> => {
    const contacts = await tx
      .selectFrom('contacts')
      .select('properties')
      .where('tenantId', '=', tenantId)
      .where('audienceId', '=', audienceId)
      .orderBy('id', 'desc')
      .limit(MAX_CONTACTS)
      .execute();
    if (contacts.length === 0) return undefined;
    return [...new Set(contacts.flatMap(({ properties }) => Object.keys(JSON.parse(properties) as object)))];
  },
);

function typesOf(tx: Tx, { tenantId, mode, fromAddress }: Sender, since: number) {
  return tx
    .selectFrom('emails')
    .select('type')
    .where('tenantId', '=', tenantId)
    .where('mode', '=', mode)
    .where('fromAddress', '=', fromAddress)
    .where('id', '>=', firstIdAt('em', since))
    .orderBy('id', 'desc');
}

function isTransactional({ type }: Pick<EmailRow, 'type'>): boolean {
  return type === 'transactional';
}
