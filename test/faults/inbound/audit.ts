/**
 * Says what became of mail that was received through faults: nothing that was answered with 250 is lost, each transmission is
 * stored once, each task has ended, and nothing was done twice unnoticed. The tables are read directly.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { INSTALLATION_TENANT } from '../../../src/tenants/installation.ts';
import type { ReceivedWebhook } from '../../support/webhook-receiver.ts';
import { endedInDoubt } from '../doubt.ts';
import { isRepeat, judgeRepeats, type Receipt } from '../judge.ts';
import { SENDER_DOMAIN } from '../world.ts';
import {
  type ANSWERS,
  fileOf,
  hashOf,
  isReturnedSender,
  type Letter,
  messageIdOf,
  nameOf,
  OPERATOR_ADDRESS,
  returnedSender,
} from './letter.ts';
import { judgeMailbox, type MailboxFacts } from './mailbox.ts';

/** A received message with its only task. */
export type ReceivedRow = {
  id: string;
  /** Message-ID of the transmission. */
  messageId: string;
  taskId: string | null;
  state: string | null;
  tasks: number;
  atMs: number;
};

/** State of the email to a reader, as the tables have it. */
export type ReaderState = {
  status: string;
  bounced: number;
  complained: number;
  suppressed: number;
  left: number;
};

export type InboundFacts = {
  letters: readonly Letter[];
  /** Ids of the accepted emails to the address of the route, which the daemon hands over to itself. */
  localEmails: readonly string[];
  rows: readonly ReceivedRow[];
  /** By id of the email. */
  readers: ReadonlyMap<string, ReaderState>;
  posts: readonly Post[];
  mailbox: MailboxFacts;
  /** Number of rows of each report that was received, by its id. */
  reports: ReadonlyMap<string, number>;
  /** Number of messages that the installation itself has stored to send: forwarded ones, notifications and reports. */
  sent: number;
  /** Mail of the installation itself, as it arrived. */
  receipts: readonly Receipt[];
  /** Number of DMARC reports that fell due. */
  dueReports: number;
  endOfLifeMs: readonly number[];
};

export type InboundVerdict = {
  letters: number;
  /** Transmissions that were answered with 250, and those that were stored without an answer. */
  acknowledged: number;
  unanswered: number;
  /** Transmissions that were answered with 250 and are not there. */
  lost: number;
  /** Emails that the daemon handed over to itself, and how many of them again after an end that hit the hand-over. */
  local: number;
  repeatedLocal: number;
  /** Posts, and how many came again after an end that hit them between their answer and the record of it. */
  posts: number;
  repeatedPosts: number;
  /** Messages that were stored for the mailbox. */
  delivered: number;
  /** Forwarded messages, notifications and sent reports that arrived, and how many of them again after such an end. */
  forwards: number;
  notifications: number;
  sentReports: number;
  repeatedMail: number;
  /** Things that were done twice without an end of the daemon that explains it. */
  unexplained: number;
  faults: string[];
};

/** A post to the route, as it came, with the number of the daemon's life that made it. */
export type Post = {
  taskId: string;
  receivedId: string;
  fileHash: string | undefined;
  life: number;
  atMs: number;
};

