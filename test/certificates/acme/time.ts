/** Lets the time of a test go on while something runs that waits again and again. */
import type { OrderingHost } from './host.ts';

const STEP_MS = 100;

/** Runs what is due while time goes on, however long that takes. */
export async function runWhileTimePasses(host: Pick<OrderingHost, 'run' | 'clock'>): Promise<void> {
  let isRunning = true;
  const running = host.run().finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    await host.clock.advance(STEP_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await running;
}
