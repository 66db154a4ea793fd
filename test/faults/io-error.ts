/**
 * A disk that fails. Once a flush or a write has ended with an error, nothing more may be acknowledged: the daemon ends
 * at once, and started again on what reached the disk it has everything it had promised.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { type CutVerdict, judgeCut } from './cut-judge.ts';
import { createVolatileDisk, type VolatileDisk } from './disk/volatile-disk.ts';
import type { Place, Result } from './part.ts';
import { describeCuts } from './report.ts';
import { seededRandom } from './seeded-random.ts';
import { MIXED } from './submission.ts';
import { createClients, daemonEnvironment, takeCut } from './taken-cut.ts';

const KINDS = ['flush', 'write'] as const;
const DISK_BYTES = 256 * 1024 * 1024;
const CLIENTS = 16;
const LOAD_MS = 500;
const MAX_SUBMISSIONS = 5_000;
const MAX_CHANGES = 20;
const END_TIMEOUT_MS = 60_000;

export async function breakDisk(place: Place): Promise<Result> {
  const verdicts: CutVerdict[] = [];
  for (const kind of KINDS) {
    const directory = join(place.directory, `error-${kind}`);
    mkdirSync(directory);
    verdicts.push(await failUnderLoad({ ...place, directory }, kind));
    rmSync(directory, { recursive: true });
  }
  return describeCuts(verdicts);
}

async function failUnderLoad({ directory, seed }: Place, kind: (typeof KINDS)[number]): Promise<CutVerdict> {
  using disk = await createVolatileDisk(join(directory, 'disk'), { sizeBytes: DISK_BYTES });
  const clients = createClients(seededRandom(seed), MIXED);
  const { load, ledger } = clients;
  const enough = new AbortController();
  let daemon: DaemonProcess | undefined;
  try {
    const dataDir = join(disk.mountPoint, 'data');
    daemon = await startDaemonProcess({ dataDir, env: daemonEnvironment('FULL') });
    const key = daemon.testKey ?? '';
    const { signal } = enough;
    const running = load.run({ daemon, key, clients: CLIENTS, pauseMs: 0, signal, most: MAX_SUBMISSIONS });
    await Promise.all([sleep(LOAD_MS), ledger.run({ daemon, key, signal, most: MAX_CHANGES })]);
    await fail(disk, kind);
    const ended = await Promise.race([daemon.exited.then(() => true), sleep(END_TIMEOUT_MS, false)]);
    enough.abort();
    if (!ended) await daemon.kill('SIGKILL');
    await running;
    const path = join(directory, 'cut.image');
    const onlyFlushed = { path, survival: 0, grainBytes: 4096, seed: 1, delayWrites: 0 };
    const cut = await takeCut(disk, onlyFlushed, { moment: 'error', daemon, clients });
    disk.remove();
    const verdict = await judgeCut(cut, join(directory, 'after'));
    if (!ended) verdict.faults.push(`the daemon lived on after a failed ${kind}`);
    return verdict;
  } finally {
    enough.abort();
    await daemon?.kill('SIGKILL');
  }
}

function fail(disk: VolatileDisk, kind: (typeof KINDS)[number]): Promise<void> {
  return kind === 'flush' ? disk.failFlushes('always') : disk.failWrites('always');
}
