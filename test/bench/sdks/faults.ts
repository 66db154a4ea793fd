/**
 * Sends numbered emails through faults to a real daemon, and looks whether each was accepted once. The measuring program asks again with the key
 * of the error as long as a call fails.
 */
import { ask, startPostrider } from '../daemon.ts';
import { startSilentServer } from '../postrider.ts';
import type { Measure } from '../row.ts';
import type { Workspace } from '../workspace.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { type Language, runTask } from './languages.ts';

export const EMAILS = 10_000;
/** Number of programs that share the work when one makes one call at a time. */
const PROGRAMS = 50;
const PAGE = 100;

type Page = { data: { subject: string }[]; hasMore: boolean; nextCursor: string | null };

/** The figure is the number of emails. @throws Error when one is missing or was accepted twice */
export async function measureFaults(
  workspace: Workspace,
  language: Language,
  maxRetries: number,
): Promise<Measure> {
  using silent = await startSilentServer();
  const dataDir = workspace.newFolder('sdk-faults');
  await using postrider = await startPostrider({ dataDir, smtpPort: silent.port, connectionsPerSite: 1 });
  const { daemon, sender } = postrider;
  await using proxy = await startFaultyProxy(daemon.address);
  const programs = language.callers > 1 ? 1 : PROGRAMS;
  const each = EMAILS / programs;
  const startedAt = performance.now();
  const results = await Promise.all(
    Array.from({ length: programs }, (_, index) =>
      runTask(language, { address: proxy.address, key: sender.key }, [
        ...(['faults', index * each, each] as const),
        ...[language.callers, maxRetries],
      ]),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const subjects: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&startingAfter=${cursor}`;
    const path = `/v1/emails?limit=${PAGE}${query}`;
    const page: Page = await ask<Page>(daemon, ['GET', path, sender.key]);
    subjects.push(...page.data.map(({ subject }) => subject));
    cursor = page.hasMore ? page.nextCursor : null;
  }
  const distinct = new Set(subjects).size;
  if (distinct !== EMAILS || subjects.length !== EMAILS)
    throw new Error(`${subjects.length} emails, ${EMAILS - distinct} of ${EMAILS} are missing`);
  const { requests, lost, refused, cut } = proxy.counts;
  return {
    figure: subjects.length,
    details: {
      'requests that were refused': refused,
      'answers that were lost': lost,
      'answers that were cut off': cut,
      'requests in all': requests,
      'asked again by the program': results.reduce((sum, { again = 0 }) => sum + again, 0),
      seconds,
    },
  };
}
