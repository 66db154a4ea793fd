/**
 * Creates and revokes API keys that reach the messages of one mailbox. The owner of the mailbox does it in My mailbox, or the operator: no
 * route of the API leads here, because the mail of people is private from those who manage their tenant.
 */
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { ApiKeyRow } from '../../db/tenant-tables.ts';
import { sandboxDomain } from '../../domains/name.ts';
import { cancelWithdrawnMail } from '../../queue/state/cancel-submitted.ts';
import { invalid, notFound } from '../../system/errors.ts';
import { readKeyLimits } from '../../tenants/key-request.ts';
import { createApiKey, revokeKey } from '../../tenants/keys.ts';
import { listKeysOfMailbox } from '../../tenants/mailbox-keys-store.ts';
import { listDomainsOfMailbox } from '../addresses/store.ts';
import { readMember } from '../app-passwords/create.ts';
import { getMailbox } from '../store.ts';
import type { NewMailboxKey } from './schemas.ts';

/** Matches the name of a key, as the schema of keys describes it. */
const KEY_NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/**
 * Creates a key for a mailbox. It is a test key when all addresses of the mailbox are at the sandbox domain. Only the result has the token.
 * @throws AppError not_found, validation_error
 */
export async function createMailboxKey(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  tenantId: MailboxRow['tenantId'],
  { mailboxId, wanted }: { mailboxId: string; wanted: NewMailboxKey },
): Promise<{ key: ApiKeyRow; token: string }> {
  const { name, access, member } = wanted;
  // The pages of the dashboard check no schema.
  if (!KEY_NAME.test(name))
    throw invalid('name', '`name` must have 1 to 200 characters, none of which is a control character');
  const mailbox = await getMailbox(app.db.read, tenantId, mailboxId);
  const domains = await listDomainsOfMailbox(app.db.read, mailbox.id);
  const isOfSandbox = domains.every((domain) => domain === sandboxDomain(app.config));
  return createApiKey(app, {
    tenantId,
    name,
    mode: isOfSandbox ? 'test' : 'live',
    permission: access === 'read' ? 'read_only' : 'full_access',
    // Whoever sends the drafts of such a key has approved them.
    requiresApproval: access === 'drafts' ? 'broadcasts_and_emails' : null,
    mailboxId: mailbox.id,
    memberId: await readMember(app, mailbox, member),
    ...readKeyLimits(wanted, app.clock.now()),
  });
}

/**
 * Revokes a key of a mailbox at once. Mail that was held with it is canceled.
 * @throws AppError not_found
 */
export async function revokeMailboxKey(
  app: Pick<App, 'db' | 'clock' | 'wakeups'>,
  mailboxId: MailboxRow['id'],
  id: string,
): Promise<ApiKeyRow> {
  const keys = await listKeysOfMailbox(app.db.read, mailboxId);
  const key = keys.find((one) => one.id === id);
  if (!key) throw notFound('API key');
  const row = await revokeKey(app, key.id);
  await app.db.commit(cancelWithdrawnMail, { mailboxId, now: app.clock.now() });
  return row;
}

/** Returns the keys of a mailbox that are not revoked, the newest first. */
export function listMailboxKeys({ db }: Pick<App, 'db'>, mailboxId: MailboxRow['id']): Promise<ApiKeyRow[]> {
  return listKeysOfMailbox(db.read, mailboxId);
}
