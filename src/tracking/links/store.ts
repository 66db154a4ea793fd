/** Stores the addresses of tracked links. All SQL of the table is here. */

import type { EmailRow } from '../../db/email-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { findColumns, insertRow, listRows } from '../../db/rows.ts';
import type { MessageRow } from '../../db/tables.ts';
import type { TrackedLinkRow } from '../../db/tracking-tables.ts';

type OwnerId = TrackedLinkRow['ownerId'];

/** Stores the addresses of the links of an email or a broadcast, numbered by their positions in the list. */
export async function insertTargets(tx: Tx, ownerId: OwnerId, urls: readonly string[]): Promise<void> {
  for (const [number, url] of urls.entries()) await insertRow(tx, 'trackedLinks', { ownerId, number, url });
}

/** Returns the tracked links of an email or a broadcast, in the order of its text. */
export function listTargets(tx: Tx, ownerId: OwnerId): Promise<TrackedLinkRow[]> {
  return listRows(tx, 'trackedLinks', { where: { ownerId }, orderBy: 'number' });
}

/** Returns the address of a link, or undefined when there is none. */
export async function findTarget(tx: Tx, ownerId: OwnerId, number: number): Promise<string | undefined> {
  return (await findColumns(tx, 'trackedLinks', { select: ['url'], where: { ownerId, number } }))?.url;
}

/** Returns what a token of an email needs, or undefined when retention has deleted the email. */
export function findTrackedEmail(
  tx: Tx,
  id: EmailRow['id'],
): Promise<Pick<MessageRow, 'tenantId' | 'broadcastId' | 'mergeValues'> | undefined> {
  return findColumns(tx, 'messages', { select: ['tenantId', 'broadcastId', 'mergeValues'], where: { id } });
}

/** Deletes the links of these emails. The links of a broadcast stay. */
export async function deleteTargetsOf(tx: Tx, emailIds: readonly EmailRow['id'][]): Promise<void> {
  await tx.deleteFrom('trackedLinks').where('ownerId', 'in', emailIds).execute();
}
