import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../database.ts';
import { withLoopDelay } from '../event-loop.ts';
import { RECIPIENT_DOMAIN } from '../message.ts';
import { type PacedLoad, runPaced } from '../paced-load.ts';
import { percentile } from '../percentile.ts';
import type { Measure } from '../row.ts';
import { startSink } from '../sink.ts';
import type { Workspace } from '../workspace.ts';
import { type Filled, type Newsroom, type Tenant, withNewsroom } from './newsroom.ts';

const EMAILS_PER_SECOND = 20;
/** Time in which the sessions and the walk through the audience get under way. */
const WARM_UP_MS = 3_000;
/** Time in which the last emails are delivered. */
const SETTLE_MS = 2_000;

type Transactional = {
  windowMs: number;
  /** Tenant that sends the emails beside the broadcast. */
  tenant: Tenant;
  /** Fields of the broadcast. */
  broadcast?: object;
};

export async function measureTransactional(
  workspace: Workspace,
  filled: Filled,
  { windowMs, tenant, broadcast }: Transactional,
): Promise<Measure> {
  await using sink = await startSink(workspace);
  return await withNewsroom(workspace, filled, { smtpPort: sink.port }, async (newsroom) => {
    const { daemon } = newsroom;
    await runFor(newsroom, tenant, WARM_UP_MS);
    const alone = await runFor(newsroom, tenant, windowMs);
    await newsroom.send(filled.everybody, broadcast);
    await delay(WARM_UP_MS);
    const before = sink.messages();
    const during = { accept: await runFor(newsroom, tenant, windowMs), messages: sink.messages() - before };
    const measured = await withLoopDelay(daemon, async () => ({ figure: during.accept.p99Ms }));
    await delay(SETTLE_MS);
    await daemon.kill('SIGKILL');
    const attempts = {
      alone: firstAttempts(daemon.dataDir, alone),
      during: firstAttempts(daemon.dataDir, during.accept),
    };
    return {
      ...measured,
      p50Ms: during.accept.p50Ms,
      p99Ms: during.accept.p99Ms,
      details: {
        'accept without the broadcast, p99 ms': alone.p99Ms,
        'accept: ratio x 100': (100 * during.accept.p99Ms) / alone.p99Ms,
        'first attempt ended, p99 ms': percentile(attempts.during, 0.99),
        'first attempt without the broadcast, p99 ms': percentile(attempts.alone, 0.99),
        'first attempt: ratio x 100':
          (100 * percentile(attempts.during, 0.99)) / percentile(attempts.alone, 0.99),
        'first attempt ended, p50 ms': percentile(attempts.during, 0.5),
        'messages of both a second meanwhile': (during.messages * 1_000) / windowMs,
      },
    };
  });
}

type Window = { fromMs: number; untilMs: number };

async function runFor(
  { daemon }: Newsroom,
  { key, from }: Tenant,
  durationMs: number,
): Promise<Window & { p50Ms: number; p99Ms: number }> {
  const load: PacedLoad = {
    url: new URL('/v1/emails', daemon.address),
    headers: { authorization: `Bearer ${key}` },
    bodyOf: (index) =>
      JSON.stringify({
        from,
        to: `customer${index}@${RECIPIENT_DOMAIN}`,
        subject: `Your order ${index}`,
        text: 'It is on its way.',
        type: 'transactional',
      }),
    perSecond: EMAILS_PER_SECOND,
  };
  const fromMs = Date.now();
  const { p50Ms, p99Ms, refused } = await runPaced(load, () => Date.now() > fromMs + durationMs);
  if (refused > 0) throw new Error(`${refused} emails were refused`);
  return { fromMs, untilMs: Date.now(), p50Ms, p99Ms };
}

/** Returns the times from acceptance to the end of the first attempt of the emails that were accepted in a window. */
function firstAttempts(dataDir: string, { fromMs, untilMs }: Window): number[] {
  using database = openDatabase(dataDir);
  return database
    .prepare<[number, number], number>(
      `SELECT min(attempts.at) - messages.createdAt FROM messages
         JOIN attempts ON attempts.messageId = messages.id
         WHERE messages.kind = 'transactional' AND messages.createdAt BETWEEN ? AND ?
         GROUP BY messages.id`,
    )
    .pluck()
    .all(fromMs, untilMs);
}
