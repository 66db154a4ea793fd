/** Lets the delays of a world pass, and waits until its daemon has nothing left to do for the mail of mailboxes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { DaemonProcess } from '../support/daemon.ts';
import { withDatabase } from './open-database.ts';
import type { World } from './world.ts';

const PAUSE_MS = 50;
/** Deliveries that are not done, recipients that have not been reached, and messages about which something is still to be told. */
const OPEN = `
  SELECT (SELECT count(*) FROM receivedTasks WHERE state = 'pending')
         + (SELECT count(*) FROM recipients WHERE state IN ('ready', 'in_flight', 'deferred'))
         + (SELECT count(*) FROM submittedMessages)`;
const MAKE_DUE = `
  UPDATE tasks SET dueAt = 0 WHERE dueAt IS NOT NULL;
  UPDATE recipients SET dueAt = 0 WHERE state = 'deferred'`;

/**
 * Lets the time pass for which everything waits that kills have interrupted (webhooks/posting/schedule.ts, queue/schedule.ts). A life that
 * ends in peace comes first, because nothing but the daemon writes to a database that a kill has left.
 */
export async function letDelaysPass(world: World): Promise<void> {
  await endAndMakeDue(world, await world.start());
}

/** Ends the daemon in peace, and makes everything due that waits. */
export async function endAndMakeDue(world: World, daemon: DaemonProcess): Promise<void> {
  await daemon.stop();
  await world.endLife(Date.now());
  withDatabase(world.dataDir, { readonly: false }, (database) => database.exec(MAKE_DUE));
}

/** Releases what was held after five interrupted attempts (queue/state/suspect.ts), and waits until nothing is open. Returns what is wrong. */
export async function untilQuiet(
  { dataDir }: World,
  daemon: DaemonProcess,
  signal: AbortSignal,
): Promise<string[]> {
  await daemon.cli(['queue', 'release', '--all']);
  const countOpen = (database: Database) => Number(database.prepare(OPEN).pluck().get());
  let open = withDatabase(dataDir, { readonly: true }, countOpen);
  while (open > 0 && !signal.aborted) {
    await sleep(PAUSE_MS);
    open = withDatabase(dataDir, { readonly: true }, countOpen);
  }
  return open > 0 ? [`${open} tasks, recipients and reports are still open when the time is over`] : [];
}
