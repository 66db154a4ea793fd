/**
 * The daemon under a steady load for ten minutes, or `--seconds N`: its memory at the end, and the bytes on disk that each
 * email has left behind. Each email has 3 KB of HTML and is delivered to the sink; one webhook endpoint takes every event
 * of it.
 */
import { globSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback } from '../support/loopback.ts';
import { ask, type Postrider, startPostrider } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import { RECIPIENT_DOMAIN, SENDER } from './message.ts';
import { residentMiB, treeCpuMs, treeMemory } from './process-tree.ts';
import { until } from './program.ts';
import type { Group, Measure } from './row.ts';
import { type Sink, startSink } from './sink.ts';
import type { Workspace } from './workspace.ts';

const EMAILS_PER_SECOND = 120;
const HTML_BYTES = 3_000;
/** Events of an email that is delivered at the first attempt. */
const EVENTS = ['email.queued', 'email.sent', 'email.delivered'];
const MAX_TRIES = 30;
const RETRY_MS = 1_000;
const SETTLE_TIMEOUT_MS = 60_000;
/** The last posts are stored after they were received. */
const SETTLE_MS = 2_000;

const HTML = `<!doctype html><p>${'Your order is on its way to you. '.repeat(HTML_BYTES)}`.slice(
  0,
  HTML_BYTES,
);

/** Returns the group for runs of this length. */
export function memory(seconds: number): Group {
  return {
    name: 'memory',
    async prepare(workspace) {
      return {
        rows: [
          {
            name: `Postrider: memory after ${seconds} s at ${EMAILS_PER_SECOND} emails/s, one webhook endpoint`,
            unit: 'MiB',
            aim: '<= 300 MiB, <= 8,000 bytes an email',
            rounds: 1,
            measure: () => measure(workspace, seconds),
          },
        ],
      };
    },
  };
}

async function measure(workspace: Workspace, seconds: number): Promise<Measure> {
  await using sink = await startSink(workspace);
  using receiver = await startReceiver();
  const dataDir = workspace.newFolder('postrider');
  await using postrider = await startPostrider({ dataDir, smtpPort: sink.port, webhooks: true });
  const { daemon, sender } = postrider;
  const endpoint = { url: receiver.url, events: EVENTS };
  await ask(daemon, ['POST', '/v1/webhooks', sender.key], endpoint);
  const idleMiB = residentMiB(daemon.pid);
  const before = { bytes: diskBytes(dataDir), cpuMs: treeCpuMs([daemon.pid]) };
  const emails = seconds * EMAILS_PER_SECOND;
  const measured = await withLoopDelay(daemon, async () => {
    await send(postrider, emails);
    await settle(emails, { sink, receiver });
    return {
      figure: residentMiB(daemon.pid),
      memory: treeMemory([daemon.pid]),
      cpuMsPerMessage: (treeCpuMs([daemon.pid]) - before.cpuMs) / emails,
    };
  });
  // The end copies the write-ahead log back, which would otherwise count twice.
  await daemon.stop();
  const details = {
    'bytes on disk an email': (diskBytes(dataDir) - before.bytes) / emails,
    'before the load, MiB RSS': idleMiB,
  };
  return { ...measured, details };
}

/** Sends at a fixed rate. It resolves once all emails are accepted. */
async function send(postrider: Postrider, emails: number): Promise<void> {
  const startedAt = performance.now();
  const failures: unknown[] = [];
  const answers: Promise<void>[] = [];
  for (let sent = 0; sent < emails && failures.length === 0; sent += 1) {
    await delay(Math.max(0, startedAt + (sent * 1_000) / EMAILS_PER_SECOND - performance.now()));
    answers.push(sendOne(postrider, sent).catch((error) => void failures.push(error)));
  }
  await Promise.all(answers);
  if (failures.length > 0) throw failures[0];
}

/** Sends one email. On a machine that is busy with other programs, the daemon may ask to try again later. */
async function sendOne({ daemon, sender }: Postrider, number: number): Promise<void> {
  const email = {
    from: SENDER,
    to: `r${number}@${RECIPIENT_DOMAIN}`,
    subject: `Your order ${number}`,
    html: HTML,
    type: 'transactional',
  };
  for (let tries = 1; ; tries += 1) {
    const { status, body } = await daemon.request('POST', '/v1/emails', sender.key, email);
    if (status === 200) return;
    if (status !== 503 || tries === MAX_TRIES) throw new Error(`the daemon refused: ${JSON.stringify(body)}`);
    await delay(RETRY_MS);
  }
}

async function settle(
  emails: number,
  { sink, receiver }: { sink: Sink; receiver: { posts(): number } },
): Promise<void> {
  await until('all emails are delivered', SETTLE_TIMEOUT_MS, () => sink.messages() >= emails);
  await until('all events are posted', SETTLE_TIMEOUT_MS, () => receiver.posts() >= emails * EVENTS.length);
  await delay(SETTLE_MS);
}

/** Answers 200 and counts. */
async function startReceiver() {
  let posts = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      posts += 1;
      response.end();
    });
  });
  return {
    url: `http://127.0.0.1:${await listenOnLoopback(server)}/`,
    posts: () => posts,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Size of the database and of the files of messages. */
function diskBytes(dataDir: string): number {
  const files = ['postrider.db', 'postrider.db-wal', 'blobs/**/*'].flatMap((name) =>
    globSync(join(dataDir, name)),
  );
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}