/** Judges what was received. Pure: facts in, verdict out. */
export function judgeInbound(facts: InboundFacts): InboundVerdict {
  const rows = Map.groupBy(facts.rows, ({ messageId }) => messageId);
  const effects = { ...facts, postsOf: Map.groupBy(facts.posts, ({ receivedId }) => receivedId) };
  const forwarded = new Set<string>();
  const inMailbox = new Set<string>();
  const returned = new Map<string, number>();
  const notified = new Map<string, number>();
  const faults: string[] = [];
  let acknowledged = 0;
  let lost = 0;
  for (const letter of facts.letters) {
    acknowledged += letter.acknowledged.size;
    const stored: ReceivedRow[] = [];
    for (let transmission = 1; transmission <= letter.transmissions; transmission++) {
      const messageId = messageIdOf(letter, transmission);
      const found = rows.get(messageId) ?? [];
      rows.delete(messageId);
      if (found.length === 0 && letter.acknowledged.has(messageId)) lost += 1;
      faults.push(...faultsOfTransmission(letter, letter.acknowledged.get(messageId), found));
      stored.push(...found);
    }
    if (letter.kind === 'mailbox' || letter.kind === 'notified')
      for (const { messageId } of stored) inMailbox.add(messageId);
    if (letter.kind === 'notified') notified.set(returnedSender(letter), stored.length);
    else if (letter.kind === 'forward') for (const { messageId } of stored) forwarded.add(messageId);
    else if (letter.kind === 'returned') returned.set(returnedSender(letter), stored.length);
    else if (stored.length > 0) faults.push(...faultsOfEffect(letter, stored, effects));
  }
  const local = judgeLocal(facts, rows, effects.postsOf);
  if (rows.size > 0) faults.push(`strangers: ${rows.size}, such as ${[...rows.keys()][0]}`);
  const posts = judgePosts(facts.posts, facts.endOfLifeMs);
  const mail = judgeMail(facts, { forwarded, returned, notified });
  return {
    letters: facts.letters.length,
    acknowledged,
    unanswered: facts.rows.length - local.rows - acknowledged,
    lost: lost + local.lost,
    local: facts.localEmails.length,
    repeatedLocal: local.repeated,
    posts: facts.posts.length,
    repeatedPosts: posts.explained,
    ...mail.counts,
    unexplained: posts.faults.length + mail.unexplained + local.unexplained,
    delivered: inMailbox.size,
    faults: [
      ...[...faults, ...local.faults, ...posts.faults, ...mail.faults],
      ...judgeMailbox(facts.mailbox, inMailbox),
    ],
  };
}

/**
 * Each email that the daemon handed over to itself is stored and posted, and a second time only when an end hit the hand-over. The
 * rows that are found are taken out.
 */
function judgeLocal(
  { localEmails, endOfLifeMs }: InboundFacts,
  rows: Map<string, ReceivedRow[]>,
  postsOf: ReadonlyMap<string, readonly Post[]>,
) {
  const verdict = { rows: 0, lost: 0, repeated: 0, unexplained: 0, faults: [] as string[] };
  for (const emailId of localEmails) {
    const messageId = `${emailId}@${SENDER_DOMAIN}`;
    const found = (rows.get(messageId) ?? []).toSorted((one, other) => one.atMs - other.atMs);
    rows.delete(messageId);
    verdict.rows += found.length;
    if (found.length === 0) verdict.lost += 1;
    for (const [index, row] of found.entries()) {
      const earlier = found[index - 1];
      if (earlier && endedInDoubt(earlier.atMs, row.atMs, endOfLifeMs)) verdict.repeated += 1;
      else if (earlier) verdict.unexplained += 1;
      if (row.state !== 'done') verdict.faults.push(`local: its task is ${row.state}`);
      if (!postsOf.has(row.id)) verdict.faults.push('local: it was never posted');
    }
  }
  if (verdict.lost > 0) verdict.faults.push(`local: ${verdict.lost} were accepted, and lost`);
  if (verdict.unexplained > 0) verdict.faults.push(`local: ${verdict.unexplained} were handed over twice`);
  return verdict;
}

/** The letters to the postmaster. */
type Forwarded = {
  /** Message-IDs of those that are forwarded. */
  forwarded: ReadonlySet<string>;
  /** Number of stored letters that come back, by their senders. */
  returned: ReadonlyMap<string, number>;
  /** Number of stored letters whose delivery is reported, by their senders. */
  notified: ReadonlyMap<string, number>;
};

/**
 * Each stored letter to the postmaster is forwarded once, or its sender is told once that this failed. Each sender that has asked for it is
 * told once of each delivery, and each report that fell due is sent once.
 */
