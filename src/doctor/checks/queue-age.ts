/** Checks that mail is tried when it is due. How long it then takes to be accepted is the business of the receivers. */
import { isoTime } from '../../system/clock.ts';
import { type Check, findingsOf } from '../check.ts';
import { findEarliestDue } from '../store.ts';

const { ok, warn, fail } = findingsOf('queue-age');

const MINUTE_MS = 60_000;
/** Time for which mail may be due before it is a concern, and before it is a failure. */
const MAX_DUE_MS = 30 * MINUTE_MS;
const MAX_DUE_UNTIL_FAILURE_MS = 240 * MINUTE_MS;

export const queueAge: Check = {
  name: 'queue-age',
  async run({ db, clock }) {
    const dueAt = await db.query(findEarliestDue, {});
    const dueMs = dueAt === null ? 0 : clock.now() - dueAt;
    if (dueAt === null || dueMs < MAX_DUE_MS) return [ok('queue', 'no mail has been due for long')];
    const says = `mail has been due since ${isoTime(dueAt)} and is not tried`;
    const advice =
      'look at "postrider queue stats" and the log: a hold, too few connections, or a daemon that does not run';
    return [(dueMs >= MAX_DUE_UNTIL_FAILURE_MS ? fail : warn)('queue', says, advice)];
  },
};
