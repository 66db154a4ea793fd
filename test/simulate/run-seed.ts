/** Runs one seed, and tells whether a rule was broken. */
import { SimulatedDatabase } from './database.ts';
import { makePlan } from './make-plan.ts';
import type { Size } from './plan.ts';
import { simulate, type Tamper, type Workshop } from './simulation.ts';
import { makeCertificates } from './tls-end.ts';
import { traceLine } from './trace.ts';
import { Watch } from './watch.ts';

export type SeedResult = {
  size: Size;
  failure: Watch['failure'];
  /** Lines of the trace; empty unless it is wanted. */
  trace: readonly string[];
  events: number;
};

type SeedOptions = { size?: Size | undefined; tamper?: Tamper | undefined; isTraced?: boolean };

export async function openWorkshop(): Promise<Workshop> {
  return { database: new SimulatedDatabase(), certificates: await makeCertificates() };
}

export async function runSeed(
  workshop: Workshop,
  seed: number,
  { size, tamper, isTraced = false }: SeedOptions = {},
): Promise<SeedResult> {
  const plan = makePlan(seed, size);
  const trace: string[] = [];
  const watch = new Watch(plan, isTraced ? (one, at) => void trace.push(traceLine(one, at)) : undefined);
  const events = await simulate(plan, workshop, { watcher: watch, ...(tamper && { tamper }) });
  return { size: plan.size, failure: watch.failure, trace, events };
}
