/** Clicks on the links of a broadcast: how many are recorded, and how long a reader waits, also during another broadcast. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { linkKeysOf } from '../../../src/links/keys.ts';
import { trackingTokens } from '../../../src/links/tracking-token.ts';
import { loadMasterKey } from '../../../src/system/seal.ts';
import { openDatabase } from '../database.ts';
import { withLoopDelay } from '../event-loop.ts';
import { runModule } from '../program.ts';
import type { Measure } from '../row.ts';
import { startSink } from '../sink.ts';
import type { Workspace } from '../workspace.ts';
import type { ClickInput, ClickResult } from './click-program.ts';
import { type Filled, type Newsroom, untilCounts, withNewsroom } from './newsroom.ts';

/** Copies whose links are followed: enough that most clicks are the first of their link. */
const COPIES = 5_000;
const LINKS_PER_COPY = 20;
const CONNECTIONS = 32;
/** Rate at which the latency is measured: below what a small machine records, so that nothing waits in line. */
const PACED_PER_SECOND = 500;
const TIMEOUT_MS = 120_000;
/** Time in which everything that was collected is written. */
const FLUSH_MS = 1_500;
const WARM_UP_MS = 2_000;
/** Readers come from many addresses, each with a limit of its own. */
const PROXIED = { POSTRIDER_HTTP_TRUSTED_PROXIES: '127.0.0.1' };

export async function measureClicks(
  workspace: Workspace,
  filled: Filled,
  { windowMs }: { windowMs: number },
): Promise<Measure> {
  await using sink = await startSink(workspace);
  return await withNewsroom(workspace, filled, { smtpPort: sink.port, env: PROXIED }, async (newsroom) => {
    const { daemon, send } = newsroom;
    await track(newsroom, filled);
    const id = await send(filled.others);
    const sent = { tenant: filled.others, id, timeoutMs: TIMEOUT_MS };
    await untilCounts(newsroom, sent, (_counts, status) => status === 'sent');
    const paths = join(daemon.dataDir, 'paths');
    writeFileSync(paths, pathsOf(daemon.dataDir, id).join('\n'));
    const follow = (perSecond: number | null) => click({ newsroom, paths, perSecond, durationMs: windowMs });
    const before = recorded(daemon.dataDir);
    const all = await follow(null);
    await delay(FLUSH_MS);
    const stored = recorded(daemon.dataDir) - before;
    const alone = await follow(PACED_PER_SECOND);
    await send(filled.everybody);
    await delay(WARM_UP_MS);
    const copiesBefore = sink.messages();
    const during = await withLoopDelay(daemon, async () => {
      const result = await follow(PACED_PER_SECOND);
      return { figure: result.p99Ms };
    });
    return {
      figure: all.perSecond,
      p50Ms: all.p50Ms,
      p99Ms: all.p99Ms,
      ...(during.loop && { loop: during.loop }),
      details: {
        'recorded of those, %': (100 * stored) / all.clicks,
        [`redirect at ${PACED_PER_SECOND}/s, p99 ms`]: alone.p99Ms,
        [`redirect at ${PACED_PER_SECOND}/s during a broadcast, p99 ms`]: during.figure,
        'messages a second meanwhile': ((sink.messages() - copiesBefore) * 1_000) / windowMs,
      },
    };
  });
}

/** Turns the tracking of clicks on for the domains of both tenants. */
async function track({ ask }: Newsroom, { many, others }: Filled): Promise<void> {
  for (const tenant of [many, others]) {
    const { data } = (await ask('GET', '/domains', tenant)) as { data: { id: string }[] };
    for (const { id } of data)
      await ask('PATCH', `/domains/${id}`, tenant, { clickTracking: true, openTracking: true });
  }
}

function pathsOf(dataDir: string, broadcastId: string): string[] {
  const keys = linkKeysOf(loadMasterKey(dataDir));
  using database = openDatabase(dataDir);
  const ids = database
    .prepare<[string, number], string>('SELECT id FROM emails WHERE broadcastId = ? ORDER BY id LIMIT ?')
    .pluck()
    .all(broadcastId, COPIES);
  // All first links come first, because a reader follows one or two.
  return Array.from({ length: LINKS_PER_COPY }, (_, link) =>
    ids.map((id) => `/c/${trackingTokens(keys, id).click(link)}`),
  ).flat();
}

/** Returns how many clicks the database has recorded. */
function recorded(dataDir: string): number {
  using database = openDatabase(dataDir);
  const sum = database
    .prepare<[], number | null>("SELECT sum(requests) FROM engagements WHERE kind = 'click'")
    .pluck()
    .get();
  return sum ?? 0;
}

async function click({
  newsroom: { daemon },
  ...load
}: {
  newsroom: Newsroom;
  paths: string;
  perSecond: number | null;
  durationMs: number;
}): Promise<ClickResult> {
  const input: ClickInput = {
    ...load,
    port: Number(new URL(daemon.address).port),
    host: 'track.postrider.test',
    connections: CONNECTIONS,
  };
  return await runModule<ClickResult>('marketing/click-program.ts', input);
}