function judgeMail(
  { receipts, sent, dueReports, endOfLifeMs }: InboundFacts,
  { forwarded, returned, notified }: Forwarded,
) {
  const byId = Map.groupBy(receipts, ({ messageId }) => messageId.slice(1, -1));
  const repeats = judgeRepeats(byId, endOfLifeMs);
  const {
    forwards = [],
    notifications = [],
    reports = [],
  } = Object.groupBy(byId, ([, [first]]) => kindOf(first?.recipient ?? ''));
  const told = judgeNotifications(
    notifications.map(([, [first]]) => first?.recipient ?? ''),
    new Map([...returned, ...notified]),
  );
  const lost = [...forwarded].filter((messageId) => !byId.has(messageId)).length;
  const strangers = forwards.filter(([messageId]) => !forwarded.has(messageId)).length;
  const wrong = {
    'forward: it never came': lost,
    'forward: nobody sent the letter': strangers,
    'mail of the installation: it came twice, without an end of the daemon in between':
      repeats.unexplained.length,
    'mail of the installation: it came again and was another': repeats.changed.length,
  };
  const faults = Object.entries(wrong).flatMap(([fault, count]) =>
    Array.from({ length: count }, () => fault),
  );
  if (reports.length !== dueReports)
    faults.push(`${reports.length} reports came, and ${dueReports} fell due`);
  // A letter that comes back is stored to be sent, and so is what its sender is told.
  const back = [...returned.values()].reduce((sum, count) => sum + count, 0);
  const expected = forwarded.size + back + told.expected + dueReports;
  if (sent !== expected) faults.push(`the installation has stored ${sent} messages to send, not ${expected}`);
  return {
    counts: {
      forwards: forwards.length,
      notifications: notifications.length,
      sentReports: reports.length,
      repeatedMail: repeats.duplicates,
    },
    unexplained: repeats.unexplained.length + told.excess + Math.max(0, sent - expected),
    faults: [...faults, ...told.faults],
  };
}

function kindOf(recipient: string): 'forwards' | 'notifications' | 'reports' {
  if (recipient === OPERATOR_ADDRESS) return 'forwards';
  return isReturnedSender(recipient) ? 'notifications' : 'reports';
}

/** Each sender gets one notification for each stored letter that came back, and nobody else gets any. */
function judgeNotifications(recipients: readonly string[], returned: ReadonlyMap<string, number>) {
  const got = Map.groupBy(recipients, (recipient) => recipient);
  const verdict = { expected: 0, excess: 0, faults: [] as string[] };
  for (const address of new Set([...returned.keys(), ...got.keys()])) {
    const [count, expected] = [got.get(address)?.length ?? 0, returned.get(address) ?? 0];
    verdict.expected += expected;
    verdict.excess += Math.max(0, count - expected);
    if (count !== expected) verdict.faults.push(`notification: a sender got ${count}, not ${expected}`);
  }
  return verdict;
}

/** A transmission is stored at most once, and with the id of its 250 when there was one. */
function faultsOfTransmission(
  { kind }: Letter,
  id: string | undefined,
  found: readonly ReceivedRow[],
): string[] {
  const faults: string[] = [];
  if (id !== undefined && found.length === 0) faults.push(`${kind}: answered with 250, and lost`);
  if (found.length > 1) faults.push(`${kind}: one transmission is stored ${found.length} times`);
  if (id !== undefined && found.some((row) => row.id !== id)) faults.push(`${kind}: stored under another id`);
  for (const { state, tasks } of found) {
    if (tasks !== 1) faults.push(`${kind}: ${tasks} tasks`);
    else if (state !== 'done') faults.push(`${kind}: its task is ${state}`);
  }
  return faults;
}

type Effects = Pick<InboundFacts, 'readers' | 'reports'> & { postsOf: ReadonlyMap<string, readonly Post[]> };

/** However often a letter was stored, it changes its reader once, or is one report. Each stored letter to the route is posted. */
function faultsOfEffect(letter: Letter, stored: readonly ReceivedRow[], effects: Effects): string[] {
  const { kind, reader } = letter;
  switch (kind) {
    case 'post':
      return stored.flatMap((row) => faultsOfPosts(letter, row, effects.postsOf.get(row.id) ?? []));
    case 'report': {
      const count = effects.reports.get(nameOf(letter)) ?? 0;
      return count === 1 ? [] : [`report: it is stored ${count} times`];
    }
    case 'mailbox':
    case 'notified':
    case 'forward':
    case 'returned':
      return [];
    case 'bounce':
    case 'complaint':
    case 'unsubscribe': {
      const state = effects.readers.get(reader?.emailId ?? '');
      return isExpected(kind, state) ? [] : [`${kind}: its reader is ${JSON.stringify(state)}`];
    }
  }
}

