/** Settles classifications: the verdict, its event and what is counted are one write. */
import { storeTally } from '../counts/store.ts';
import { type Counter, Tally } from '../counts/tally.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { EngagementRow } from '../db/tracking-tables.ts';
import { recordEvent } from '../events/store.ts';
import { countEngagement } from '../ledger/engagement/store.ts';
import { isoTime } from '../system/clock.ts';
import { newId } from '../system/ids.ts';
import type { MachineReason } from './classify.ts';
import { deleteEngagement, findUnclassified, storeFirst, storeVerdict } from './engagements/store.ts';

export type Classification = Pick<EngagementRow, 'id'> & {
  /** Why a machine made the request; null for a person. */
  reason: MachineReason | null;
};

type Unclassified = NonNullable<Awaited<ReturnType<typeof findUnclassified>>>;
type Classifications = { now: number; classifications: readonly Classification[] };

/**
 * Settles engagements and returns how many. One that is settled already is skipped, and one whose email retention has
 * deleted is forgotten.
 */
export const settleEngagements = defineWrite(
  'tracking.settle',
  async (tx, { now, classifications }: Classifications): Promise<number> => {
    let settled = 0;
    const tally = new Tally();
    for (const classification of classifications)
      if (await settleOne(tx, classification, { now, tally })) settled++;
    await storeTally(tx, tally);
    return settled;
  },
);

async function settleOne(
  tx: Tx,
  { id, reason }: Classification,
  { now, tally }: { now: number; tally: Tally },
): Promise<boolean> {
  const engagement = await findUnclassified(tx, id);
  if (!engagement) return false;
  const { emailId, kind, at, tenantId, mode, mailKind, domainId, broadcastId, to } = engagement;
  if (tenantId === null || mode === null || mailKind === null) {
    await deleteEngagement(tx, id);
    return false;
  }
  const eventId = newId('evt', now);
  await storeVerdict(tx, { id, verdict: reason === null ? 'human' : 'machine', reason, eventId });
  const data = { to, ...describe(engagement, reason) };
  const type = kind === 'open' ? 'email.opened' : 'email.clicked';
  await recordEvent(tx, { id: eventId, tenantId, mode, type, emailId, data, createdAt: now });
  const isFirst = reason === null && (await storeFirst(tx, { emailId, kind, at }));
  const counters = countersOf(kind, { isMachine: reason !== null, isFirst });
  tally.count({ tenantId, mode, kind: mailKind, domainId, broadcastId }, { to: to ?? '', at: now, counters });
  await countForBroadcast(tx, engagement, reason !== null);
  return true;
}

function countersOf(
  kind: EngagementRow['kind'],
  { isMachine, isFirst }: { isMachine: boolean; isFirst: boolean },
): readonly Counter[] {
  const [all, first, machine] =
    kind === 'open'
      ? (['opened', 'uniqueOpened', 'machineOpened'] as const)
      : (['clicked', 'uniqueClicked', 'machineClicked'] as const);
  if (isMachine) return [machine];
  return isFirst ? [all, first] : [all];
}

/** Counts an engagement for the broadcast whose copy it belongs to, if there is one. */
async function countForBroadcast(
  tx: Tx,
  { broadcastId, contactId, kind, link, at }: Unclassified,
  isMachine: boolean,
): Promise<void> {
  if (broadcastId === null || contactId === null) return;
  if (kind === 'open') await countEngagement(tx, { broadcastId, contactId }, { kind, at, isMachine });
  else await countEngagement(tx, { broadcastId, contactId }, { kind, link: link ?? 0, at, isMachine });
}

type Described = Pick<EngagementRow, 'kind' | 'url' | 'at' | 'ip' | 'userAgent'>;

function describe({ kind, url, at, ip, userAgent }: Described, reason: MachineReason | null): object {
  const timestamp = isoTime(at);
  const reader = { ip, userAgent, bot: reason !== null, botReason: reason };
  return kind === 'open'
    ? { open: { timestamp, ...reader } }
    : { click: { timestamp, link: url, ...reader } };
}
