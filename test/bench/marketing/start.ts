/** The start of a broadcast to a large audience: when its first message leaves, and when its ledger is complete. */
import { withLoopDelay } from '../event-loop.ts';
import { isInSegment, SEGMENT_FILTER } from '../million-rows.ts';
import { treeMemory, watchMemory } from '../process-tree.ts';
import { until } from '../program.ts';
import type { Measure } from '../row.ts';
import { startSink } from '../sink.ts';
import type { Workspace } from '../workspace.ts';
import { type Filled, untilCounts, withNewsroom } from './newsroom.ts';

const FIRST_TIMEOUT_MS = 60_000;
const LEDGER_TIMEOUT_MS = 15 * 60_000;

export type StartOptions = { contacts: number; ofSegment: boolean };

export async function measureStart(
  workspace: Workspace,
  filled: Filled,
  { contacts, ofSegment }: StartOptions,
): Promise<Measure> {
  await using sink = await startSink(workspace);
  const { everybody: tenant } = filled;
  const expected = ofSegment ? countInSegment(contacts) : contacts;
  return await withNewsroom(workspace, filled, { smtpPort: sink.port }, async (newsroom) => {
    const { daemon, ask } = newsroom;
    const segment = { name: 'Some', audienceId: tenant.audienceId, filter: SEGMENT_FILTER };
    const { id: segmentId } = ofSegment
      ? ((await ask('POST', '/segments', tenant, segment)) as { id: string })
      : { id: undefined };
    const target = segmentId === undefined ? {} : { segmentId, audienceId: undefined };
    using memory = watchMemory(daemon.pid);
    return await withLoopDelay(daemon, async () => {
      const startedMs = performance.now();
      const id = await newsroom.send(tenant, target);
      await until('the first message', FIRST_TIMEOUT_MS, () => sink.messages() > 0);
      const firstMs = performance.now() - startedMs;
      await untilCounts(newsroom, { tenant, id, timeoutMs: LEDGER_TIMEOUT_MS }, isWalked(expected));
      const completeMs = performance.now() - startedMs;
      return {
        figure: completeMs,
        memory: treeMemory([daemon.pid]),
        details: {
          'first message after, ms': firstMs,
          'peak RSS, MiB': memory.peakMiB(),
          'messages delivered meanwhile': sink.messages(),
        },
      };
    });
  });
}

function isWalked(expected: number) {
  return ({ recipients = 0 }: Record<string, number>) => recipients === expected;
}

function countInSegment(contacts: number): number {
  return Array.from({ length: contacts }, (_, index) => isInSegment(index)).filter(Boolean).length;
}
