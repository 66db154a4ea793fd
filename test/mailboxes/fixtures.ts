/** Mailboxes as rows, made without the hash of a password (which costs a tenth of a second). */
import type { AppPasswordRow, MailboxRow } from '../../src/db/mailbox-tables.ts';
import { hashSecret, hintOf } from '../../src/mailboxes/app-passwords/secret.ts';
import { insertAppPassword } from '../../src/mailboxes/app-passwords/store.ts';
import { insertMailbox } from '../../src/mailboxes/store.ts';
import { newId } from '../../src/system/ids.ts';
import { addDomain } from '../domains/fixtures.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import type { TestApp } from '../support/test-app.ts';

/** Adds a mailbox, by default `ann@people.example`, with its domain when the tenant does not have it yet. */
export async function addMailbox(
  test: Pick<TestApp, 'app' | 'tenantId'>,
  { aliases = [], ...fields }: Partial<MailboxRow> & { aliases?: readonly string[] } = {},
): Promise<MailboxRow> {
  const { app, tenantId } = test;
  const now = app.clock.now();
  const address = fields.address ?? 'ann@people.example';
  const mailbox: MailboxRow = {
    id: newId('mbx', now),
    tenantId,
    address,
    domain: address.slice(address.lastIndexOf('@') + 1),
    displayName: null,
    kind: 'personal',
    passwordHash: '',
    passwordLogin: 1,
    passwordRecovery: 1,
    timeZone: null,
    scramVerifier: null,
    scramSalt: '00'.repeat(16),
    quotaBytes: 1_000_000,
    status: 'active',
    usedBytes: 0,
    messageCount: 0,
    lastModseq: 0,
    lastLoginAt: null,
    disabledCapabilities: '[]',
    createdAt: now,
    updatedAt: now,
    ...fields,
  };
  const named = aliases.map((alias) => ({
    address: alias,
    domain: alias.slice(alias.lastIndexOf('@') + 1),
  }));
  for (const { domain } of [mailbox, ...named]) await addMailboxDomain(test, domain);
  await app.db.commit(insertMailbox, { mailbox, aliases: named, sandbox: SANDBOX });
  return mailbox;
}

let secrets = 0;

/** Adds an app password to a mailbox, for all protocols and without a verifier. `secret` opens the mailbox. */
export async function addAppPassword(
  { app }: Pick<TestApp, 'app'>,
  { id, tenantId }: Pick<MailboxRow, 'id' | 'tenantId'>,
  fields: Partial<AppPasswordRow> = {},
): Promise<{ row: AppPasswordRow; secret: string }> {
  const now = app.clock.now();
  const secret = `${++secrets}`.padStart(36, 'a');
  const row: AppPasswordRow = {
    id: newId('apw', now),
    tenantId,
    mailboxId: id,
    memberId: null,
    name: 'Phone',
    protocols: '["imap","pop3","smtp","sieve"]',
    allowedIps: null,
    hint: hintOf(secret),
    secretHash: hashSecret(secret),
    scramVerifiers: '[]',
    createdAt: now,
    lastUsedAt: null,
    expiresAt: null,
    ...fields,
  };
  await app.db.commit(insertAppPassword, row);
  return { row, secret };
}

/** Adds a verified domain for mailboxes, unless the tenant has one of this name or the name is that of the sandbox. */
export async function addMailboxDomain(
  { app, tenantId }: Pick<TestApp, 'app' | 'tenantId'>,
  name: string,
): Promise<void> {
  if (name === SANDBOX) return;
  const domains = app.db.read.selectFrom('domains').select('id').where('name', '=', name);
  if (await domains.where('tenantId', '=', tenantId).executeTakeFirst()) return;
  await addDomain({ app, tenantId } as TestApp, { name, status: 'verified', productType: 'mailbox' });
}
