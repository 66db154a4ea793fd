/**
 * Fills the database of a daemon that is not running: a million emails with their recipients, addresses and tags, an
 * audience of a million contacts, and a million suppressions. Straight into the tables, which the daemon's own start has made, and the indexes after the
 * rows: accepted one by one it would take an hour. Prints a line of JSON when all is on disk.
 */
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { queueKeyOf } from '../../src/queue/queue-key.ts';
import { newId } from '../../src/system/ids.ts';
import {
  CITIES,
  contactProperties,
  emailAt,
  LAST_YEAR_MS,
  RECIPIENTS,
  SENDERS,
  suppressedAt,
} from './million-rows.ts';

export type MillionInput = { dataDir: string; tenantId: `ten_${string}`; rows: number; nowMs: number };
export type Million = { audienceId: string; ids: { emails: string[]; contacts: string[] } };

/** Ids for retrieving. */
const SAMPLE_EVERY = 1_000;

const input = JSON.parse(process.argv[2] ?? '') as MillionInput;
const { tenantId, rows, nowMs } = input;
const database = new Sqlite(join(input.dataDir, 'postrider.db'));
// No power fails here.
database.pragma('synchronous = OFF');
database.pragma('foreign_keys = OFF');
database.pragma('cache_size = -262144');
// To sort what goes into an index.
database.pragma('threads = 3');
const atMs = (index: number) => Math.floor(nowMs - LAST_YEAR_MS + (index * LAST_YEAR_MS) / rows);
const indexes = dropIndexes(database);
database.exec('BEGIN');
const emails = fillEmails();
const { audienceId, contacts } = fillContacts();
fillSuppressions();
for (const sql of indexes) database.exec(sql);
database.exec('COMMIT');
database.pragma('wal_checkpoint(TRUNCATE)');
database.close();
const sample = (ids: readonly string[]) => ids.filter((_, index) => index % SAMPLE_EVERY === 0);
console.log(
  JSON.stringify({
    audienceId,
    ids: { emails: sample(emails), contacts: sample(contacts) },
  } satisfies Million),
);

