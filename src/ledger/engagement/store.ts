/**
 * Stores what readers did with the copies of broadcasts. All SQL of these tables is here, and nothing else writes them. The
 * classification of opens and clicks (tracking) calls `countEngagement` once for each of them.
 */

import { recordActivity } from '../../audiences/contacts/activity-store.ts';
import type { BroadcastEngagementRow, BroadcastLinkRow } from '../../db/broadcast-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { addToRow, findColumns, findRow, listRows, putRow } from '../../db/rows.ts';
import { addCounts } from '../store.ts';

type BroadcastId = BroadcastEngagementRow['broadcastId'];
type Copy = Pick<BroadcastEngagementRow, 'broadcastId' | 'contactId'>;

/** An open, or a click on the link with this number. `at` is in Unix milliseconds. */
type Engagement = { at: number; isMachine: boolean } & ({ kind: 'open' } | { kind: 'click'; link: number });

/**
 * Counts an open or a click of a copy, as part of the write that classifies it. Machines count for the link alone. Nothing is
 * counted for a copy that the ledger does not have, because retention may have deleted it.
 */
export async function countEngagement(
  tx: Tx,
  { broadcastId, contactId }: Copy,
  engagement: Engagement,
): Promise<void> {
  const copy = { broadcastId, contactId };
  if (!(await findColumns(tx, 'broadcastRecipients', { select: ['state'], where: copy }))) return;
  if (engagement.isMachine) {
    if (engagement.kind === 'open') return;
    const none = { clicks: 0, uniqueClicks: 0 };
    await addToRow(tx, 'broadcastLinks', { broadcastId, number: engagement.link, ...none, machineClicks: 1 });
    return;
  }
  const before = await findRow(tx, 'broadcastEngagements', copy);
  if (engagement.kind === 'open') await countOpen(tx, copy, { at: engagement.at, before });
  else await countClick(tx, copy, { at: engagement.at, link: engagement.link, before });
}

type ByPerson = { at: number; before: BroadcastEngagementRow | undefined };

async function countOpen(tx: Tx, copy: Copy, { at, before }: ByPerson): Promise<void> {
  const isFirst = (before?.openedAt ?? null) === null;
  if (isFirst) {
    const { clickedAt, links } = before ?? { clickedAt: null, links: '[]' };
    await putRow(tx, 'broadcastEngagements', { ...copy, openedAt: at, clickedAt, links });
  }
  await addCounts(tx, copy.broadcastId, { opened: 1, uniqueOpened: isFirst ? 1 : 0 });
  await recordActivity(tx, copy.contactId, { openedAt: at });
}

async function countClick(
  tx: Tx,
  copy: Copy,
  { at, link, before }: ByPerson & { link: number },
): Promise<void> {
  const { openedAt, clickedAt, links } = before ?? { openedAt: null, clickedAt: null, links: '[]' };
  const clicked = JSON.parse(links) as number[];
  const isNewLink = !clicked.includes(link);
  if (isNewLink) {
    const row = { openedAt, clickedAt: clickedAt ?? at, links: JSON.stringify([...clicked, link]) };
    await putRow(tx, 'broadcastEngagements', { ...copy, ...row });
  }
  await addCounts(tx, copy.broadcastId, { clicked: 1, uniqueClicked: clickedAt === null ? 1 : 0 });
  const counts = { clicks: 1, uniqueClicks: isNewLink ? 1 : 0, machineClicks: 0 };
  await addToRow(tx, 'broadcastLinks', { broadcastId: copy.broadcastId, number: link, ...counts });
  await recordActivity(tx, copy.contactId, { openedAt: at, clickedAt: at });
}

/** Returns the clicks on the links of a broadcast, in the order of the links. Links without clicks are absent. */
export function listLinkClicks(tx: Tx, broadcastId: BroadcastId): Promise<BroadcastLinkRow[]> {
  return listRows(tx, 'broadcastLinks', { where: { broadcastId }, orderBy: 'number' });
}

/** Deletes what these contacts did with their copies of a broadcast. The counts of the broadcast and of its links stay. */
export async function deleteEngagements(
  tx: Tx,
  broadcastId: BroadcastId,
  contactIds: readonly Copy['contactId'][],
): Promise<void> {
  await tx
    .deleteFrom('broadcastEngagements')
    .where('broadcastId', '=', broadcastId)
    .where('contactId', 'in', contactIds)
    .execute();
}
