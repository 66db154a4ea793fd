/**
 * A tenant that has as much of everything as it may have, with the longest names and subjects, none of which has a space. The rows are
 * copies: a request for each would take hours.
 */
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { NO_FILTERS } from '../../../src/mailboxes/filters/filters.ts';
import { readFilters } from '../../../src/mailboxes/filters/read.ts';
import type { Rule } from '../../../src/mailboxes/filters/schemas.ts';
import { copiedId, copyRow } from '../resources/copy-row.ts';
import type { Populated } from '../resources/populated.ts';
import type { Ids } from '../resources/resource.ts';
import { ROWS } from '../resources/resources.ts';
import { type Visit, visitFull } from './visits.ts';

const NAME = 'n'.repeat(200);
const SUBJECT = 's'.repeat(998);
const REPLY = 'r'.repeat(1_000);
/** Number of rows of lists that have no limit: more than any page shows. */
const MANY = 150;
const SUPPRESSIONS = 1_000_000;

/** Columns of names, each with the longest value that the API accepts. */
const LONGEST: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  topics: { name: 'n'.repeat(50), description: NAME },
  templates: { name: NAME, subject: SUBJECT },
  templateVersions: { subject: SUBJECT },
  audiences: { name: NAME },
  segments: { name: NAME },
  apiKeys: { name: NAME },
  appPasswords: { name: NAME },
  webhookEndpoints: { description: NAME, url: `https://receiver.example/${'u'.repeat(1_000)}` },
  inboundRoutes: { destination: `https://receiver.example/${'u'.repeat(1_000)}` },
  mailboxes: { displayName: NAME },
  contacts: { firstName: NAME, lastName: NAME },
  emails: { subject: SUBJECT },
  broadcasts: { subject: SUBJECT },
  approvals: { subject: SUBJECT },
  receivedMessages: { subject: SUBJECT },
  people: { name: 'p'.repeat(100) },
  webhookDeliveries: { responseBody: 'r'.repeat(1_000), error: 'e'.repeat(300) },
};

