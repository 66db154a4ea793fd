/**
 * A daemon whose store holds many emails that have expired. They are copies of one that was accepted and delivered, with
 * all its rows. Retention begins an hour after the start: SIGUSR2 moves both clocks on by an hour. Prints a line of
 * JSON when the daemon serves.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { prepareFirstStart } from '../../src/cli/first-start.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/main.ts';
import { DAY_MS, realClock } from '../../src/system/clock.ts';
import { newId } from '../../src/system/ids.ts';
import { sampleEmail } from './message.ts';

export type RetentionInput = { dataDir: string; emails: number };
export type RetentionServing = { address: string; key: string; sender: string; fillMs: number };

const HOUR_MS = 3_600_000;
/** Age of the oldest copy and of the youngest one: everything about them has expired. */
const OLDEST_MS = 500 * DAY_MS;
const YOUNGEST_MS = 410 * DAY_MS;
const SENDER = 'bench@sandbox.postrider.test';
const RECIPIENT = 'delivered@simulator.postrider.test';

const { dataDir, emails } = JSON.parse(process.argv[2] ?? '') as RetentionInput;
let aheadMs = 0;
const clock = {
  ...realClock,
  now: () => realClock.now() + aheadMs,
  elapsed: () => realClock.elapsed() + aheadMs,
};
process.on('SIGUSR2', () => {
  aheadMs += HOUR_MS;
});
const config = loadConfig({
  env: {
    ...process.env,
    POSTRIDER_DATA_DIR: dataDir,
    POSTRIDER_HTTP_PORT: '0',
    POSTRIDER_SMTP_PORT: '0',
    POSTRIDER_SUBMISSION_ENABLED: 'false',
  },
});
const daemon = await startDaemon(config, { clock });
const first = await prepareFirstStart(daemon.app, { showKey: true });
if (first.kind !== 'key-made') throw new Error('the first start made no key');
const key = first.testKey;
const template = await sendTemplate(daemon);
const began = performance.now();
fill(template);
const fillMs = Math.round(performance.now() - began);
console.log(
  JSON.stringify({
    address: daemon.address,
    key,
    sender: SENDER,
    fillMs,
  } satisfies RetentionServing),
);

/** Sends one email and waits until it is delivered and its events are fanned out. Returns its id. */
async function sendTemplate({ address, app }: Daemon): Promise<string> {
  const response = await fetch(`${address}/v1/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...sampleEmail(SENDER), to: [RECIPIENT] }),
  });
  const { id } = (await response.json()) as { id?: string };
  if (id === undefined) throw new Error(`the template was answered with ${response.status}`);
  for (;;) {
    const open = await app.db.read.selectFrom('events').select('id').where('fannedOut', '=', 0).execute();
    const { status } = await app.db.read
      .selectFrom('messages')
      .select('status')
      .where('id', '=', id as `em_${string}`)
      .executeTakeFirstOrThrow();
    if (open.length === 0 && status === 'delivered') return id;
    await delay(100);
  }
}

type Row = Record<string, unknown>;

/** Copies every row of the email, with ids and times of its own for each copy. */
function fill(emailId: string): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  // No power fails here. Writes of the daemon wait until the copies are committed.
  database.pragma('synchronous = OFF');
  database.pragma('cache_size = -262144');
  database.pragma('foreign_keys = OFF');
  const rowsOf = (table: string, column: string, value: unknown) =>
    database
      .prepare<[unknown], Row>(`SELECT * FROM ${table} WHERE ${column} = ?`)
      .all(value)
      .map((row) => ({ table, row }));
  const [message] = rowsOf('messages', 'id', emailId);
  const rows = [
    // First, because the message names the number that its copy is given.
    ...rowsOf('contents', 'id', message?.row['contentId']),
    ...rowsOf('blobs', 'id', message?.row['blobId']),
    ...rowsOf('messages', 'id', emailId),
    ...rowsOf('emails', 'id', emailId),
    ...rowsOf('recipients', 'messageId', emailId),
    ...rowsOf('attempts', 'messageId', emailId),
    ...rowsOf('events', 'emailId', emailId),
    ...rowsOf('emailAddresses', 'emailId', emailId),
    ...rowsOf('emailTags', 'emailId', emailId),
  ];
  const ids = new Set(rows.flatMap(({ row }) => (typeof row['id'] === 'string' ? [row['id']] : [])));
  const inserts = rows.map(({ table, row }) => {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    return database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`);
  });
  database.exec('BEGIN');
  for (let index = 0; index < emails; index++) {
    const at = Math.floor(clock.now() - OLDEST_MS + (index * (OLDEST_MS - YOUNGEST_MS)) / emails);
    const fresh = new Map([...ids].map((id) => [id, newId(id.split('_')[0] ?? '', at)]));
    let contentId: number | bigint = 0;
    for (const [place, { table, row }] of rows.entries()) {
      const own: Row =
        table === 'contents' ? { ...row, id: null } : 'contentId' in row ? { ...row, contentId } : row;
      const result: Sqlite.RunResult | undefined = inserts[place]?.run(...copyOf(own, fresh, at));
      if (table === 'contents') contentId = result?.lastInsertRowid ?? 0;
    }
  }
  database.exec('COMMIT');
  database.pragma('wal_checkpoint(PASSIVE)');
  database.close();
}

function copyOf(row: Row, fresh: ReadonlyMap<string, string>, at: number): unknown[] {
  return Object.entries(row).map(([column, value]) => {
    if (typeof value === 'string') return fresh.get(value) ?? value;
    return /At$|^at$/.test(column) && typeof value === 'number' ? at : value;
  });
}
