/**
 * Says what became of mail that was received through faults: nothing that was answered with 250 is lost, each transmission is
 * stored once, each task has ended, and nothing was done twice unnoticed. The tables are read directly.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { ReceivedWebhook } from '../../support/webhook-receiver.ts';
import { hashOf, type Letter, messageIdOf } from './letter.ts';

/** A received message with its only task. */
export type ReceivedRow = {
  id: string;
  /** Message-ID of the transmission. */
  messageId: string;
  taskId: string | null;
  state: string | null;
  tasks: number;
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
  rows: readonly ReceivedRow[];
  /** By id of the email. */
  readers: ReadonlyMap<string, ReaderState>;
  posts: readonly ReceivedWebhook[];
  endOfLifeMs: readonly number[];
};

export type InboundVerdict = {
  letters: number;
  /** Transmissions that were answered with 250, and those that were stored without an answer. */
  acknowledged: number;
  unanswered: number;
  /** Posts, and how many came again after an end that hit them between their answer and the record of it. */
  posts: number;
  repeatedPosts: number;
  faults: string[];
};

/** The record of a post is one commit away from its answer; a life that lasted this much longer had made it. */
const SETTLED_AFTER_MS = 2_000;

type Post = { taskId: string; receivedId: string; fileHash: string | undefined; atMs: number };

/** Judges what was received. Pure: facts in, verdict out. */
export function judgeInbound(facts: InboundFacts): InboundVerdict {
  const rows = Map.groupBy(facts.rows, ({ messageId }) => messageId);
  const posts = facts.posts.map(readPost);
  const faults: string[] = [];
  let acknowledged = 0;
  for (const letter of facts.letters) {
    acknowledged += letter.acknowledged.size;
    const stored: ReceivedRow[] = [];
    for (let transmission = 1; transmission <= letter.transmissions; transmission++) {
      const messageId = messageIdOf(letter, transmission);
      const found = rows.get(messageId) ?? [];
      rows.delete(messageId);
      faults.push(...faultsOfTransmission(letter, letter.acknowledged.get(messageId), found));
      stored.push(...found);
    }
    if (stored.length > 0) faults.push(...faultsOfEffect(letter, { stored, posts, readers: facts.readers }));
  }
  if (rows.size > 0) faults.push(`strangers: ${rows.size}, such as ${[...rows.keys()][0]}`);
  const repeats = judgeRepeats(posts, facts.endOfLifeMs);
  return {
    letters: facts.letters.length,
    acknowledged,
    unanswered: facts.rows.length - acknowledged,
    posts: posts.length,
    repeatedPosts: repeats.explained,
    faults: [...faults, ...repeats.faults],
  };
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

type Effects = Pick<InboundFacts, 'readers'> & {
  stored: readonly ReceivedRow[];
  posts: readonly Post[];
};

/** However often a letter was stored, it changes its reader once. Each stored letter to the route is posted. */
function faultsOfEffect({ kind, reader, file }: Letter, { stored, posts, readers }: Effects): string[] {
  if (kind === 'post') {
    const expected = file && hashOf(file);
    return stored.flatMap(({ id, taskId }) => {
      const own = posts.filter(({ receivedId }) => receivedId === id);
      if (own.length === 0) return ['post: it never came'];
      if (own.some((post) => post.taskId !== taskId)) return ['post: it came under another id'];
      return own.some(({ fileHash }) => fileHash !== expected) ? ['post: its file is another'] : [];
    });
  }
  const state = readers.get(reader?.emailId ?? '');
  return isExpected(kind, state) ? [] : [`${kind}: its reader is ${JSON.stringify(state)}`];
}

function isExpected(kind: Exclude<Letter['kind'], 'post'>, state: ReaderState | undefined): boolean {
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

function readPost({ headers, body, receivedAtMs }: ReceivedWebhook): Post {
  const { id, attachments } = JSON.parse(body) as { id: string; attachments: { content?: string }[] };
  const content = attachments[0]?.content;
  return {
    taskId: String(headers['x-service-delivery']),
    receivedId: id,
    fileHash: content === undefined ? undefined : hashOf(Buffer.from(content, 'base64')),
    atMs: receivedAtMs,
  };
}

/** A post may come again only when the daemon ended soon after it had come. */
function judgeRepeats(posts: readonly Post[], endOfLifeMs: readonly number[]) {
  let explained = 0;
  const faults: string[] = [];
  for (const same of Map.groupBy(posts, ({ taskId }) => taskId).values()) {
    for (const [index, post] of same.entries()) {
      const earlier = same[index - 1];
      if (!earlier) continue;
      const isExplained = endOfLifeMs.some(
        (end) => end >= earlier.atMs && end <= post.atMs && end - earlier.atMs < SETTLED_AFTER_MS,
      );
      if (isExplained) explained += 1;
      else faults.push('post: it came twice, without an end of the daemon in between');
    }
  }
  return { explained, faults };
}

/** Reads the facts of a data directory that nobody else has open. */
export function readTables(dataDir: string): Pick<InboundFacts, 'rows' | 'readers'> {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    const rows = database.prepare<[], ReceivedRow>(ROWS).all();
    const readers = database.prepare<[], ReaderState & { id: string }>(READERS).all();
    return { rows, readers: new Map(readers.map(({ id, ...state }) => [id, state])) };
  } finally {
    database.close();
  }
}

const ROWS = `
  SELECT m.id, coalesce(m.messageId, '') AS messageId, min(t.id) AS taskId, min(t.state) AS state, count(t.id) AS tasks
    FROM receivedMessages m LEFT JOIN receivedTasks t ON t.messageId = m.id GROUP BY m.id`;
/** A decision of a reader is a row without a contact. */
const READERS = `
  SELECT m.id, m.status,
         (SELECT count(*) FROM events e WHERE e.emailId = m.id AND e.type = 'email.bounced') AS bounced,
         (SELECT count(*) FROM events e WHERE e.emailId = m.id AND e.type = 'email.complained') AS complained,
         (SELECT count(*) FROM suppressions s WHERE s.tenantId = m.tenantId AND s.email = r.address) AS suppressed,
         (SELECT count(*) FROM contactChoices c WHERE c.tenantId = m.tenantId AND c.address = r.address
           AND c.contactId = '') AS "left"
    FROM messages m JOIN recipients r ON r.messageId = m.id WHERE r.address LIKE 'reader-%'`;