/** Of the tables that are filled; answers the statements that make them again. */
function dropIndexes(from: Database): string[] {
  const made = from
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL
         AND tbl_name IN ('messages', 'recipients', 'emails', 'contacts', 'suppressions')`,
    )
    .all();
  for (const { name } of made) from.exec(`DROP INDEX ${name}`);
  return made.map(({ sql }) => sql);
}

/** The first row says which columns there are, and in which order. */
function inserter<Row extends object>(table: string): (row: Row) => void {
  let statement: Sqlite.Statement<unknown[]> | undefined;
  return (row) => {
    const values = Object.values(row);
    if (!statement) {
      const places = values.map(() => '?').join(', ');
      statement = database.prepare(
        `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places})`,
      );
    }
    statement.run(values);
  };
}

function fillEmails(): string[] {
  const blobId = newId('blob', nowMs);
  inserter('blobs')({
    id: blobId,
    sha256: '',
    sizeBytes: 4,
    eightBit: 0,
    data: Buffer.from('mail'),
    createdAt: 0,
  });
  const ids = Array.from({ length: rows }, (_, index) => newId('em', atMs(index)));
  const message = inserter('messages');
  const email = inserter('emails');
  const recipient = inserter('recipients');
  for (const [index, id] of ids.entries()) {
    const createdAt = atMs(index);
    const { status, state, attempts, from, to, tags } = emailAt(index);
    const { address: fromAddress, domain: fromDomain } = from;
    const owner = { tenantId, mode: 'live' };
    message({
      ...{ id, ...owner, kind: 'transactional', status, sender: 'b+token@bounce.postrider.test' },
      ...{ domainId: null, blobId, headerBytes: 600, bodyHash: 'x'.repeat(44) },
      ...{ datedAt: createdAt, signature: null, createdAt, expiresAt: createdAt, lastEventAt: createdAt },
    });
    email({
      ...{
        id,
        ...owner,
        type: 'transactional',
        fromHeader: `Sender <${fromAddress}>`,
        fromAddress,
        fromDomain,
      },
      ...{ toList: JSON.stringify([to.address]), ccList: '[]', bccList: '[]', replyToList: '[]' },
      ...{ subject: `Your order ${index} is on its way`, headers: '{}', attachments: '[]' },
      ...{ tags: JSON.stringify(tags), scheduledAt: null, templateId: null, topicId: null },
      ...{ missingVariables: '[]', rfcMessageId: `<${id}@postrider.test>`, createdAt },
      ...{
        html: `<p>${'It has left our testApp. '.repeat(8)}</p>`,
        text: 'It has left our testApp. '.repeat(8),
      },
    });
    // Nothing may fall due while anybody looks.
    const dueAt = state === 'ready' || state === 'deferred' ? nowMs + LAST_YEAR_MS : null;
    recipient({
      ...{ id: newId('rcp', createdAt), messageId: id, ...owner, field: 'to', position: 0 },
      ...{ address: to.address, domain: to.domain, state, dueAt, attempts, interruptedAttempts: 0 },
      ...{ queue: queueKeyOf({ mode: 'live', kind: 'transactional', tenantId }, to.domain) },
      ...{ smtpCode: attempts > 0 ? 250 : null, mx: `mx.${to.domain}`, lastEventAt: createdAt },
    });
  }
  fillLookups(ids);
  return ids;
}

/** In the order of their keys: they are their own index. */
function fillLookups(ids: readonly string[]): void {
  const owner = { tenantId, mode: 'live' };
  const address = inserter('emailAddresses');
  const tag = inserter('emailTags');
  const numbers = ids.map((_, index) => index);
  const byAddress = numbers.toSorted((a, b) => (a % RECIPIENTS) - (b % RECIPIENTS));
  for (const index of byAddress)
    address({ ...owner, address: emailAt(index).to.address, emailId: ids[index] ?? '' });
  const tags = numbers.flatMap((index) =>
    Object.entries(emailAt(index).tags).map(([key, value]) => ({ key, value, index })),
  );
  tags.sort((a, b) =>
    a.key < b.key ? -1 : a.key > b.key ? 1 : a.value < b.value ? -1 : a.value > b.value ? 1 : 0,
  );
  for (const { key, value, index } of tags) tag({ ...owner, key, value, emailId: ids[index] ?? '' });
}

function fillContacts(): { audienceId: string; contacts: string[] } {
  const audienceId = newId('aud', nowMs - LAST_YEAR_MS);
  const times = { createdAt: nowMs, updatedAt: nowMs };
  inserter('audiences')({ id: audienceId, tenantId, name: 'Everybody', contactCount: rows, ...times });
  const contact = inserter('contacts');
  const contacts = Array.from({ length: rows }, (_, index) => newId('ct', atMs(index)));
  for (const [index, id] of contacts.entries()) {
    const at = atMs(index);
    const email = `Reader${index}@d${index % SENDERS}.test`;
    const unsubscribed = index % 20 === 0 ? 1 : 0;
    contact({
      ...{ id, tenantId, audienceId, email, address: email.toLowerCase() },
      ...{ firstName: 'Anna', lastName: CITIES[index % CITIES.length], unsubscribed },
      ...{ unsubscribedAt: unsubscribed ? at : null, createdAt: at, updatedAt: at },
      ...{ topics: '{}', properties: JSON.stringify(contactProperties(index)) },
    });
  }
  return { audienceId, contacts };
}

function fillSuppressions(): void {
  const suppression = inserter('suppressions');
  for (let index = 0; index < rows; index++) {
    const createdAt = atMs(index);
    const reason = index % 3 === 0 ? 'complaint' : 'bounce';
    suppression({
      ...{ id: newId('sup', createdAt), tenantId, email: suppressedAt(index), reason },
      ...{ sourceEmailId: null, diagnostic: null, createdAt },
    });
  }
}
