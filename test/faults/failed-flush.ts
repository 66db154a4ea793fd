/** Flushes that end with EIO in the running daemon, put there by strace: it ends at the first. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type DeadlyVerdict, dieAgainAndAgain } from './deaths.ts';
import type { SeededRandom } from './seeded-random.ts';
import { undoLater } from './undo.ts';
import { createWorld } from './world.ts';

export type FailedFlushOptions = { random: SeededRandom; cycles: number };

const CALLS = 'fsync,fdatasync,msync,sync_file_range';
const ATTACH_TIMEOUT_MS = 60_000;

export async function runFailedFlushes({ random, cycles }: FailedFlushOptions): Promise<DeadlyVerdict> {
  const world = await createWorld({ random, name: 'flush' });
  let tracer: ChildProcess | undefined;
  try {
    return await dieAgainAndAgain(world, {
      cycles,
      mayForgetLast: false,
      begin: async ({ pid }) => {
        tracer = await failFlushes(pid);
      },
      mend: async () => {
        tracer?.kill();
        return [];
      },
    });
  } finally {
    tracer?.kill();
    await world.close();
  }
}

/** Resolves when strace has hold of the process; it ends with it. */
async function failFlushes(pid: number): Promise<ChildProcess> {
  const inject = ['-e', `trace=${CALLS}`, '-e', `inject=${CALLS}:error=EIO`];
  const tracer = spawn('strace', ['-f', '-p', String(pid), '-o', '/dev/null', ...inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  undoLater(`strace of ${pid}`, () => tracer.kill());
  const attached = once(createInterface({ input: tracer.stderr }), 'line', {
    signal: AbortSignal.timeout(ATTACH_TIMEOUT_MS),
  });
  const [line] = (await attached) as [string];
  if (!/attached/.test(line)) throw new Error(`strace: ${line}`);
  return tracer;
}