/** Fills the tenant of an installation, and returns who sees what of it. */
export async function openFull(world: Populated): Promise<Visit[]> {
  const visits = await visitFull(world, { modes: ['test'] });
  const { ids, tenantId } = world.owner;
  const idIn = (prefix: string) =>
    visits[0]?.paths.flatMap((path) => path.match(new RegExp(`${prefix}_\\w{26}`)) ?? [])[0] ?? '';
  // What the pages show is newer than what the tenant had before.
  const shown: Ids = { ...ids, em: idIn('em'), in: idIn('in') };
  const database = new Sqlite(join(world.testApp.dataDir, 'postrider.db'));
  database.pragma('foreign_keys = OFF');
  try {
    database.transaction(() => {
      for (const { limit, prefix } of ROWS) {
        if (!limit) continue;
        const { table, max, unique } = limit;
        const { count } = database
          .prepare(`SELECT count(*) AS count FROM ${table} WHERE tenantId = ?`)
          .get(tenantId) as { count: number };
        copyRow(database, { table, id: ids[prefix], count: max - count, unique });
      }
      fillLists(database, shown);
      fillEmail(database, shown.em);
      fillPeople(database, tenantId);
      fillParts(database, shown);
      fillSuppressions(database, ids.sup);
      for (const [table, values] of Object.entries(LONGEST)) {
        const set = Object.entries(values).map(([name, value]) => `${name} = '${value}'`);
        database.prepare(`UPDATE ${table} SET ${set}`).run();
      }
    })();
    // Every read would look for its pages in a log of a gigabyte.
    database.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
  return visits;
}

/** Returns what copies rows of a table. */
function copier(database: Database) {
  return (
    table: string,
    id: string,
    count: number,
    unique?: (number: number) => Record<string, string | number>,
  ) => copyRow(database, { table, id, count, unique });
}

/** Returns the id of some row. */
function anyId(database: Database, table: string, condition: string, ...values: string[]): string {
  return (
    database.prepare(`SELECT id FROM ${table} WHERE ${condition} LIMIT 1`).get(...values) as { id: string }
  ).id;
}

/** Copies what has no limit until every list has several pages. */
function fillLists(database: Database, ids: Ids): void {
  const copy = copier(database);
  copy('messages', ids.em, MANY);
  copy('emails', ids.em, MANY);
  const recipient = anyId(database, 'recipients', 'messageId = ?', ids.em);
  copy('recipients', recipient, MANY, (number) => ({ messageId: copiedId(ids.em, number) }));
  copy('broadcasts', ids.brd, MANY);
  copy('approvals', ids.apr, MANY, (number) => ({ reference: copiedId(ids.em, number) }));
  copy('contacts', ids.ct, MANY, (number) => ({
    email: `${number}@copy.example`,
    address: `${number}@copy.example`,
  }));
  copy('receivedMessages', ids.in, MANY);
  copy('receivedReports', ids.rep, MANY, (number) => ({ reportId: String(number) }));
  copy('webhookDeliveries', ids.whd, MANY);
  copy('templateVersions', ids.tpv, 48);
  copy('apiKeys', ids.key, 90, (number) => ({ tokenHash: String(number) }));
  copy('jobs', ids.imp, MANY);
}

/** Gives an email as many recipients, attempts and events as one may have, each with the longest reply. */
function fillEmail(database: Database, id: string): void {
  const copy = copier(database);
  const recipient = anyId(database, 'recipients', 'messageId = ?', id);
  const longest = (number: number) => ({ address: `${'a'.repeat(60)}${number}@${'d'.repeat(60)}.example` });
  copyRow(database, {
    ...{ table: 'recipients', id: recipient, count: 149 },
    unique: (number) => ({
      id: `${recipient.slice(0, -6)}r${String(number).padStart(5, '0')}`,
      position: number,
      ...longest(number),
    }),
  });
  database
    .prepare(
      "UPDATE recipients SET state = 'bounced', diagnostic = ?, advice = ?, smtpCode = 550 WHERE messageId = ?",
    )
    .run(REPLY, 'Ask', id);
  const attempt = recipient.replace('rcp', 'att');
  database
    .prepare(
      `INSERT INTO attempts SELECT ?, id, messageId, tenantId, lastEventAt, 1, 'deferred', 'rcpt', mx, NULL, tls, 450, '4.2.1', ?
         FROM recipients WHERE id = ?`,
    )
    .run(attempt, REPLY, recipient);
  copy('attempts', attempt, 999);
  const event = anyId(database, 'events', 'emailId = ?', id);
  // A daemon on this directory posts nothing to the endpoints, which do not exist.
  copy('events', event, 999, () => ({ fannedOut: 1 }));
}

/** Gives the tenant and its people as much as they may have. */
function fillPeople(database: Database, tenantId: string): void {
  const copy = copier(database);
  const person = anyId(database, 'people', 'isOperator = 1');
  copy('people', person, 199, (number) => ({ email: `${number}@people.example` }));
  database
    .prepare(
      "INSERT INTO memberships SELECT ?, id, 'viewer', 0 FROM people WHERE email LIKE '%_@people.example' ON CONFLICT DO NOTHING",
    )
    .run(tenantId);
  const link = anyId(database, 'loginLinks', 'tenantId = ? AND usedAt IS NULL', tenantId);
  copy('loginLinks', link, 99, (number) => ({ tokenHash: String(number) }));
  const session = anyId(database, 'dashboardSessions', 'personId = ?', person);
  copy('dashboardSessions', session, 49, (number) => ({
    tokenHash: String(number),
    userAgent: 'u'.repeat(200),
  }));
  const passkey = person.replace('per', 'psk');
  database
    .prepare("INSERT INTO passkeys VALUES (?, ?, 'x', x'00', 0, '[]', ?, 0, NULL)")
    .run(passkey, person, 'k'.repeat(100));
  copy('passkeys', passkey, 19, (number) => ({ credentialId: String(number) }));
  copy('tenants', tenantId, 100, (number) => ({ name: `${'t'.repeat(60)}${number}` }));
  database
    .prepare("INSERT INTO memberships SELECT id, ?, 'viewer', 0 FROM tenants WHERE name LIKE 'ttt%'")
    .run(person);
}

/** Gives single things as many parts as they may have. */
function fillParts(database: Database, { mbx, ct, seg, brd }: Ids): void {
  const address = (number: number) => `${'a'.repeat(60)}${number}@${'d'.repeat(60)}.example`;
  const alias = database.prepare(
    "INSERT INTO mailboxAliases SELECT ?, 'd.example', id, tenantId FROM mailboxes WHERE id = ?",
  );
  for (let number = 0; number < 100; number++) alias.run(address(number), mbx);
  const rules = longestRules();
  database
    .prepare("UPDATE mailboxFilters SET filters = json_set(filters, '$.rules', json(?))")
    .run(JSON.stringify(rules));
  const properties = Object.fromEntries(
    Array.from({ length: 100 }, (_, number) => [`property${number}`, 'v'.repeat(300)]),
  );
  database.prepare('UPDATE contacts SET properties = ? WHERE id = ?').run(JSON.stringify(properties), ct);
  const topics = database.prepare('SELECT id FROM topics LIMIT 40').pluck().all();
  const filter = {
    op: 'and',
    rules: topics.map((id) => ({ field: `topics.${id}`, cmp: 'eq', value: true })),
  };
  database.prepare('UPDATE segments SET filter = ? WHERE id = ?').run(JSON.stringify(filter), seg);
  database.prepare("UPDATE broadcasts SET status = 'sent' WHERE id = ?").run(brd);
  database.prepare('UPDATE broadcastRuns SET startedAt = 1, endedAt = 2 WHERE broadcastId = ?').run(brd);
  const link = database.prepare('INSERT INTO trackedLinks VALUES (?, ?, ?)');
  const clicks = database.prepare('INSERT INTO broadcastLinks VALUES (?, ?, 1, 1, 1)');
  for (let number = 0; number < 500; number++) {
    link.run(brd, number, `https://shop.example/${'l'.repeat(1_900)}${number}`);
    clicks.run(brd, number);
  }
}

/** Returns as many rules as a mailbox may have, one of them with as many conditions, which together become a script of nearly the largest size. */
function longestRules(): Rule[] {
  const condition = (value: string) => ({ field: 'subject', operator: 'contains', value }) as const;
  const rules = Array.from({ length: 100 }, (_, index) => ({
    name: 'r'.repeat(100),
    conditions:
      index === 0
        ? Array.from({ length: 20 }, () => condition('v'.repeat(500)))
        : [condition('v'.repeat(200))],
    fileInto: 'f'.repeat(200),
  }));
  // Throws when the API would refuse them.
  readFilters({ ...NO_FILTERS, rules });
  return rules;
}

function fillSuppressions(database: Database, id: string): void {
  const indexes = database
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'suppressions' AND sql IS NOT NULL",
    )
    .all();
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  database
    .prepare(
      `INSERT INTO suppressions SELECT printf('%s%08d', substr(id, 1, length(id) - 8), value), tenantId,
         printf('gone%d@rcpt.example', value), CASE value % 3 WHEN 0 THEN 'complaint' ELSE 'bounce' END, NULL, diagnostic, createdAt
       FROM suppressions, (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?) SELECT value FROM n)
       WHERE id = ?`,
    )
    .run(SUPPRESSIONS - 1, id);
  for (const { sql } of indexes) database.exec(sql);
}
