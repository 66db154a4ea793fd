/** The command `postrider standby status`. */
import type { Command } from 'commander';
import type { ShownStandby } from '../standby/admin-api.ts';
import type { Progress } from '../standby/ship/shipper.ts';
import { isoTime, realClock } from '../system/clock.ts';
import { requestAction } from './context.ts';
import type { Terminal } from './terminal.ts';

const BYTES_PER_MEGABYTE = 1024 * 1024;
const MS_PER_SECOND = 1_000;

/** Adds the command to `postrider standby`. */
export function addStandbyStatus(standby: Command, terminal: Terminal): void {
  standby
    .command('status')
    .description('Show how far this host has sent what changes to the standby store.')
    .action(requestAction<ShownStandby>(terminal, { request: 'GET /standby', text: describe }));
}

function describe({ store, progress }: ShownStandby): string {
  if (store === '') return 'Nothing is sent to a standby store: standby.store is empty.';
  if (progress === null) return `${store}: nothing is sent, because no daemon runs.`;
  return [`${store}: ${summary(progress)}`, ...details(progress)].join('\n');
}

function summary({ storedCutAt, oldestUnstoredAt, failure, isHeld }: Progress): string {
  if (isHeld) return 'nothing is sent before "postrider restore release".';
  if (failure !== undefined) return `the store does not take what is sent: ${failure}.`;
  if (storedCutAt === null) return 'the base of this run is being made or sent.';
  if (oldestUnstoredAt === null) return `it has everything up to ${isoTime(storedCutAt)}.`;
  const seconds = Math.max(0, Math.round((realClock.now() - oldestUnstoredAt) / MS_PER_SECOND));
  return `its newest cut is of ${isoTime(storedCutAt)}; the oldest change that it does not have is ${seconds} s old.`;
}

function details({ generation, waitingBytes, objects, bytes, gap, gaps }: Progress): string[] {
  const megabytes = (size: number) => `${(size / BYTES_PER_MEGABYTE).toFixed(1)} MB`;
  return [
    `Generation: ${generation ?? 'none'}`,
    `Waiting: ${megabytes(waitingBytes)}`,
    `Sent since the start: ${objects} objects, ${megabytes(bytes)}`,
    ...(gap === null ? [] : [`New bases after a gap: ${gaps}, the last because: ${gap}`]),
  ];
}
