/**
 * A mailbox among the recipients of a fault. What is in it is read from its files: each message that was stored for it is there once,
 * with its bytes.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { accountFolder, contentFolder, indexFile } from '../../../src/accounts/folder.ts';
import { pathOf } from '../../../src/blobs/files.ts';
import type { Id } from '../../../src/system/ids.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { withRetries } from '../retries.ts';
import { HOSTNAME } from '../world.ts';

export const MAILBOX_ADDRESS = `person@sandbox.${HOSTNAME}`;
const PASSWORD = 'a password of the tests';

export type MailboxFacts = {
  /** Number of messages by Message-ID, without angle brackets. */
  messages: ReadonlyMap<string, number>;
  /** Sentences about files that are damaged or missing. */
  faults: readonly string[];
};

/** Creates the mailbox, and returns its id. */
export async function createMailbox(daemon: DaemonProcess, key: string): Promise<Id<'mbx'>> {
  const body = { address: MAILBOX_ADDRESS, password: PASSWORD };
  const made = await withRetries(() => daemon.request('POST', '/v1/mailboxes', key, body));
  if (made.status !== 201) throw new Error(`POST /v1/mailboxes: ${JSON.stringify(made.body)}`);
  return (made.body as { id: Id<'mbx'> }).id;
}

type Row = {
  messageId: string | null;
  sizeBytes: number;
  crc32: number;
  blobSha256: string | null;
  header: Buffer;
  body: Buffer | null;
};

const ROWS = `
  SELECT c.messageId, c.sizeBytes, c.crc32, c.blobSha256, b.header, b.body
    FROM messages m JOIN contents c ON c.id = m.contentId JOIN contentBytes b ON b.contentId = c.id`;
const WRONG_COUNTS = `
  SELECT f.name FROM folders f
   WHERE f.messageCount <> (SELECT count(*) FROM messages m WHERE m.folderId = f.id)
      OR f.uidNext <= (SELECT coalesce(max(uid), 0) FROM messages m WHERE m.folderId = f.id)
      OR f.highestModseq < (SELECT coalesce(max(modseq), 0) FROM messages m WHERE m.folderId = f.id)`;

/** Reads a mailbox that nobody else has open. One that has never had a message may have no files. */
export function readMailbox(dataDir: string, id: Id<'mbx'>): MailboxFacts {
  const folder = accountFolder(dataDir, id);
  if (!existsSync(indexFile(folder))) return { messages: new Map(), faults: [] };
  const database = new Sqlite(indexFile(folder), { readonly: true });
  try {
    const messages = new Map<string, number>();
    const faults = database
      .prepare<[], { name: string }>(WRONG_COUNTS)
      .all()
      .map(({ name }) => `mailbox: the counts of ${name} are wrong`);
    for (const row of database.prepare<[], Row>(ROWS).iterate()) {
      const messageId = (row.messageId ?? '').replace(/^<|>$/g, '');
      messages.set(messageId, (messages.get(messageId) ?? 0) + 1);
      if (!isWhole(folder, row)) faults.push('mailbox: the bytes of a message have changed');
    }
    return { messages, faults };
  } finally {
    database.close();
  }
}

function isWhole(folder: string, { sizeBytes, crc32: expected, blobSha256, header, body }: Row): boolean {
  const bytes =
    blobSha256 === null
      ? Buffer.concat([header, body ?? Buffer.alloc(0)])
      : readFileSync(pathOf(contentFolder(folder), blobSha256));
  const isNamed = blobSha256 === null || createHash('sha256').update(bytes).digest('hex') === blobSha256;
  return isNamed && bytes.length === sizeBytes && crc32(bytes) === expected;
}

/** Each message that was stored for the mailbox is in it once, and nothing else is. */
export function judgeMailbox({ messages, faults }: MailboxFacts, stored: ReadonlySet<string>): string[] {
  const counts = [...stored].map((messageId) => messages.get(messageId) ?? 0);
  const strangers = [...messages.keys()].filter((messageId) => !stored.has(messageId));
  return [
    ...faults,
    ...counts.filter((count) => count !== 1).map((count) => `mailbox: a message is in it ${count} times`),
    ...(strangers.length > 0 ? [`mailbox: ${strangers.length} strangers, such as ${strangers[0]}`] : []),
  ];
}
