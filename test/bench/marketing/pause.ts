import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../database.ts';
import { until } from '../program.ts';
import type { Measure } from '../row.ts';
import { startSink } from '../sink.ts';
import type { Workspace } from '../workspace.ts';
import { type Filled, withNewsroom } from './newsroom.ts';

const PAUSES = 5;
const MIN_DELIVERED = 200;
const TIMEOUT_MS = 60_000;
/** Nothing arrives for this long: the sending is idle. */
const QUIET_MS = 2_000;
const LOOK_EVERY_MS = 5;

export async function measurePause(workspace: Workspace, filled: Filled): Promise<Measure> {
  await using sink = await startSink(workspace);
  const { everybody: tenant } = filled;
  return await withNewsroom(workspace, filled, { smtpPort: sink.port }, async (newsroom) => {
    const { daemon, ask } = newsroom;
    const id = await newsroom.send(tenant);
    const idleMs: number[] = [];
    const stopped: { from: number; until: number }[] = [];
    let arrivedLater = 0;
    for (let pause = 0; pause < PAUSES; pause++) {
      const before = sink.messages();
      await until('messages are delivered', TIMEOUT_MS, () => sink.messages() >= before + MIN_DELIVERED);
      await ask('POST', `/broadcasts/${id}/pause`, tenant);
      const answered = { atMs: Date.now(), messages: sink.messages() };
      const lastAtMs = await lastArrival(sink.messages);
      idleMs.push(Math.max(0, lastAtMs - answered.atMs));
      arrivedLater = Math.max(arrivedLater, sink.messages() - answered.messages);
      stopped.push({ from: answered.atMs, until: Date.now() });
      await ask('POST', `/broadcasts/${id}/resume`, tenant);
    }
    await daemon.kill('SIGKILL');
    return {
      figure: Math.max(...idleMs),
      details: {
        'claimed after an answer': claimedIn(daemon.dataDir, stopped),
        'arrived after an answer, at most': arrivedLater,
      },
    };
  });
}

/** Returns the time of the last message, once none has arrived for a while. */
async function lastArrival(messages: () => number): Promise<number> {
  let last = { atMs: Date.now(), messages: messages() };
  while (Date.now() < last.atMs + QUIET_MS) {
    await delay(LOOK_EVERY_MS);
    if (messages() > last.messages) last = { atMs: Date.now(), messages: messages() };
  }
  return last.atMs;
}

/** Counts the claims in these times: the first claim of a copy records this event. */
function claimedIn(dataDir: string, times: readonly { from: number; until: number }[]): number {
  using database = openDatabase(dataDir);
  const count = database
    .prepare<[number, number], number>(
      "SELECT count(*) FROM events WHERE type = 'email.sent' AND createdAt > ? AND createdAt < ?",
    )
    .pluck();
  return times.reduce((sum, { from, until }) => sum + (count.get(from, until) ?? 0), 0);
}
