/** Creates an app password: one for each mail program, which can be limited and revoked alone. */

import { PROTOCOLS } from '../../accounts/protocols.ts';
import type { App } from '../../app.ts';
import type { AppPasswordRow, MailboxRow } from '../../db/mailbox-tables.ts';
import { invalid } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { readKeyLimits } from '../../tenants/key-request.ts';
import { getPerson } from '../member-store.ts';
import { hashQueued } from '../passwords/hash.ts';
import { createScramVerifier } from '../passwords/scram-verifier.ts';
import { getMailbox } from '../store.ts';
import type { NewAppPassword } from './schemas.ts';
import { generateSecret, hashSecret, hintOf, showSecret } from './secret.ts';
import { insertAppPassword, requireAppPasswordLimit } from './store.ts';

/** A new app password, with the text that is shown once. */
export type CreatedAppPassword = AppPasswordRow & { password: string };

/**
 * Creates an app password for a mailbox.
 * @throws AppError not_found, validation_error, unavailable
 */
export async function createAppPassword(
  app: Pick<App, 'db' | 'clock'>,
  tenantId: MailboxRow['tenantId'],
  { mailboxId, wanted }: { mailboxId: string; wanted: NewAppPassword },
): Promise<CreatedAppPassword> {
  const { name, protocols = PROTOCOLS, member } = wanted;
  const { allowedIps, expiresAt } = readKeyLimits(wanted, app.clock.now());
  const mailbox = await getMailbox(app.db.read, tenantId, mailboxId);
  const memberId = await readMember(app, mailbox, member);
  await requireAppPasswordLimit(app.db.read, mailbox.id);
  const secret = generateSecret();
  const password = showSecret(secret);
  const verifiers = await hashQueued(tenantId, () =>
    Promise.all([password, secret].map((text) => createScramVerifier(text, mailbox.scramSalt))),
  );
  const now = app.clock.now();
  const row: AppPasswordRow = {
    id: newId('apw', now),
    tenantId,
    mailboxId: mailbox.id,
    memberId,
    name,
    protocols: JSON.stringify([...new Set(protocols)]),
    allowedIps: allowedIps && JSON.stringify(allowedIps),
    hint: hintOf(secret),
    secretHash: hashSecret(secret),
    scramVerifiers: JSON.stringify(verifiers),
    createdAt: now,
    lastUsedAt: null,
    expiresAt,
  };
  await app.db.commit(insertAppPassword, row);
  return { ...row, password };
}

/**
 * Returns the mailbox of the member that a credential of a shared mailbox is for; null for a personal mailbox. The write checks that it
 * is a member.
 * @throws AppError validation_error
 */
export async function readMember(
  { db }: Pick<App, 'db'>,
  { kind, tenantId }: MailboxRow,
  member: string | undefined,
): Promise<MailboxRow['id'] | null> {
  if (kind === 'personal' && member === undefined) return null;
  if (kind === 'personal') throw invalid('member', '`member` is for a shared mailbox');
  if (member === undefined)
    throw invalid('member', '`member` is needed: a password or a key of a shared mailbox is for a member');
  return (await getPerson(db.read, tenantId, { param: 'member', address: member })).id;
}
