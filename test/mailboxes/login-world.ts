/** Mailboxes that a test logs in to, and the number of slow hashes that this takes. */
import { after } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { createAuthenticator } from '../../src/mailboxes/authenticate.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import type { System } from '../../src/system/system.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';
import { countHashes } from './passwords/counted-hashes.ts';

/** The password of every mailbox. */
export const PASSWORD = 'correct horse';

/** Opens the world for the tests of the calling file. */
export async function openLoginWorld(env: Record<string, string>, system: Partial<System> = {}) {
  const clock = createFakeClock(1_800_000_000_000);
  const world = await openTestApp({ system: { clock, ...system }, env });
  const hashes = countHashes();
  after(async () => {
    hashes.restore();
    await world.close();
  });
  const passwordHash = await hashPassword(PASSWORD, '');
  let mailboxes = 0;
  return {
    world,
    clock,
    hashes,
    /** Adds a mailbox, and returns it with a function that logs in, for which nothing has failed yet. */
    async addAccount(fields: Partial<MailboxRow> = {}) {
      mailboxes += 1;
      const address = `user${mailboxes}@people.example`;
      const mailbox = await addMailbox(world, { address, passwordHash, ...fields });
      const authenticate = createAuthenticator(world.app);
      hashes.take();
      return { mailbox, authenticate };
    },
  };
}
