/** Settles judgements: the verdict, its event and what is counted are one write. */
import { defineWrite, type Tx } from '../db/operation.ts';
import type { EngagementRow } from '../db/tracking-tables.ts';
import { recordEvent } from '../events/store.ts';
import { isoTime } from '../system/clock.ts';
import { newId } from '../system/ids.ts';
import { deleteEngagement, findUnjudged, storeFirst, storeVerdict } from './engagements/store.ts';
import type { MachineReason } from './judge.ts';

export type Judgement = Pick<EngagementRow, 'id'> & {
  /** Why a machine made the request; null for a person. */
  reason: MachineReason | null;
};

type Judgements = { now: number; judgements: readonly Judgement[] };

/**
 * Settles engagements and returns how many. One that is settled already is skipped, and one whose email retention has
 * deleted is forgotten.
 */
export const settleEngagements = defineWrite(
  'tracking.settle',
  async (tx, { now, judgements }: Judgements): Promise<number> => {
    let settled = 0;
    for (const judgement of judgements) if (await settleOne(tx, judgement, now)) settled++;
    return settled;
  },
);

async function settleOne(tx: Tx, { id, reason }: Judgement, now: number): Promise<boolean> {
  const engagement = await findUnjudged(tx, id);
  if (!engagement) return false;
  const { emailId, kind, at, tenantId, mode, to } = engagement;
  if (tenantId === null || mode === null) {
    await deleteEngagement(tx, id);
    return false;
  }
  const eventId = newId('evt', now);
  await storeVerdict(tx, { id, verdict: reason === null ? 'human' : 'machine', reason, eventId });
  const data = { to, ...describe(engagement, reason) };
  const type = kind === 'open' ? 'email.opened' : 'email.clicked';
  await recordEvent(tx, { id: eventId, tenantId, mode, type, emailId, data, createdAt: now });
  if (reason === null) await storeFirst(tx, { emailId, kind, at });
  return true;
}

type Described = Pick<EngagementRow, 'kind' | 'url' | 'at' | 'ip' | 'userAgent'>;

function describe({ kind, url, at, ip, userAgent }: Described, reason: MachineReason | null): object {
  const timestamp = isoTime(at);
  const reader = { ip, userAgent, bot: reason !== null, botReason: reason };
  return kind === 'open'
    ? { open: { timestamp, ...reader } }
    : { click: { timestamp, link: url, ...reader } };
}
