/** Lets time pass between two lives of the daemon: what waits for it is due at the next start. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { InboundWorld } from './place.ts';

const LOAD = { clients: 1, pauseMs: 0, most: 2 };
const PAUSE_MS = 50;
const TIMEOUT_MS = 30_000;
/** Reports of a day fall due on the next one. */
const WAITING = 'SELECT count(*) FROM dmarcReports WHERE dueAt > 0';
const MAKE_DUE = 'UPDATE dmarcReports SET dueAt = 0 WHERE dueAt > 0';

/**
 * Lets the night come for the DMARC report about the author's mail, and counts the report. A life of the daemon counts mail for it
 * and ends in peace, so that nothing but the daemon ever opens a database that a kill has left.
 */
export async function makeReportDue(place: InboundWorld): Promise<void> {
  const { world, senders, port } = place;
  const daemon = await world.start();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  await senders.run({ ...LOAD, port, signal, first: 'forward', answers: 0 });
  while (withDatabase(world.dataDir, true, (database) => database.prepare(WAITING).pluck().get()) === 0) {
    if (signal.aborted) throw new Error(`no mail was counted for a DMARC report:\n${daemon.output()}`);
    await sleep(PAUSE_MS);
  }
  await daemon.stop();
  await world.endLife(Date.now());
  place.dueReports += withDatabase(
    world.dataDir,
    false,
    (database) => database.prepare(MAKE_DUE).run().changes,
  );
}

/**
 * Lets the time pass that tasks and webhooks wait which many kills have interrupted (webhooks/posting/schedule.ts), after a life that
 * ends in peace.
 */
export async function letDelaysPass({ world }: InboundWorld): Promise<void> {
  const daemon = await world.start();
  await daemon.stop();
  await world.endLife(Date.now());
  withDatabase(world.dataDir, false, (database) => {
    for (const table of ['receivedTasks', 'webhookDeliveries'])
      database.exec(`UPDATE ${table} SET dueAt = 0 WHERE state = 'pending'`);
  });
}

function withDatabase<Result>(
  dataDir: string,
  readonly: boolean,
  use: (database: Sqlite.Database) => Result,
): Result {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly });
  try {
    return use(database);
  } finally {
    database.close();
  }
}
