/** Two broadcasts of two tenants at the same time, of which the second begins later. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Measure } from '../row.ts';
import { startSink } from '../sink.ts';
import type { Workspace } from '../workspace.ts';
import { type Filled, type Newsroom, withNewsroom } from './newsroom.ts';

/** Time in which the first broadcast takes all that there is, and then the second one gets its part. */
const WARM_UP_MS = { first: 3_000, second: 1_000 };

export async function measureFairness(
  workspace: Workspace,
  filled: Filled,
  { windowMs }: { windowMs: number },
): Promise<Measure> {
  await using sink = await startSink(workspace);
  const { everybody: first, others: second } = filled;
  return await withNewsroom(workspace, filled, { smtpPort: sink.port }, async (newsroom) => {
    const ids = { first: await newsroom.send(first), second: '' };
    await delay(WARM_UP_MS.first);
    ids.second = await newsroom.send(second);
    await delay(WARM_UP_MS.second);
    const delivered = async () => ({
      first: await deliveredOf(newsroom, first, ids.first),
      second: await deliveredOf(newsroom, second, ids.second),
    });
    const before = await delivered();
    await delay(windowMs);
    const after = await delivered();
    const counts = { first: after.first - before.first, second: after.second - before.second };
    return {
      figure: (100 * counts.second) / (counts.first + counts.second),
      details: { 'messages a second of both': ((counts.first + counts.second) * 1_000) / windowMs },
    };
  });
}

async function deliveredOf(newsroom: Newsroom, tenant: Filled['many'], id: string): Promise<number> {
  return (await newsroom.show(tenant, id)).counts['delivered'] ?? 0;
}
