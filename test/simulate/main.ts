/**
 * `npm run simulate -- [--seeds N] [--from SEED] [--seed SEED] [--size SIZE] [--fault NAME] [--trace]`: simulates the queue of
 * many seeds, and says at the end whether a rule was broken. README.md of this folder explains it.
 */
import { parseArgs } from 'node:util';
import type { Size } from './plan.ts';
import { PLANTED } from './planted.ts';
import { openWorkshop, runSeed } from './run-seed.ts';

const REPORT_EVERY_MS = 30_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    size: { type: 'string' },
    fault: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const { fault } = values;
const tamper = fault === undefined ? undefined : PLANTED[fault];
if (fault !== undefined && !tamper)
  throw new Error(`no such fault; there are: ${Object.keys(PLANTED).join(', ')}`);
const options = { size: values.size as Size | undefined, tamper };
const more = [values.size && ` --size ${values.size}`, fault && ` --fault ${fault}`].filter(Boolean).join('');

const workshop = await openWorkshop();
const cpuBefore = process.cpuUsage();
let reportedAt = performance.now();
let events = 0;
let failed: number | undefined;
for (let seed = first; seed < first + count; seed++) {
  const result = await runSeed(workshop, seed, { ...options, isTraced: values.trace });
  events += result.events;
  if (values.trace && !result.failure) console.log(result.trace.join('\n'));
  if (result.failure) {
    const { trace } = await runSeed(workshop, seed, { ...options, isTraced: true });
    console.log(trace.join('\n'));
    console.log(`seed ${seed} (${result.size}): ${result.failure.rule}`);
    failed = seed;
    break;
  }
  if (performance.now() - reportedAt > REPORT_EVERY_MS) {
    reportedAt = performance.now();
    console.log(`${seed - first + 1} seeds, ${rate(seed - first + 1)} a second of CPU`);
  }
}
process.exitCode = failed === undefined ? 0 : 1;
console.log(
  failed === undefined
    ? `simulate: ${count} seeds, 0 failures, ${events} events, ${rate(count)} seeds a second of CPU`
    : `simulate: seed ${failed} fails, after ${failed - first} that passed; npm run simulate -- --seed ${failed}${more}`,
);

function rate(seeds: number): string {
  const { user, system } = process.cpuUsage(cpuBefore);
  return ((seeds * 1_000_000) / (user + system)).toFixed(1);
}
