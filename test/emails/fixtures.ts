/** What the tests of emails share: a request body that is accepted, and ways to send it and to spoil it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createLinks } from '../../src/links/links.ts';
import { type OpenMessage, openMessage } from '../../src/queue/contents/open.ts';
import { findMessage } from '../../src/queue/store.ts';
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
