/** Lets time pass between two lives of the daemon: what waits for it is due at the next start. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '../open-database.ts';
import type { LetterKind } from './letter.ts';
import type { InboundWorld } from './place.ts';

const LOAD = { clients: 1, pauseMs: 0, most: 2 };
const PAUSE_MS = 50;
const TIMEOUT_MS = 90_000;
/** Reports of a day fall due on the next one. */
const WAITING_REPORTS = 'SELECT count(*) FROM dmarcReports WHERE dueAt > 0';
const MAKE_DUE = 'UPDATE dmarcReports SET dueAt = 0 WHERE dueAt > 0';

/**
 * Lets the night come for the DMARC report about the author's mail, and counts the report. A life of the daemon counts mail for it
 * and ends in peace, so that nothing but the daemon ever opens a database that a kill has left.
 */
export async function makeReportDue(place: InboundWorld): Promise<void> {
  await sendUntil(place, { first: 'forward', waiting: WAITING_REPORTS });
  place.dueReports += withDatabase(
    place.world.dataDir,
    { readonly: false },
    (database) => database.prepare(MAKE_DUE).run().changes,
  );
}

/** Sends letters in a life of the daemon that ends in peace once the query counts something. */
async function sendUntil(
  { world, senders, port }: InboundWorld,
  { first, waiting }: { first: LetterKind; waiting: string },
): Promise<void> {
  const daemon = await world.start();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  await senders.run({ ...LOAD, port, signal, first, answers: 0 });
  while (
    withDatabase(world.dataDir, { readonly: true }, (database) => database.prepare(waiting).pluck().get()) ===
    0
  ) {
    if (signal.aborted) throw new Error(`${waiting}: nothing after ${TIMEOUT_MS} ms\n${daemon.output()}`);
    await sleep(PAUSE_MS);
  }
  await daemon.stop();
  await world.endLife(Date.now());
}
