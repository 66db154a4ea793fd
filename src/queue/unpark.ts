/**
 * Makes mail due again that the claim has parked while its tenant was suspended. Nothing else of it has changed, so it goes on as if it had
 * waited all the time. Copies of a paused broadcast are parked again by their next claim, and suspects wait for their probe.
 */
import type { Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { EVERYTHING, keyAfter } from './control/selection.ts';
import { findNextQueue } from './control/walk-store.ts';
import { getMail } from './mail-store.ts';
import { listParked } from './parked-store.ts';
import { parseQueueKey } from './queue-key.ts';
import { changeEach } from './state/change.ts';
import { redateMessage } from './store.ts';

/** How far a pass through the parked mail of a tenant has come. It is valid while the daemon runs. */
export type UnparkCursor = {
  /** Key of the delivery queue, or of one that may stand behind it. */
  queue: string;
  /** Position among the states in which mail can be parked. */
  state: number;
  /** Number of the last row in that state. */
  row: number;
};

const STATES = ['ready', 'deferred'] as const satisfies readonly RecipientRow['state'][];

/** Maximum number of delivery queues that a slice looks at. Each takes some microseconds. */
const MAX_QUEUES = 200;
/**
 * Minimum time before mail that was parked expires, in milliseconds: one day of retries, as for held mail that is released.
 */
const MIN_LIFE_MS = 24 * 3_600_000;

type Slice = {
  tenantId: TenantRow['id'];
  now: number;
  /** Where the slice begins; undefined for the first. */
  after: UnparkCursor | undefined;
  /** Maximum number of recipients that the slice makes due, apart from the others of the last message. */
  rows: number;
};

/** Makes the next parked recipients of a tenant due. Returns where the next slice begins; undefined at the end. */
export async function unparkSlice(tx: Tx, slice: Slice): Promise<UnparkCursor | undefined> {
  const { tenantId } = slice;
  const walk = { selection: { ...EVERYTHING, tenantId }, isAtSite: () => true, states: ['waiting'] } as const;
  let at = slice.after ?? { queue: '', state: 0, row: 0 };
  let { rows } = slice;
  for (let queues = 0; queues < MAX_QUEUES && rows > 0; queues++) {
    const { queue, from } = await findNextQueue(tx, { ...walk, from: at.queue, maxSearches: MAX_QUEUES });
    if (queue === undefined && from === undefined) return undefined;
    if (queue === undefined) at = { queue: from ?? '', state: 0, row: 0 };
    else {
      if (queue !== at.queue) at = { queue, state: 0, row: 0 };
      const state = STATES[at.state] ?? 'ready';
      const parked = await listParked(tx, { queue, state, after: at.row, limit: rows });
      await unpark(tx, slice, new Set(parked.map(({ messageId }) => messageId)));
      const isEmptied = parked.length < rows;
      rows -= parked.length;
      if (!isEmptied) at = { ...at, row: parked.at(-1)?.row ?? 0 };
      else if (at.state + 1 < STATES.length) at = { ...at, state: at.state + 1, row: 0 };
      else at = { queue: keyAfter(queue), state: 0, row: 0 };
    }
  }
  return at;
}

async function unpark(tx: Tx, { tenantId, now }: Slice, messageIds: ReadonlySet<string>): Promise<void> {
  for (const messageId of messageIds) {
    const mail = await getMail(tx, messageId);
    const { id, datedAt, expiresAt } = mail.message;
    await changeEach(tx, mail, {
      now,
      transitionOf: (recipient) =>
        isParked(recipient) && parseQueueKey(recipient.queue).tenantId === tenantId
          ? { cause: 'unparked', dueAt: now }
          : undefined,
    });
    await redateMessage(tx, { id, datedAt, expiresAt: Math.max(expiresAt, now + MIN_LIFE_MS) });
  }
}

function isParked({ state, dueAt }: RecipientRow): boolean {
  return dueAt === null && (state === 'ready' || state === 'deferred');
}
