/**
 * Enumerates the audience of a broadcast: writes its contacts to the ledger, slice by slice. A reader thread finds and
 * checks the contacts of a slice; one write stores them together with the position, so a crash repeats or skips nobody.
 */
import type { App } from '../app.ts';
import { type Reach, type ReachedContact, readReached } from '../audiences/reach/store.ts';
import { readIdRange, timed } from '../audiences/segments/store.ts';
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { ContactRow, TopicRow } from '../db/marketing-tables.ts';
import { defineRead, defineWrite, type Tx } from '../db/operation.ts';
import { getRun, patchRun } from '../ledger/run-store.ts';
import { findBroadcastStatus, insertRows, type NewLedgerRow } from '../ledger/store.ts';
import { NOT_OPTED_IN, OPTED_OUT, SUPPRESSED } from '../queue/exclusions.ts';
import { findTopic } from '../topics/store.ts';
import { type Frozen, frozenOf } from './frozen.ts';
import { mergeValuesOf } from './merge-values.ts';

type BroadcastId = BroadcastRunRow['broadcastId'];
type Slice = { rows: NewLedgerRow[]; last: ContactRow['id'] | undefined };

/** State and reason with which a contact begins, by its reach. */
const BEGINNING: Record<Reach, Pick<NewLedgerRow, 'state' | 'reason'>> = {
  receives: { state: 'waiting', reason: null },
  suppressed: { state: 'suppressed', reason: SUPPRESSED },
  unsubscribed: { state: 'optedOut', reason: OPTED_OUT },
  optedOut: { state: 'optedOut', reason: OPTED_OUT },
  notOptedIn: { state: 'optedOut', reason: NOT_OPTED_IN },
};

/**
 * Numbers of contacts that a slice scans. The first slice is small, so that the first copies leave early; the write of the
 * largest takes the writer about 10 ms. Below the minimum, the steps between the slices take longer than the slices, and the
 * enumeration of a million contacts takes minutes on a busy machine.
 */
const SCAN = { first: 100, min: 500, max: 1_000 };
/** A slice that occupies its reader thread for longer is followed by a smaller one, in milliseconds. */
const SLOW_MS = 50;

const readSlice = defineRead(
  'broadcasts.readSlice',
  (tx, { broadcastId, scan }: { broadcastId: BroadcastId; scan: number }) =>
    timed(async (): Promise<Slice> => {
      const run = await getRun(tx, broadcastId);
      const { tenantId, startedAt } = run;
      const frozen = frozenOf(run);
      const { audienceId, filter, uses } = frozen;
      const idRange = await readIdRange(tx, {
        audienceId,
        scan,
        after: run.walkAfter ?? undefined,
        ...(run.walkUntil !== null && { until: run.walkUntil }),
      });
      if (!idRange) return { rows: [], last: undefined };
      const topic = await topicOf(tx, tenantId, frozen);
      const query = { tenantId, audienceId, filter: filter ?? undefined, topic, now: startedAt ?? 0 };
      const contacts = await readReached(tx, query, idRange);
      return {
        rows: contacts.map((contact) => ledgerRow(contact, uses)),
        last: idRange.scanned < scan ? undefined : idRange.newest,
      };
    }),
);

/**
 * Returns the topic as it was at the start; undefined without one. A change since adds no readers whom nobody has approved. Runs that earlier
 * versions started have the topic as it is now.
 */
async function topicOf(
  tx: Tx,
  tenantId: BroadcastRunRow['tenantId'],
  { topicId: id, defaultOptIn }: Pick<Frozen, 'topicId' | 'defaultOptIn'>,
): Promise<Pick<TopicRow, 'id' | 'defaultOptIn'> | undefined> {
  if (id === null) return undefined;
  const isFrozen = defaultOptIn !== undefined && defaultOptIn !== null;
  if (isFrozen) return { id, defaultOptIn };
  return (await findTopic(tx, tenantId, id)) ?? { id, defaultOptIn: 1 };
}

function ledgerRow(contact: ReachedContact, uses: Frozen['uses']): NewLedgerRow {
  const { id: contactId, address, reach } = contact;
  const mergeValues = reach === 'receives' ? JSON.stringify(usedValues(contact, uses)) : null;
  return { contactId, address, ...BEGINNING[reach], mergeValues };
}

/** Returns the values of a contact that the content uses. */
function usedValues(contact: ReachedContact, uses: Frozen['uses']): object {
  const names = Object.keys(uses);
  if (names.length === 0) return {};
  const values = mergeValuesOf(contact);
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(values, name) ? [[name, values[name]]] : [])),
  );
}

type ReadSlice = Slice & {
  broadcastId: BroadcastId;
  /** Position at which the slice was read. */
  after: BroadcastRunRow['walkAfter'];
  now: number;
};

/** Stores a slice and moves the position behind it, unless the broadcast is no longer being sent. */
const storeSlice = defineWrite(
  'broadcasts.storeSlice',
  async (tx, { broadcastId, after, rows, last, now }: ReadSlice): Promise<void> => {
    const run = await getRun(tx, broadcastId);
    if ((await findBroadcastStatus(tx, broadcastId)) !== 'sending') return;
    if (run.walkAfter !== after || run.walkedAt !== null) return;
    await insertRows(tx, { broadcastId, tenantId: run.tenantId, now }, rows);
    await patchRun(tx, broadcastId, last === undefined ? { walkedAt: now } : { walkAfter: last });
  },
  {
    priority: 'bulk',
    crashPoints: {
      beforeCommit: 'broadcast-slice-before-commit',
      afterCommit: 'broadcast-slice-after-commit',
    },
  },
);

/** Returns the function that enumerates the next slice. It remembers how many contacts a slice of each broadcast may have. */
export function createEnumeration({ db, clock }: Pick<App, 'db' | 'clock'>) {
  const scans = new Map<BroadcastId, number>();
  /** Enumerates one slice. Returns true when the enumeration is over. */
  return async ({ broadcastId, walkAfter }: BroadcastRunRow): Promise<boolean> => {
    const scan = scans.get(broadcastId) ?? SCAN.first;
    const { tookMs, ...slice } = await db.query(readSlice, { broadcastId, scan });
    scans.set(broadcastId, tookMs > SLOW_MS ? Math.max(SCAN.min, scan / 2) : Math.min(scan * 2, SCAN.max));
    await db.commit(storeSlice, { ...slice, broadcastId, after: walkAfter, now: clock.now() });
    const isOver = slice.last === undefined;
    if (isOver) scans.delete(broadcastId);
    return isOver;
  };
}
