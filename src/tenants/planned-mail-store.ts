/**
 * Protects what mail is going to be made of that needs no approval. A key whose mail requires one could otherwise write that mail by changing a
 * template, a segment or a topic. This module writes nothing.
 */
import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { AppError } from '../system/errors.ts';
import { findAsker } from './approval-need.ts';
import type { Caller } from './authenticate.ts';

/** A caller that changes, restores or deletes something. */
export type Changer = Pick<Caller, 'tenantId' | 'approval'>;
type Thing = 'template' | 'segment' | 'topic';
type Named = { thing: Thing; id: string };

/**
 * Checks that the caller may change a template: mail of the caller needs no approval, or nobody has planned mail that is made of the template.
 * @throws AppError restricted_api_key
 */
export async function requireTemplateUnplanned(tx: Tx, changer: Changer, id: string): Promise<void> {
  await refuseOfBroadcast(tx, changer, { thing: 'template', id });
  if (findAsker(changer, 'transactional') !== null && (await isOfConfirmations(tx, changer, id)))
    throw refusal('template', 'Confirmation mail of an audience is made of this template');
}

/**
 * Checks that the caller may change a segment: mail of the caller needs no approval, or no broadcast to the segment can
 * start without another look at it.
 * @throws AppError restricted_api_key
 */
export function requireSegmentUnplanned(tx: Tx, changer: Changer, id: string): Promise<void> {
  return refuseOfBroadcast(tx, changer, { thing: 'segment', id });
}

/**
 * Checks that the caller may change a topic: mail of the caller needs no approval, or no broadcast that names the topic can start without another
 * look at it. Its readers see the topic's name and description, and its default decides who gets the broadcast.
 * @throws AppError restricted_api_key
 */
export function requireTopicUnplanned(tx: Tx, changer: Changer, id: string): Promise<void> {
  return refuseOfBroadcast(tx, changer, { thing: 'topic', id });
}

async function refuseOfBroadcast(tx: Tx, changer: Changer, named: Named): Promise<void> {
  if (findAsker(changer, 'broadcast') === null || !(await isOfBroadcast(tx, changer, named))) return;
  const { thing } = named;
  throw refusal(
    thing,
    `A broadcast that is scheduled without approval, or paused before its start, names this ${thing}`,
  );
}

function refusal(what: Thing, reason: string): AppError {
  return new AppError(
    'restricted_api_key',
    `${reason}, and the mail of this API key requires approval, so the key cannot change or delete the ${what}`,
  );
}

/**
 * Returns true when a broadcast names it that can start without another look at it. A broadcast that has started is frozen, and an approval
 * binds to the template, the topic and the segment; but not when its time has passed, because whoever resumes it then starts it.
 */
async function isOfBroadcast(tx: Tx, { tenantId }: Changer, { thing, id }: Named): Promise<boolean> {
  const found = await tx
    .selectFrom('broadcasts')
    .innerJoin('broadcastRuns', 'broadcastRuns.broadcastId', 'broadcasts.id')
    .select('broadcasts.id')
    .where('broadcasts.tenantId', '=', tenantId)
    .where('broadcasts.mode', 'in', ['live', 'test'])
    .where('broadcasts.status', 'in', ['scheduled', 'paused'])
    .where(sql<boolean>`${sql.ref(`broadcasts.${thing}Id`)} = ${id}`)
    .where('broadcastRuns.startedAt', 'is', null)
    .where(sql<boolean>`(broadcasts.status = 'paused' OR NOT EXISTS (SELECT 1 FROM approvals
      WHERE approvals.reference = broadcasts.id AND approvals.state IN ('pending', 'approved')
        AND approvals."sendAt" IS NOT NULL))`)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

async function isOfConfirmations(tx: Tx, { tenantId }: Changer, templateId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('audiences')
    .select('id')
    .where('tenantId', '=', tenantId)
    .where('deletedAt', 'is', null)
    .where(sql<boolean>`json_extract("optIn", '$.templateId') = ${templateId}`)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
