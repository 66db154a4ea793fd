/**
 * A disk that something else fills to the last byte while people use their mailboxes. A change that finds no room is refused with
 * `NO [UNAVAILABLE]` and leaves nothing behind, the same session reads everything, and with room again changes are made without a restart.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fill, mountMemory } from '../full-disk.ts';
import type { Place, Result } from '../part.ts';
import { seededRandom } from '../seeded-random.ts';
import { judgeReading } from './audit.ts';
import { type MailboxClient, Refused } from './client.ts';
import type { Change } from './model.ts';
import {
  createMailboxWorld,
  describeMailboxes,
  finishMailboxes,
  type Mailbox,
  type MailboxWorld,
  reckon,
  send,
  withClient,
  work,
} from './place.ts';

const DISK_MEGABYTES = 96;
const MOST = { anyFirst: 0, mostChanges: 20 };
const LETTERS = 3;
const NO_ROOM = /: NO \[UNAVAILABLE\]/;

export async function fillDiskOfMailboxes({ directory, seed, cycles }: Place): Promise<Result> {
  using disk = mountMemory(join(directory, 'mailboxes-full-disk'), DISK_MEGABYTES);
  const { dataDir, filler } = disk;
  const random = seededRandom(seed);
  await using place = await createMailboxWorld({ random, name: 'mailboxesfull', dataDir });
  const { signal } = new AbortController();
  const daemon = await place.world.start();
  await reckon(place);
  let refused = 0;
  for (let cycle = 0; cycle < cycles; cycle++) {
    await Promise.all([work(place, { ...MOST, signal }), send(place, { signal, mostLetters: LETTERS })]);
    await reckon(place);
    for (const mailbox of place.mailboxes)
      await withClient(place, mailbox, async (client) => {
        fill(filler);
        const counted = await useWithoutRoom(place, mailbox, client);
        rmSync(filler);
        refused += counted;
        await client.change(mailbox.told, mailbox.changes.append('INBOX', 'l'));
      });
  }
  const verdict = await finishMailboxes(place, daemon);
  if (refused === 0) verdict.faults.push('the full disk was never felt');
  return describeMailboxes(verdict, `${cycles} times for each mailbox; refused: ${refused}`);
}

/** Asks for changes, and reads everything. Returns the number of changes that were refused. */
async function useWithoutRoom(
  { faults }: MailboxWorld,
  { told, changes }: Mailbox,
  client: MailboxClient,
): Promise<number> {
  const asked: Change[] = [changes.append('INBOX', 'l'), changes.next(told.model, 'move')];
  let refused = 0;
  for (const change of asked)
    try {
      await client.change(told, change);
    } catch (error) {
      if (!(error instanceof Refused) || !NO_ROOM.test(error.message)) throw error;
      told.open = undefined;
      refused += 1;
    }
  faults.push(...judgeReading(told, await client.read()).faults);
  return refused;
}
