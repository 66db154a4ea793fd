/**
 * Reads a data directory that nobody else has open, and says what of the acknowledged mail it holds. It looks at the
 * tables directly, so that no code of the daemon can speak for itself.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { carriesItsFiles, firstId, type Submission } from './submission.ts';

export type Audit = {
  /** What SQLite's own checks found wrong, and rows that should exist together but do not. */
  faults: string[];
  /** Acknowledged emails that are not there at all. */
  missing: string[];
  /** Acknowledged emails whose message cannot be read byte for byte, or whose files are not those that were sent. */
  unreadable: string[];
  /** Emails that the daemon had said to be canceled, and are not. */
  uncanceled: string[];
  /** Emails there are, acknowledged or not. */
  emails: number;
};

const BARE_MESSAGE = 'a message without recipients';
export const WITHOUT_RECIPIENTS =
  'SELECT id FROM messages WHERE id NOT IN (SELECT messageId FROM recipients)';

/** Rows of one accepted email that are committed together. Each query finds emails that are only half there. */
const HALVES: Record<string, string> = {
  'an email without a message': 'SELECT id FROM emails WHERE id NOT IN (SELECT id FROM messages)',
  [BARE_MESSAGE]: WITHOUT_RECIPIENTS,
  'a message without its blob': 'SELECT id FROM messages WHERE blobId NOT IN (SELECT id FROM blobs)',
  'a blob that nothing names': `SELECT id FROM blobs WHERE sizeBytes > 0 AND id NOT IN (SELECT blobId FROM messages
     WHERE blobId IS NOT NULL UNION SELECT blobId FROM jobs WHERE blobId IS NOT NULL
     UNION SELECT blobId FROM receivedMessages WHERE blobId IS NOT NULL)`,
  'a received message without recipients':
    'SELECT id FROM receivedMessages WHERE id NOT IN (SELECT messageId FROM receivedRecipients)',
  'a received message without its blob':
    'SELECT id FROM receivedMessages WHERE blobId NOT IN (SELECT id FROM blobs)',
  'a received message without the task of its recipient': `SELECT messageId FROM receivedRecipients AS r
     WHERE kind != 'postmaster' AND NOT EXISTS (SELECT 1 FROM receivedTasks AS t
       WHERE t.messageId = r.messageId AND t.kind = r.kind AND t.targetId = r.targetId)`,
  'texts that nothing names': `SELECT id FROM contents
     WHERE id NOT IN (SELECT contentId FROM messages WHERE contentId IS NOT NULL)
     AND id NOT IN (SELECT contentId FROM broadcastRuns WHERE contentId IS NOT NULL AND endedAt IS NULL)`,
  'a key that answers with an email that is not there': `SELECT key FROM idempotency
     WHERE json_extract(response, '$.id') NOT IN (SELECT id FROM emails)`,
  'an email without its first event': `SELECT id FROM emails
     WHERE id NOT IN (SELECT emailId FROM events WHERE type = 'email.queued')`,
};

type Bytes = {
  textHash: Buffer;
  source: Buffer;
  /** Null when the message carries no files. */
  sha256: string | null;
  data: Buffer | null;
};

/** `bareMessages` are the ids of messages that never had recipients. */
export function auditDataDirectory(
  dataDir: string,
  acknowledged: readonly Submission[],
  bareMessages: readonly string[] = [],
): Audit {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    const known = new Set(database.prepare('SELECT id FROM emails').pluck().all());
    const [missing, present] = partition(acknowledged, (one) => !known.has(firstId(one)));
    const bytesOf = database.prepare<[string], Bytes>(
      `SELECT c.sha256 AS textHash, c.source, b.sha256, b.data FROM messages m
         JOIN contents c ON c.id = m.contentId LEFT JOIN blobs b ON b.id = m.blobId WHERE m.id = ?`,
    );
    const statusOf = database.prepare<[string], string>('SELECT status FROM messages WHERE id = ?').pluck();
    return {
      faults: findFaults(database, bareMessages),
      missing: missing.map(firstId),
      unreadable: present.filter((one) => !isReadable(dataDir, one, bytesOf.get(firstId(one)))).map(firstId),
      uncanceled: present
        .filter((one) => one.cancellation === 'confirmed' && statusOf.get(firstId(one)) !== 'canceled')
        .map(firstId),
      emails: known.size,
    };
  } finally {
    database.close();
  }
}

function findFaults(database: Sqlite.Database, bareMessages: readonly string[]): string[] {
  const faults: string[] = [];
  const integrity = database.pragma('integrity_check', { simple: true });
  if (integrity !== 'ok') faults.push(`integrity_check: ${String(integrity)}`);
  const orphans = database.pragma('foreign_key_check') as unknown[];
  if (orphans.length > 0) faults.push(`foreign_key_check: ${orphans.length} rows`);
  for (const [what, query] of Object.entries(HALVES)) {
    const rows = database.prepare(query).pluck().all() as string[];
    const wrong = what === BARE_MESSAGE ? rows.filter((id) => !bareMessages.includes(id)) : rows;
    if (wrong.length > 0) faults.push(`${what}: ${wrong.length} times`);
  }
  return faults;
}

function isReadable(dataDir: string, submission: Submission, bytes: Bytes | undefined): boolean {
  if (bytes === undefined) return false;
  try {
    if (!hashOf(bytes.source).equals(bytes.textHash)) return false;
    JSON.parse(inflateRawSync(bytes.source).toString().split('\n', 1).join());
    if (bytes.sha256 === null) return carriesItsFiles(submission, Buffer.alloc(0));
    const path = join(dataDir, 'blobs', bytes.sha256.slice(0, 2), bytes.sha256);
    const files = bytes.data ?? readFileSync(path);
    return (
      hashOf(files).toString('hex') === bytes.sha256 && carriesItsFiles(submission, withBoundaries(files))
    );
  } catch {
    return false;
  }
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Names the boundaries between stored files as the header of the message does, which is written when it is sent. */
function withBoundaries(files: Buffer): Buffer {
  const boundaries = new Set(files.toString('latin1').match(/=_[0-9a-f]{32}/g));
  return Buffer.concat([Buffer.from([...boundaries].map((one) => `boundary="${one}"\r\n`).join('')), files]);
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
