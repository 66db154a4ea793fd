/**
 * Accepting mail while retention deletes a million emails: the p99 of the accept while it deletes, beside the p99 of the
 * same daemon before. `BENCH_EMAILS`, `BENCH_SECONDS` and `BENCH_RATE` make the row smaller for a first look.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { RECIPIENT_DIGITS, sampleEmail } from './message.ts';
import { type PacedLoad, runPaced } from './paced-load.ts';
import { treeMemory } from './process-tree.ts';
import { type Program, startModule } from './program.ts';
import type { RetentionInput, RetentionServing } from './retention-daemon.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const EMAILS = Number(process.env['BENCH_EMAILS'] ?? 1_000_000);
/** Time for which the load runs undisturbed, and the maximum time for which it runs while retention deletes. */
const UNDISTURBED_MS = 30_000;
const MAX_DELETING_MS = Number(process.env['BENCH_SECONDS'] ?? 1_800) * 1_000;
const ACCEPTED_PER_SECOND = Number(process.env['BENCH_RATE'] ?? 500);
/** The workers look for due work at least every 30 seconds. */
const BEGIN_TIMEOUT_MS = 60_000;

export const retention: Group = {
  name: 'retention',
  prepare: async (workspace) => ({
    rows: [
      {
        name: `Postrider: accept p99 at ${ACCEPTED_PER_SECOND}/s while ${EMAILS.toLocaleString('en')} emails are deleted`,
        unit: 'ms',
        aim: 'at most 1.5 times the p99 before',
        measure: () => measureRetention(workspace),
      },
    ],
  }),
};

async function measureRetention(workspace: Workspace): Promise<Measure> {
  const input = { dataDir: workspace.newFolder('retention'), emails: EMAILS } satisfies RetentionInput;
  await using program = startModule('retention-daemon.ts', input, {
    POSTRIDER_HOSTNAME: 'postrider.test',
    POSTRIDER_HTTP_METRICS: 'true',
    POSTRIDER_LOG_LEVEL: 'error',
  });
  const serving = JSON.parse(await program.line()) as RetentionServing;
  console.error(`retention: ${EMAILS} emails in ${serving.fillMs} ms`);
  return await measureServing(program, serving);
}

async function measureServing(program: Program, serving: RetentionServing): Promise<Measure> {
  const load = loadOf(serving);
  const before = await runPaced(load, timer(UNDISTURBED_MS));
  process.kill(program.pid, 'SIGUSR2');
  const begun = timer(BEGIN_TIMEOUT_MS);
  while ((await countDeleted(serving)).total === 0) {
    if (begun()) throw new Error('retention did not begin');
    await delay(500);
  }
  let over = false;
  const isLate = timer(MAX_DELETING_MS);
  const watching = untilDeleted(serving, () => over || isLate());
  const beganAt = performance.now();
  const during = await runPaced(load, () => over || isLate() || watching.isDone);
  over = true;
  await watching.ended;
  const seconds = (performance.now() - beganAt) / 1_000;
  const deleted = await countDeleted(serving);
  return {
    figure: during.p99Ms,
    p50Ms: during.p50Ms,
    p99Ms: during.p99Ms,
    memory: treeMemory([program.pid]),
    details: {
      'p99 before, ms': before.p99Ms,
      'ratio to before': during.p99Ms / before.p99Ms,
      'longest before, ms': before.maxMs,
      'longest while deleting, ms': during.maxMs,
      'refused before': before.refused,
      'refused while deleting': during.refused,
      'seconds of deleting': seconds,
      'contents deleted': deleted.contents,
      'emails deleted': deleted.emails,
      'rows deleted a second': deleted.total / seconds,
    },
  };
}

function loadOf({ address, key, sender }: RetentionServing): PacedLoad {
  const [head = '', tail = ''] = JSON.stringify({
    ...sampleEmail(sender),
    to: [`delivered+${RECIPIENT_DIGITS}@simulator.postrider.test`],
  }).split(RECIPIENT_DIGITS);
  return {
    url: new URL('/v1/emails', address),
    headers: { authorization: `Bearer ${key}` },
    bodyOf: (index) => `${head}${String(index).padStart(RECIPIENT_DIGITS.length, '0')}${tail}`,
    perSecond: ACCEPTED_PER_SECOND,
  };
}

function timer(durationMs: number): () => boolean {
  const endsAt = performance.now() + durationMs;
  return () => performance.now() >= endsAt;
}

type Deleted = { contents: number; emails: number; total: number };

async function countDeleted({ address }: RetentionServing): Promise<Deleted> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const counts = new Map(
    [...text.matchAll(/retention_deleted_total\{[^}]*kind="(\w+)"[^}]*\} (\d+)/g)].map(
      ([, kind = '', count]) => [kind, Number(count)],
    ),
  );
  counts.delete('pages');
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { contents: counts.get('contents') ?? 0, emails: counts.get('emails') ?? 0, total };
}

type Watch = { isDone: boolean; ended: Promise<void> };

/** Follows the deletion until all emails are gone, or `isOver`. */
function untilDeleted(serving: RetentionServing, isOver: () => boolean): Watch {
  const state: Watch = { isDone: false, ended: Promise.resolve() };
  const watch = async () => {
    while (!isOver() && !state.isDone) {
      await delay(1_000);
      state.isDone = (await countDeleted(serving)).emails >= EMAILS;
    }
  };
  state.ended = watch();
  return state;
}
