/** Flushes that end with EIO in the running daemon, put there by strace: it ends at the first. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { dieAgainAndAgain } from './deaths.ts';
import type { Place, Result } from './part.ts';
import { seededRandom } from './seeded-random.ts';
import { undoLater } from './undo.ts';
import { createWorld } from './world.ts';

const CALLS = 'fsync,fdatasync,msync,sync_file_range';
const ATTACH_TIMEOUT_MS = 60_000;

export async function failFlushes({ seed, cycles }: Place): Promise<Result> {
  await using world = await createWorld({ random: seededRandom(seed), name: 'flush' });
  let tracer: ChildProcess | undefined;
  try {
    return await dieAgainAndAgain(world, {
      cycles,
      mayForgetLast: false,
      begin: async ({ pid }) => {
        tracer = await trace(pid);
      },
      mend: async () => {
        tracer?.kill();
        return [];
      },
    });
  } finally {
    tracer?.kill();
  }
}

/** Resolves when strace has hold of the process; it ends with it. */
async function trace(pid: number): Promise<ChildProcess> {
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
