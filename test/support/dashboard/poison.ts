/**
 * Puts the payloads into a database: into every column of text that is not a word or an id of ours, whoever would have to be hostile for it. A
 * new column gets them too, unless it is listed here.
 */
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { TABLES } from '../../../src/db/tables.ts';
import type { TestApp } from '../test-app.ts';
import { SHORT_PAYLOADS } from './payloads.ts';

/** Columns that are words, ids, hashes or sealed secrets of ours in every table. */
const OURS =
  /^(?:id|mode|kind|status|state|type|field|role|stage|permission|verb|class|outcome|phase|level|queue|security|protocols|transports|algorithm|hash|month|language|timeZone|query|dsn|told|report)$|(?:Id|Ids|Ips|Hash|Sealed|Salt|Digest|Key|Cursor|Verifiers?|Approval|Reason)$/;

/** Tables that no page shows, or whose texts are all ours. */
const WHOLE_TABLES = new Set([
  ...['installation', 'installationKeys', 'acmeAccounts', 'acmeOrders', 'blobs', 'contents', 'idempotency'],
  ...[
    'domainKeys',
    'scriptMemories',
    'deliveryPlans',
    'dmarcReports',
    'dmarcObservations',
    'stsPolicies',
    'tlsReports',
    'tlsReportPolicies',
    'tlsSessions',
    'counts',
    'usage',
  ],
  ...['greylistEntries', 'drafts', 'recoveryCodes', 'issuerSubjects', 'plans', 'receivedRecipients'],
  ...['mailboxImportFolders', 'recipientCounts', 'correspondents', 'trackingHosts', 'writtenRecords'],
  ...['contactChoices', 'mailboxScripts', 'emailTags', 'emailAddresses', 'domainSites', 'doctorChecks'],
]);

/** Columns that hold what the daemon has checked or written itself, and needs as it is. */
const CHECKED: Readonly<Record<string, readonly string[]>> = {
  appPasswords: ['hint'],
  apiKeys: ['hint'],
  approvals: ['reference'],
  brandings: ['color', 'textColor', 'darkColor', 'darkTextColor'],
  broadcastRuns: ['pace', 'judgedFrom', 'passAfter', 'frozen'],
  broadcastEngagements: ['links'],
  contacts: ['topics'],
  doctorFindings: ['checkName'],
  emails: ['attachments'],
  domains: ['name', 'productType', 'region', 'selector', 'publicKey'],
  inboundRoutes: ['domain', 'destination'],
  jobs: ['options'],
  mailboxAliases: ['domain'],
  mailboxImports: ['password', 'reason'],
  mailboxFilters: ['script'],
  mailboxes: ['domain', 'disabledCapabilities'],
  messages: ['bodyHash', 'signature', 'fields', 'mergeValues', 'complaintHost', 'traceFields'],
  outboundRoutes: ['tls', 'authorities', 'tlsPolicy'],
  queueActions: ['domain', 'site'],
  recipients: ['domain', 'advice', 'enhancedCode'],
  requestLog: ['method', 'route', 'errorType'],
  simulatorReplies: ['recipients'],
  suppressions: ['reason'],
  tasks: ['reference'],
  tenants: ['plan', 'name'],
  acmeCertificates: ['directory', 'chain', 'orderUrl'],
  webhookEndpoints: ['url', 'events'],
};

/** Fields of stored JSON that are words or ids of ours. */
const OUR_FIELDS =
  /^(?:kind|status|state|type|op|cmp|result|policy|disposition|dkim|spf|record|mode|language|templateId|id|subscription|field|purpose|policyType|reason|class|category|contentType|contentId)$|(?:Id|Ids|At)$/;

const ID = /^[a-z]{2,4}_[0-9a-z]{26}$/;
const TIME = /^\d{4}-\d\d-\d\d/;
/** An address, also one that is poisoned already; its domain is the group. */
const ADDRESS = /^(?:[^@\s]+|".*")(@[^@\s"<>]+)$/s;
/** A list or an object. Placeholders begin with two braces. */
const IS_JSON = /^(?:\[|\{(?!\{))/;

/** Columns of JSON that may be empty. */
const EMPTY_JSON = new Set([
  'audiences.optIn',
  'contacts.consent',
  'outboundRoutes.hosts',
  'receivedMessages.auth',
]);

/** Columns whose texts are never longer than a line, as addresses are, because other code relies on it. */
const SHORT = new Set(['mailboxes.displayName']);

/** Columns of JSON whose names of fields come from strangers too. */
const MAPS = new Set(['emails.headers', 'emails.tags', 'contacts.properties']);

/**
 * Poisons the database of an application, and returns the number of columns that have got a payload. Each value is one of the texts, in
 * turn.
 */
export function poison({ dataDir }: Pick<TestApp, 'dataDir'>, texts: readonly string[]): number {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.pragma('foreign_keys = OFF');
  try {
    return database.transaction(() => withoutTriggers(database, () => poisonTables(database, texts)))();
  } finally {
    database.close();
  }
}

/** Triggers guard the audit log, whose rows nobody changes otherwise. */
function withoutTriggers<Result>(database: Database, run: () => Result): Result {
  const triggers = database
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  for (const { name } of triggers) database.exec(`DROP TRIGGER "${name}"`);
  const result = run();
  for (const { sql } of triggers) database.exec(sql);
  return result;
}

function poisonTables(database: Database, texts: readonly string[]): number {
  const poisoned = poisoner(texts);
  database.function('poisoned', (place: unknown, value: unknown) => poisoned(String(place), value));
  let count = 0;
  for (const [table, { columns }] of Object.entries(TABLES)) {
    if (WHOLE_TABLES.has(table)) continue;
    const names = Object.entries(columns)
      .filter(([name, { type, parent }]) => type === 'text' && !parent && !isOurs(table, name))
      .map(([name]) => name);
    if (names.length === 0) continue;
    const set = names.map((name) => `"${name}" = poisoned('${table}.${name}', "${name}")`);
    if (database.prepare(`UPDATE "${table}" SET ${set}`).run().changes > 0) count += names.length;
  }
  return count;
}

function isOurs(table: string, name: string): boolean {
  return OURS.test(name) || CHECKED[table]?.includes(name) === true;
}

/** Returns what gives each column its next value. A number of its own makes each value unique. */
function poisoner(texts: readonly string[]): (place: string, value: unknown) => string | null {
  let count = 0;
  const short = () => SHORT_PAYLOADS[count % SHORT_PAYLOADS.length] ?? '';
  const long = () => texts[count % texts.length] ?? '';

  function textFor(value: string): string {
    count += 1;
    if (ID.test(value) || TIME.test(value)) return value;
    const [, domain] = ADDRESS.exec(value) ?? [];
    return domain === undefined ? `${long()} ${count}` : `"${short()} ${count}"${domain}`;
  }

  function jsonFor(value: unknown, name = ''): unknown {
    if (typeof value === 'string') return OUR_FIELDS.test(name) ? value : textFor(value);
    if (Array.isArray(value)) return value.map((item) => jsonFor(item, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonFor(item, key)]));
  }

  return (place, value) => {
    count += 1;
    if (SHORT.has(place)) return short();
    if (MAPS.has(place)) return JSON.stringify({ [long()]: long() });
    if (typeof value !== 'string') return EMPTY_JSON.has(place) ? null : `${long()} ${count}`;
    if (place === 'conversations.lines') return `12 < 550 ${long()}`;
    return IS_JSON.test(value) ? JSON.stringify(jsonFor(JSON.parse(value))) : textFor(value);
  };
}
