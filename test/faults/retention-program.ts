/**
 * Runs one pass of retention on a data directory, at a wall time of the caller's choice, and prints `done` at its end. The
 * environment arms a crash point: the process then dies before that.
 */
import { openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createAllRetention } from '../support/retention.ts';

const HOUR_MS = 3_600_000;
const MAX_SLICES = 10_000;

const clock = createFakeClock(Number(process.argv[2]) - HOUR_MS);
const app = await openApp(loadConfig({ env: process.env }), { clock });
const work = createAllRetention(app);
await clock.advance(HOUR_MS);
for (let slices = 0; slices < MAX_SLICES; slices++) {
  const { nextDueAt = 0 } = await work.lease(1);
  if (nextDueAt - clock.now() >= HOUR_MS) break;
  await clock.advance(nextDueAt - clock.now());
}
await app[Symbol.asyncDispose]();
console.log('done');
