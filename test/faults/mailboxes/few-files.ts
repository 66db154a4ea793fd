/**
 * The daemon has no file descriptors left while people use their mailboxes. A change that needs a file is refused with
 * `NO [UNAVAILABLE]`, and a new connection or login is refused or ends. Sessions that are open read everything, and no mailbox counts as
 * damaged. Once there are files again, everything goes on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limitFiles, limitOf, lowest } from '../few-files.ts';
import type { Place, Result } from '../part.ts';
import { seededRandom } from '../seeded-random.ts';
import { judgeReading } from './audit.ts';
import { ConnectionEnded, MailboxClient, Refused } from './client.ts';
import {
  createMailboxWorld,
  describeMailboxes,
  finishMailboxes,
  type Mailbox,
  type MailboxWorld,
  PASSWORD,
  reckon,
  withClient,
  work,
} from './place.ts';

/** Free numbers below the limit, in turn: none, one for a connection, and too few for an account, which has four files. */
const SPARES = [0, 1, 3];
const MOST = { anyFirst: 0, mostChanges: 10 };
const RECOVERY_TIMEOUT_MS = 60_000;
const PAUSE_MS = 500;
const NO_FILES = /NO \[UNAVAILABLE\]/;

export async function takeFilesOfMailboxes({ seed, cycles }: Place): Promise<Result> {
  await using place = await createMailboxWorld({ random: seededRandom(seed), name: 'mailboxesfiles' });
  const { signal } = new AbortController();
  let daemon = await place.world.start();
  let refused = 0;
  for (let cycle = 0; cycle < cycles; cycle++) {
    await work(place, { ...MOST, signal });
    await daemon.stop();
    await place.world.endLife(Date.now());
    daemon = await place.world.start();
    const [open, closed] = place.mailboxes as [Mailbox, Mailbox];
    const usual = limitOf(daemon.pid);
    await withClient(place, open, async (client) => {
      await client.read();
      limitFiles(daemon.pid, lowest(daemon.pid) + (SPARES[cycle % SPARES.length] ?? 0));
      refused += await useWithoutFiles(place, open, client);
      refused += await logInWithoutFiles(place, closed);
      limitFiles(daemon.pid, usual);
      await client.change(open.told, open.changes.append('INBOX', 'l'));
    });
    for (const mailbox of place.mailboxes) await waitForLogin(place, mailbox);
    await reckon(place);
  }
  const verdict = await finishMailboxes(place, daemon);
  if (refused === 0) verdict.faults.push('the lack of files was never felt');
  return describeMailboxes(verdict, `${cycles} times; refused: ${refused}`);
}

/** Waits until the owner of a mailbox can log in again: a thread that could not start is started again after a while. */
async function waitForLogin({ ports, faults }: MailboxWorld, { address }: Mailbox): Promise<void> {
  const until = performance.now() + RECOVERY_TIMEOUT_MS;
  for (;;) {
    try {
      (await MailboxClient.open(ports, { address, password: PASSWORD })).close();
      return;
    } catch (error) {
      if (!(error instanceof ConnectionEnded || error instanceof Refused)) throw error;
      if (performance.now() > until) return void faults.push(`with files again: ${error.message}`);
    }
    await sleep(PAUSE_MS);
  }
}

/** Asks for a change that needs a file, and reads everything. Returns the number of changes that were refused. */
async function useWithoutFiles(
  { faults }: MailboxWorld,
  { told, changes }: Mailbox,
  client: MailboxClient,
): Promise<number> {
  let refused = 0;
  try {
    await client.change(told, changes.append('INBOX', 'l'));
  } catch (error) {
    if (!(error instanceof Refused) || !NO_FILES.test(error.message)) throw error;
    told.open = undefined;
    refused = 1;
  }
  // Large messages are in files, so only what is in the database can be read.
  const found = await client.read().catch((error) => {
    if (error instanceof ConnectionEnded) return undefined;
    throw error;
  });
  if (found) faults.push(...judgeReading(told, found).faults);
  return refused;
}

/** Logs in to a mailbox that is not open. Returns 1 when that was refused. */
async function logInWithoutFiles({ ports, faults }: MailboxWorld, { address }: Mailbox): Promise<number> {
  try {
    (await MailboxClient.open(ports, { address, password: PASSWORD })).close();
    return 0;
  } catch (error) {
    if (error instanceof ConnectionEnded) return 1;
    if (!(error instanceof Refused)) throw error;
    if (!NO_FILES.test(error.message)) faults.push(`a login without files: ${error.message}`);
    return 1;
  }
}
