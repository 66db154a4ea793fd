/** The command `postrider standby status`: how far a primary has sent what changes, or how far the copy of a host that follows is. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ShownStandby } from '../standby/admin-api.ts';
import type { Progress } from '../standby/ship/shipper.ts';
import { isoTime, realClock } from '../system/clock.ts';
import { contextOf, requestAction } from './context.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

const BYTES_PER_MEGABYTE = 1024 * 1024;
const MS_PER_SECOND = 1_000;

type StatusFlags = { folder?: string };

/** Adds the command to `postrider standby`. */
export function addStandbyStatus(standby: Command, terminal: Terminal): void {
  standby
    .command('status')
    .description(
      'Show how far this host has sent what changes to the standby store, or how far the copy of "standby follow" is.',
    )
    .option('--folder <folder>', 'folder of the copy that this host keeps by "standby follow"')
    .action((flags: StatusFlags, command: Command) =>
      flags.folder === undefined
        ? showProgress(command, terminal)
        : showCopy(resolve(flags.folder), command, terminal),
    );
}

/** Asks the daemon. A host without data is not to get any by a question: it could not be promoted then. */
async function showProgress(command: Command, terminal: Terminal): Promise<void> {
  const { config } = contextOf(command, terminal);
  if (!existsSync(join(config.dataDir, 'postrider.db')))
    throw new CommandError(
      `${config.dataDir} has no installation, so this host sends nothing: --folder shows the copy of a host that follows`,
    );
  await requestAction<ShownStandby>(terminal, { request: 'GET /standby', text: describe })(command);
}

async function showCopy(folder: string, command: Command, terminal: Terminal): Promise<void> {
  const { findPosition } = await import('../standby/follow/position.ts');
  const position = findPosition(folder);
  if (!position) throw new CommandError(`${folder} has no copy whose base is complete`);
  const { takenAt, sequence, generation, installation } = position;
  contextOf(command, terminal).show(position, () =>
    [
      `${folder} has the state of ${isoTime(takenAt)}, ${secondsSince(takenAt)} s ago.`,
      `Cut: ${sequence} of ${generation}`,
      `Installation: ${installation}`,
    ].join('\n'),
  );
}

function secondsSince(time: number): number {
  return Math.max(0, Math.round((realClock.now() - time) / MS_PER_SECOND));
}

function describe({ store, progress }: ShownStandby): string {
  if (store === '') return 'Nothing is sent to a standby store: standby.store is empty.';
  if (progress === null) return `${store}: nothing is sent, because no daemon runs.`;
  return [`${store}: ${summary(progress)}`, ...details(progress)].join('\n');
}

function summary(progress: Progress): string {
  const { storedCutAt, oldestUnstoredAt, failure, isHeld, isResyncing, resyncs } = progress;
  if (isHeld) return 'nothing is sent before "postrider restore release".';
  if (failure !== undefined) return `the store does not take what is sent: ${failure}.`;
  if (isResyncing) return 'what differs from what it has is looked for.';
  if (storedCutAt === null && resyncs > 0) return 'what differs from what it has is being sent.';
  if (storedCutAt === null) return 'the base of this run is being made or sent.';
  if (oldestUnstoredAt === null) return `it has everything up to ${isoTime(storedCutAt)}.`;
  return `its newest cut is of ${isoTime(storedCutAt)}; the oldest change that it does not have is ${secondsSince(oldestUnstoredAt)} s old.`;
}

function details({ generation, waitingBytes, objects, bytes, resyncs, gap, gaps }: Progress): string[] {
  const megabytes = (size: number) => `${(size / BYTES_PER_MEGABYTE).toFixed(1)} MB`;
  return [
    `Generation: ${generation ?? 'none'}`,
    `Waiting: ${megabytes(waitingBytes)}`,
    `Sent since the start: ${objects} objects, ${megabytes(bytes)}`,
    ...(resyncs === 0 ? [] : [`Went on after a restart or a gap: ${resyncs}`]),
    ...(gap === null ? [] : [`Gaps: ${gaps}, the last because: ${gap}`]),
  ];
}