function faultsOfPosts(letter: Letter, { taskId }: ReceivedRow, own: readonly Post[]): string[] {
  if (own.length === 0) return ['post: it never came'];
  if (own.some((post) => post.taskId !== taskId)) return ['post: it came under another id'];
  const expected = letter.hasFile ? hashOf(fileOf(letter)) : undefined;
  return own.some(({ fileHash }) => fileHash !== expected) ? ['post: its file is another'] : [];
}

function isExpected(kind: (typeof ANSWERS)[number], state: ReaderState | undefined): boolean {
  if (!state) return false;
  const { status, bounced, complained, suppressed, left } = state;
  const counts = [bounced, complained, suppressed, left].join();
  switch (kind) {
    case 'bounce':
      return status === 'bounced' && counts === '1,0,1,0';
    case 'complaint':
      return status === 'complained' && counts === '0,1,1,0';
    case 'unsubscribe':
      return status === 'delivered' && counts === '0,0,0,1';
  }
}

/** Reads a post that this life of the daemon has made. */
export function readPost({ headers, body, receivedAtMs }: ReceivedWebhook, life: number): Post {
  const { id, attachments } = JSON.parse(body) as { id: string; attachments: { content?: string }[] };
  const content = attachments[0]?.content;
  return {
    taskId: String(headers['x-service-delivery']),
    receivedId: id,
    fileHash: content === undefined ? undefined : hashOf(Buffer.from(content, 'base64')),
    life,
    atMs: receivedAtMs,
  };
}

/** A post may come again only when the daemon ended soon after it had come. */
function judgePosts(posts: readonly Post[], endOfLifeMs: readonly number[]) {
  let explained = 0;
  const faults: string[] = [];
  for (const same of Map.groupBy(posts, ({ taskId }) => taskId).values()) {
    for (const [index, post] of same.entries()) {
      const earlier = same[index - 1];
      if (!earlier) continue;
      if (isRepeat(earlier, post, endOfLifeMs)) explained += 1;
      else faults.push('post: it came twice, without an end of the daemon in between');
    }
  }
  return { explained, faults };
}

/** Reads the facts of a data directory that nobody else has open. */
export function readTables(dataDir: string): Pick<InboundFacts, 'rows' | 'readers' | 'reports' | 'sent'> {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    const rows = database.prepare<[], ReceivedRow>(ROWS).all();
    const readers = database.prepare<[], ReaderState & { id: string }>(READERS).all();
    const reports = database.prepare<[], { reportId: string; count: number }>(REPORTS).all();
    return {
      rows,
      readers: new Map(readers.map(({ id, ...state }) => [id, state])),
      reports: new Map(reports.map(({ reportId, count }) => [reportId, count])),
      sent: Number(database.prepare(SENT).pluck().get(INSTALLATION_TENANT)),
    };
  } finally {
    database.close();
  }
}

const ROWS = `
  SELECT m.id, coalesce(m.messageId, '') AS messageId, min(t.id) AS taskId, min(t.state) AS state, count(t.id) AS tasks,
         m.createdAt AS atMs
    FROM receivedMessages m LEFT JOIN receivedTasks t ON t.messageId = m.id GROUP BY m.id`;
const REPORTS = 'SELECT reportId, count(*) AS count FROM receivedReports GROUP BY reportId';
const SENT = 'SELECT count(*) FROM messages WHERE tenantId = ?';
/** A decision of a reader is a row without a contact. */
const READERS = `
  SELECT m.id, m.status,
         (SELECT count(*) FROM events e WHERE e.emailId = m.id AND e.type = 'email.bounced') AS bounced,
         (SELECT count(*) FROM events e WHERE e.emailId = m.id AND e.type = 'email.complained') AS complained,
         (SELECT count(*) FROM suppressions s WHERE s.tenantId = m.tenantId AND s.email = r.address) AS suppressed,
         (SELECT count(*) FROM contactChoices c WHERE c.tenantId = m.tenantId AND c.address = r.address
           AND c.contactId = '') AS "left"
    FROM messages m JOIN recipients r ON r.messageId = m.id WHERE r.address LIKE 'reader-%'`;
