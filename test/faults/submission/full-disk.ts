/**
 * A disk that something else fills while mail is handed in. Below its reserve the daemon puts mail off with 452 before it takes any data;
 * when there is space again, everything is taken without a restart, and so is more mail.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, mountMemory } from '../full-disk.ts';
import type { Place, Result } from '../part.ts';
import { seededRandom } from '../seeded-random.ts';
import { describeSubmission } from './audit.ts';
import { createSubmissionWorld, finishSubmission, handIn, type SubmissionWorld } from './place.ts';

const DISK_MEGABYTES = 96;
const RESERVE_MEGABYTES = '4';
/** The free space is looked at every five seconds (system/disk-space.ts). */
const FULL_MS = 7_000;
/** Messages of each user before and after a full disk, and while it is full. */
const CALM = { pauseMs: 0, most: 8, persistent: true };
const LOAD = { pauseMs: 50, most: 40, persistent: true };
const CALM_TIMEOUT_MS = 60_000;

export async function fillDiskOfSubmission({ directory, seed, submission }: Place): Promise<Result> {
  const cycles = submission.cuts;
  using disk = mountMemory(join(directory, 'submission-full-disk'), DISK_MEGABYTES);
  await using place = await createSubmissionWorld({
    random: seededRandom(seed),
    name: 'submissionfull',
    dataDir: disk.dataDir,
    env: { POSTRIDER_STORAGE_RESERVE_MEGABYTES: RESERVE_MEGABYTES },
  });
  const daemon = await place.world.start();
  for (let cycle = 0; cycle < cycles; cycle++) {
    await handIn(place, { ...CALM, signal: AbortSignal.timeout(CALM_TIMEOUT_MS) });
    const over = new AbortController();
    const running = handIn(place, { ...LOAD, signal: over.signal });
    fill(disk.filler);
    await sleep(FULL_MS);
    rmSync(disk.filler);
    over.abort();
    await running;
  }
  await handIn(place, { ...CALM, signal: AbortSignal.timeout(CALM_TIMEOUT_MS) });
  // Mail whose delivery has met two full disks waits for five minutes.
  await daemon.cli(['queue', 'retry', '--all']);
  const verdict = await finishSubmission(place, daemon);
  const deferrals = countDeferrals(place);
  if (!deferrals.has('MAIL 452')) verdict.faults.push('no mail was put off with 452 before its data');
  const counts = [...deferrals].map(([reply, count]) => `${reply} ${count}`);
  return describeSubmission([verdict], `${cycles} times; put off: ${counts.join(', ')}`);
}

function countDeferrals({ users }: SubmissionWorld): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { clients } of users)
    for (const [reply, count] of clients.deferrals) counts.set(reply, (counts.get(reply) ?? 0) + count);
  return counts;
}
