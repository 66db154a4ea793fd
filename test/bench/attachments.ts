/**
 * Four sends at the same time with all the attachments an email may have, beside a small send every 20 ms: how much memory
 * they take, how long the small ones wait, whether all four arrive as they were sent; and that one too many is refused.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type SinkMessage, type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { ask, type Postrider, startPostrider } from './daemon.ts';
import { withLoopDelay } from './event-loop.ts';
import { attachmentHashes, type LargeEmail, writeLargeEmail } from './large-email.ts';
import type { LargeLoad, LargeLoadResult } from './large-load.ts';
import { sampleEmail } from './message.ts';
import { percentile } from './percentile.ts';
import { treeMemory, watchMemory } from './process-tree.ts';
import { runModule, until } from './program.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const LARGE_EMAILS = 4;
const SMALL_EVERY_MS = 20;
const WARM_UP_MS = 3_000;
const DELIVERY_TIMEOUT_MS = 60_000;
/** More than the daemon has room for. */
const MAX_HELD = 20;

export const attachments: Group = {
  name: 'attachments',
  async prepare(workspace) {
    let emails: LargeEmail[] | undefined;
    return {
      rows: [
        {
          name: `Postrider: memory for ${LARGE_EMAILS} sends of 25 MiB, 50 small ones a second beside`,
          unit: 'MiB',
          async measure() {
            emails ??= writeEmails(workspace);
            return measureMemory(workspace, emails);
          },
        },
      ],
    };
  },
};

function writeEmails(workspace: Workspace): LargeEmail[] {
  const folder = workspace.newFolder('large-emails');
  return Array.from({ length: LARGE_EMAILS }, (_, index) => writeLargeEmail(folder, `large-${index}`));
}

async function measureMemory(workspace: Workspace, emails: readonly LargeEmail[]): Promise<Measure> {
  await using sink = await startSmtpSink({ keepRaw: true });
  await using postrider = await startPostrider({
    dataDir: workspace.newFolder('postrider'),
    smtpPort: sink.port,
  });
  const beside = sendSteadily(postrider);
  try {
    await delay(WARM_UP_MS);
    const measure = await withLoopDelay(postrider.daemon, () =>
      measureLargeSends(postrider, sink, { emails, beside }),
    );
    await beside.end();
    checkArrived(sink, emails);
    await checkRefusal(postrider, emails[0]?.bodyBytes ?? 0);
    return measure;
  } finally {
    await beside.end().catch(() => {});
  }
}

async function measureLargeSends(
  { daemon, sender }: Postrider,
  sink: SmtpSink,
  { emails, beside }: { emails: readonly LargeEmail[]; beside: Beside },
): Promise<Measure> {
  using memory = watchMemory(daemon.pid);
  const load: LargeLoad = {
    url: `${daemon.address}/v1/emails`,
    key: sender.key,
    files: emails.map((email) => email.file),
  };
  const { startedAtMs, endedAtMs, statuses } = await runModule<LargeLoadResult>('large-load.ts', load);
  if (statuses.some((status) => status !== 200)) throw new Error(`large sends were answered ${statuses}`);
  await until('the large emails arrive', DELIVERY_TIMEOUT_MS, () =>
    emails.every((email) => findArrived(sink, email)),
  );
  const arrivedAtMs = Math.max(...emails.map((email) => findArrived(sink, email)?.receivedAtMs ?? 0));
  const waits = beside.waits.filter(({ atMs }) => atMs >= startedAtMs && atMs <= arrivedAtMs);
  return {
    figure: memory.growthMiB(),
    p50Ms: percentile(
      waits.map(({ waitMs }) => waitMs),
      0.5,
    ),
    p99Ms: percentile(
      waits.map(({ waitMs }) => waitMs),
      0.99,
    ),
    memory: treeMemory([daemon.pid]),
    details: {
      'all answered after, ms': endedAtMs - startedAtMs,
      'all at the sink after, ms': arrivedAtMs - startedAtMs,
      'small sends meanwhile': waits.length,
      'peak, RSS in MiB': memory.peakMiB(),
    },
  };
}

type Beside = {
  /** Of each send: its time, and how long after that it was answered. */
  waits: { atMs: number; waitMs: number }[];
  /** Rejects when one was refused. */
  end(): Promise<void>;
};

/** By the clock, whether or not the last one is answered, as senders who know nothing of each other do. */
function sendSteadily({ daemon, sender }: Postrider): Beside {
  const waits: Beside['waits'] = [];
  const email = sampleEmail();
  let ended = false;
  const send = async (atMs: number) => {
    await ask(daemon, ['POST', '/v1/emails', sender.key], email);
    waits.push({ atMs, waitMs: Date.now() - atMs });
  };
  const run = async () => {
    const sends: Promise<void>[] = [];
    for (let atMs = Date.now(); !ended; atMs += SMALL_EVERY_MS) {
      await delay(Math.max(atMs - Date.now(), 0));
      const sending = send(atMs);
      // Whoever ends it hears of it.
      sending.catch(() => {});
      sends.push(sending);
    }
    await Promise.all(sends);
  };
  const running = run();
  running.catch(() => {});
  return {
    waits,
    end() {
      ended = true;
      return running;
    },
  };
}

function findArrived(sink: SmtpSink, { recipient }: LargeEmail): SinkMessage | undefined {
  return sink.messages.find(({ recipients }) => recipients.includes(recipient));
}

/** @throws Error when one is missing, or not as it was sent */
function checkArrived(sink: SmtpSink, emails: readonly LargeEmail[]): void {
  for (const email of emails) {
    const raw = findArrived(sink, email)?.raw ?? Buffer.alloc(0);
    if (attachmentHashes(raw).join() !== email.hashes.join())
      throw new Error(`the attachments for ${email.recipient} arrived changed`);
  }
}

/** Requests that say they are large and then wait: sooner or later there is no room, and small ones still pass. */
async function checkRefusal({ daemon, sender }: Postrider, bodyBytes: number): Promise<void> {
  const sockets: Socket[] = [];
  try {
    for (;;) {
      const socket = connect(Number(new URL(daemon.address).port), '127.0.0.1');
      sockets.push(socket);
      socket.write(
        `POST /v1/emails HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${sender.key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${bodyBytes}\r\nExpect: 100-continue\r\n\r\n`,
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      const head = answer.toString('latin1');
      if (head.startsWith('HTTP/1.1 503') && /^retry-after: \d/im.test(head)) break;
      if (!head.startsWith('HTTP/1.1 100')) throw new Error(`a large request was answered ${head}`);
      if (sockets.length > MAX_HELD) throw new Error(`${MAX_HELD} large requests were let in at once`);
    }
    if (sockets.length <= LARGE_EMAILS) throw new Error(`only ${sockets.length - 1} large requests had room`);
    await ask(daemon, ['POST', '/v1/emails', sender.key], sampleEmail());
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}
