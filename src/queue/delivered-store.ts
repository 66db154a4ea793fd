/** Finds deliveries to an address that have succeeded, which clear what bounces say about it. The tables are those of others. */
import type { Tx } from '../db/operation.ts';
import { type Param, statement } from '../db/statement.ts';
import type { RecipientRow } from '../db/tables.ts';
import { addressKey } from '../mail/address.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstIdAt, type Id } from '../system/ids.ts';

/**
 * Maximum time from the acceptance of an email to its delivery that is considered, in milliseconds. Mail waits at most
 * seven days for its server, and is seldom scheduled for longer than a month.
 */
const MAX_WAIT_MS = 40 * DAY_MS;

type Success = Pick<RecipientRow, 'tenantId' | 'address'> & {
  /** Times in Unix milliseconds between which the delivery must lie, the first one excluded. */
  since: number;
  until: number;
};

const delivered = statement((db, param: Param<Success & { key: string; firstId: Id<'em'> }>) =>
  db
    .selectFrom('emailAddresses')
    .innerJoin('recipients', 'recipients.messageId', 'emailAddresses.emailId')
    .select('recipients.id')
    .where('emailAddresses.tenantId', '=', param('tenantId'))
    .where('emailAddresses.mode', '=', 'live')
    .where('emailAddresses.address', '=', param('key'))
    .where('emailAddresses.emailId', '>=', param('firstId'))
    .where('recipients.address', '=', param('address'))
    .where('recipients.state', '=', 'delivered')
    .where('recipients.lastEventAt', '>', param('since'))
    .where('recipients.lastEventAt', '<=', param('until'))
    .limit(1),
);

/** Returns true when mail of the tenant was delivered to the address in this time, and has not bounced since. */
export async function findSuccess(tx: Tx, success: Success): Promise<boolean> {
  const firstId = firstIdAt('em', success.since - MAX_WAIT_MS);
  const found = await delivered.first(tx, { ...success, key: addressKey(success.address), firstId });
  return found !== undefined;
}
