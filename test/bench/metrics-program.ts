/**
 * Fills the database of a daemon that is not running: a million emails of the last 90 days with their events, tags and
 * counters. Prints a line of JSON when all is on disk: what the events of each day add up to, counted by SQL.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { storeTally } from '../../src/counts/store.ts';
import { type CountedMail, type Counter, Tally } from '../../src/counts/tally.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { newId } from '../../src/system/ids.ts';

export type MetricsInput = {
  dataDir: string;
  tenantId: `ten_${string}`;
  emails: number;
  days: number;
  /** End of the time in which the emails were accepted, in Unix milliseconds. */
  untilMs: number;
};

/** Counters of a day that are not 0. */
export type DaySums = { start: number; sums: Partial<Record<Counter, number>> };

/** Number of values of the tag `campaign`. */
const CAMPAIGNS = 50;

const DOMAINS = 4;
const HOSTS = ['gmail.com', 'yahoo.com', 'outlook.com', 'icloud.com', 'a.test', 'b.test', 'c.test'] as const;
const MINUTE_MS = 60_000;

const input = JSON.parse(process.argv[2] ?? '') as MetricsInput;
const { tenantId, emails, days, untilMs } = input;
const database = new Sqlite(join(input.dataDir, 'postrider.db'));
// No power fails here.
database.pragma('synchronous = OFF');
database.pragma('foreign_keys = OFF');
database.pragma('cache_size = -262144');
const domainIds = Array.from({ length: DOMAINS }, () => newId('dom', 0));
const broadcastIds = Array.from({ length: days }, () => newId('brd', 0));

type Happening = [type: string, afterMs: number, details: object, counters: readonly Counter[]];

const insertMessage = database.prepare(
  `INSERT INTO messages (id, tenantId, mode, kind, status, sender, domainId, headerBytes, bodyHash, datedAt,
     createdAt, expiresAt, lastEventAt, broadcastId)
   VALUES (?, ?, 'live', ?, 'delivered', 'a@s.test', ?, 0, '', ?, ?, ?, ?, ?)`,
);
const insertEvent = database.prepare(
  `INSERT INTO events (id, tenantId, mode, type, emailId, data, createdAt, fannedOut) VALUES (?, ?, 'live', ?, ?, ?, ?, 1)`,
);
const insertTag = database.prepare(
  `INSERT INTO emailTags (tenantId, mode, key, value, emailId) VALUES (?, 'live', ?, ?, ?)`,
);
const indexes = database
  .prepare<[], { name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('messages', 'events')`,
  )
  .all();
for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
database.exec('BEGIN');
const tally = new Tally();
for (let index = 0; index < emails; index++) fillEmail(index);
await storeTally(kyselyOn(database), tally);
for (const { sql } of indexes) database.exec(sql);
database.exec('COMMIT');
database.pragma('wal_checkpoint(TRUNCATE)');
const recounted = recount();
database.close();
console.log(JSON.stringify(recounted));

function fillEmail(index: number): void {
  const at = Math.floor(untilMs - days * DAY_MS + (index * days * DAY_MS) / emails);
  const id = newId('em', at);
  // One of three is a copy of the broadcast of its day.
  const day = Math.floor((index * days) / emails);
  const broadcastId = index % 3 === 0 ? (broadcastIds[day] ?? null) : null;
  const kind = broadcastId === null ? 'transactional' : 'broadcast';
  const domainId = domainIds[index % DOMAINS] ?? null;
  const to = `r${index}@${HOSTS[index % HOSTS.length]}`;
  insertMessage.run(id, tenantId, kind, domainId, at, at, at, at, broadcastId);
  insertTag.run(tenantId, 'campaign', `c${index % CAMPAIGNS}`, id);
  const mail: CountedMail = { tenantId, mode: 'live', kind, domainId, broadcastId };
  for (const [type, afterMs, details, counters] of happeningsOf(index)) {
    // All of it happens before the end, so that the report of the whole time has everything.
    const createdAt = Math.min(at + afterMs, untilMs - 1);
    const data = JSON.stringify({ to, ...details });
    insertEvent.run(newId('evt', createdAt), tenantId, type, id, data, createdAt);
    tally.count(mail, { to, at: createdAt, counters });
  }
}

/** A prime step, so that no outcome falls together with a domain, a host or a campaign. */
function happeningsOf(index: number): Happening[] {
  const place = (index * 7) % 1_000;
  const queued: Happening = ['email.queued', 0, {}, ['accepted']];
  const delivered: Happening = ['email.delivered', 800, {}, ['delivered']];
  if (place < 15) return [queued, bounced('permanent', 'bouncedPermanent')];
  if (place < 20) return [queued, bounced('transient', 'bouncedTransient')];
  if (place < 22) return [queued, bounced('undetermined', 'bouncedUndetermined')];
  if (place < 23) return [queued, delivered, ['email.complained', 90 * MINUTE_MS, {}, ['complained']]];
  if (place < 60) return [queued, ['email.delivery_delayed', 900, {}, ['delayed']], delivered];
  if (place < 300) return [queued, delivered, opened(false)];
  if (place < 450) return [queued, delivered, opened(true)];
  if (place < 480) return [queued, delivered, opened(false), clicked(false)];
  if (place < 500) return [queued, delivered, clicked(true)];
  return [queued, delivered];
}

function bounced(type: string, counter: Counter): Happening {
  return ['email.bounced', 900, { bounce: { type } }, [counter]];
}

function opened(bot: boolean): Happening {
  return [
    'email.opened',
    70 * MINUTE_MS,
    { open: { bot } },
    bot ? ['machineOpened'] : ['opened', 'uniqueOpened'],
  ];
}

function clicked(bot: boolean): Happening {
  const counters: Counter[] = bot ? ['machineClicked'] : ['clicked', 'uniqueClicked'];
  return ['email.clicked', 71 * MINUTE_MS, { click: { bot } }, counters];
}

/** Counts the events of each day, without a tally. No email here is opened or clicked twice by a person. */
function recount(): DaySums[] {
  const rows = database
    .prepare<[], { start: number; type: string; bounce: string | null; bot: number | null; sum: number }>(
      `SELECT createdAt / ${DAY_MS} * ${DAY_MS} AS start, type, data ->> '$.bounce.type' AS bounce,
         ifnull(data ->> '$.open.bot', data ->> '$.click.bot') AS bot, count(*) AS sum
       FROM events WHERE emailId IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1`,
    )
    .all();
  const named: Readonly<Record<string, readonly Counter[]>> = {
    'email.queued  ': ['accepted'],
    'email.delivered  ': ['delivered'],
    'email.bounced permanent ': ['bouncedPermanent'],
    'email.bounced transient ': ['bouncedTransient'],
    'email.bounced undetermined ': ['bouncedUndetermined'],
    'email.complained  ': ['complained'],
    'email.delivery_delayed  ': ['delayed'],
    'email.opened  0': ['opened', 'uniqueOpened'],
    'email.opened  1': ['machineOpened'],
    'email.clicked  0': ['clicked', 'uniqueClicked'],
    'email.clicked  1': ['machineClicked'],
  };
  return [...Map.groupBy(rows, ({ start }) => start)].map(([start, ofDay]) => ({
    start,
    sums: Object.fromEntries(
      ofDay.flatMap(({ type, bounce, bot, sum }) =>
        (named[`${type} ${bounce ?? ''} ${bot ?? ''}`] ?? []).map((counter) => [counter, sum]),
      ),
    ),
  }));
}
