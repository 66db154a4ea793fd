/** What the tests of emails share: a request body that is accepted, and ways to send it and to spoil it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EmailRow } from '../../src/db/email-tables.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { DomainRow, MessageRow } from '../../src/db/tables.ts';
import type { ApiKeyRow } from '../../src/db/tenant-tables.ts';
import type { Tag } from '../../src/emails/request/tags.ts';
import { insertEmail } from '../../src/emails/store.ts';
import { createLinks } from '../../src/links/links.ts';
import { type OpenMessage, openMessage } from '../../src/queue/contents/open.ts';
import { findMessage } from '../../src/queue/store.ts';
import { messageRow } from '../support/message-row.ts';
import type { TestApp, TestRequest, TestResponse } from '../support/test-app.ts';

export const HOSTNAME = 'mx.postrider.example';
export const SANDBOX = `sandbox.${HOSTNAME}`;
export const SIMULATOR = `simulator.${HOSTNAME}`;

/** Accepted from a test key as it is; fields of `more` that are undefined are left out. */
export function emailBody(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    from: `Ada <ada@${SANDBOX}>`,
    to: 'bob@rcpt.example',
    subject: 'Hello',
    text: 'Hello Bob',
    type: 'transactional',
    ...more,
  };
}

/** Opens the message of an email as a delivery does. */
export async function openMessageOf(app: TestApp['app'], emailId: string): Promise<OpenMessage> {
  const message = await findMessage(app.db.read, emailId);
  assert.ok(message);
  return openMessage({ ...app, links: createLinks(app) }, { message });
}

/** The message as it is sent, without the fields that are added then, as text of one character for each byte. */
export async function rawMessage(app: TestApp['app'], emailId: string): Promise<string> {
  const { bytes } = await openMessageOf(app, emailId);
  const pieces: Buffer[] = [];
  for await (const piece of bytes.chunks()) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

/** Every header line of a stored message, unfolded (RFC 5322 section 2.2.3). */
export async function headerLines(app: TestApp['app'], emailId: string): Promise<string[]> {
  const raw = await rawMessage(app, emailId);
  return raw
    .slice(0, raw.indexOf('\r\n\r\n'))
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n');
}

/** What every table holds that accepting an email writes to. */
export async function countRows({ db }: TestApp['app']): Promise<Record<string, number>> {
  const tables = [
    'emails',
    'messages',
    'recipients',
    'blobs',
    'contents',
    'events',
    'emailTags',
    'emailAddresses',
  ] as const;
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const { count } = await db.read
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    counts[table] = count;
  }
  return counts;
}

/** Files in the store of blobs. */
export function blobFiles({ dataDir }: Pick<TestApp, 'dataDir'>): string[] {
  const root = join(dataDir, 'blobs');
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

type Fields = Record<string, unknown>;

export type Sender = {
  send(more: Fields, options?: TestRequest): Promise<TestResponse>;
  /** The email as it is shown after it was accepted. */
  // biome-ignore lint/suspicious/noExplicitAny: what an API answered is what the test is about to find out.
  accepted(more: Fields, options?: TestRequest): Promise<any>;
  /** Refused with 400 that blames `param`. */
  refused(param: string, more: Fields, message?: RegExp): Promise<void>;
};

export function senderOf(app: () => Pick<TestApp, 'request'>): Sender {
  const send: Sender['send'] = (more, options = {}) =>
    app().request('POST', '/v1/emails', { body: emailBody(more), ...options });
  return {
    send,
    async accepted(more, options = {}) {
      const response = await send(more, options);
      assert.equal(response.status, 200, JSON.stringify(response.body));
      const shown = await app().request('GET', `/v1/emails/${response.body.id}`, options);
      assert.equal(shown.status, 200);
      return shown.body;
    },
    async refused(param, more, message) {
      const { status, body, headers } = await send(more);
      assert.equal(status, 400, JSON.stringify({ more, body }).slice(0, 1_000));
      assert.equal(body.error.type, 'validation_error');
      assert.equal(body.error.param, param, body.error.message);
      assert.equal(body.error.issues[0].path, param);
      assert.equal(body.error.requestId, headers['x-request-id']);
      if (message) assert.match(body.error.message, message);
    },
  };
}

const BARE_EMAIL = {
  ...({ type: 'transactional', fromHeader: 'a@b.example', fromAddress: 'a@b.example' } as const),
  ...{ fromDomain: 'b.example', toList: '[]', ccList: '[]', bccList: '[]', replyToList: '[]' },
  ...{ subject: '', headers: '{}', attachments: '[]', tags: '{}', missingVariables: '[]', rfcMessageId: '' },
  ...{ scheduledAt: null, templateId: null, topicId: null, broadcastId: null },
  ...{ html: null, text: null, contentDeletedAt: null, createdAt: 0, apiKeyId: null },
};

type BareEmail = Pick<EmailRow, 'id' | 'tenantId' | 'mode'> &
  Partial<EmailRow> &
  Partial<Pick<MessageRow, 'status' | 'domainId'>> & { tagPairs?: readonly Tag[] };

/** Stores the rows of an email without content, for tests that need only some of their columns. */
export async function storeBareEmail(tx: Tx, given: BareEmail): Promise<void> {
  const { status = 'queued', domainId = null, tagPairs = [], ...email } = given;
  const { id, tenantId, mode } = email;
  const message = messageRow({ id, tenantId, mode, status, domainId, blobId: 'blob_1' });
  await tx.insertInto('messages').values(message).execute();
  await insertEmail(tx, { ...BARE_EMAIL, ...email }, { tags: tagPairs, addresses: [] });
}

/** Stores the row of an API key. */
export async function storeBareKey(
  tx: Tx,
  given: Pick<ApiKeyRow, 'id' | 'tenantId' | 'mode'>,
): Promise<void> {
  const row: ApiKeyRow = {
    ...{ ...given, name: '', permission: 'full_access', hint: '', tokenHash: given.id, createdAt: 0 },
    ...{ domainId: null, allowedIps: null, lastUsedAt: null, expiresAt: null, revokedAt: null },
    ...{ requiresApproval: null, mailboxId: null, memberId: null },
  };
  await tx.insertInto('apiKeys').values(row).execute();
}

/** Stores the row of the domain `b.example`. */
export async function storeBareDomain(
  tx: Tx,
  given: Pick<DomainRow, 'id' | 'tenantId'> & Partial<DomainRow>,
): Promise<void> {
  const domain = {
    ...({ name: 'b.example', status: 'verified', productType: 'transactional', region: 'sg' } as const),
    ...{ selector: 's', publicKey: '', privateKeySealed: '', records: '{}' },
    ...({ openTracking: 0, clickTracking: 0, createdAt: 0, updatedAt: 0, checksSince: 0 } as const),
  };
  await tx
    .insertInto('domains')
    .values({ ...domain, ...given })
    .execute();
}
