import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import fc from 'fast-check';
import { ACCOUNTS, Copy, freshText, type Keys, Primary } from './primary.ts';

let keys: Keys;
before(async () => {
  const identity = await generateIdentity();
  keys = { identity, recipient: await identityToRecipient(identity) };
});

const PATHS = ['postrider.db', ...ACCOUNTS];
const pathOf = (number: number): string => PATHS[number % PATHS.length] as string;

/** Events in the life of a primary that change something. Numbers are drawn for them. */
const CHANGES: Record<string, (primary: Primary, number: number) => void> = {
  insert: (primary, number) =>
    void primary
      .database(pathOf(number))
      .prepare('INSERT INTO rows (text) VALUES (?)')
      .run(freshText(100 * number)),
  // The page has one of three contents, so that it goes back to an earlier one.
  flip: (primary, number) =>
    void primary
      .database(pathOf(number))
      .prepare('INSERT OR REPLACE INTO rows (id, text) VALUES (1000000, ?)')
      .run('abc'.charAt(number % 3).repeat(2_000)),
  delete: (primary, number) =>
    void primary
      .database(pathOf(number))
      .prepare('DELETE FROM rows WHERE id % 3 = ?')
      .run(number % 3),
  shrink: (primary, number) => void primary.database(pathOf(number)).exec('PRAGMA incremental_vacuum(20)'),
  checkpoint: (primary, number) => primary.checkpoint(pathOf(number)),
  close: (primary, number) => primary.close(ACCOUNTS[number % ACCOUNTS.length] as string),
  addFile: (primary, number) => primary.addFile(`file ${number}`),
  removeFiles: (primary) => primary.removeFiles(),
};
const change = fc.tuple(fc.constantFrom(...Object.keys(CHANGES)), fc.integer({ min: 1, max: 60 }));
const changes = fc.array(change, { maxLength: 8 });
type Changes = readonly (readonly [string, number])[];

function apply(primary: Primary, list: Changes): void {
  for (const [name, number] of list) CHANGES[name]?.(primary, number);
}

/** An interruption after which the chain goes on: of the process in one of its steps, or of the following alone. */
const INTERRUPTIONS: Record<string, (primary: Primary) => Promise<void> | void> = {
  gap: () => {},
  death: (primary) => primary.die(),
  deathAfterName: async (primary) => {
    await primary.cut(undefined, 'shipping-segment-named');
    primary.die();
  },
  deathAfterRecord: async (primary) => {
    await primary.cut(undefined, 'shipping-segment-recorded');
    primary.die();
  },
  deathInRecord: async (primary) => {
    await primary.cut(undefined, 'shipping-segment-recorded');
    primary.die({ isRecordCut: true });
  },
};

async function resume(primary: Primary, meanwhile: () => void): Promise<void> {
  assert.ok(primary.isKnown);
  primary.follow();
  meanwhile();
  const scanned = await primary.scan({ meanwhile });
  await primary.cut(scanned);
}

test('a copy is the primary at each cut, whenever it dies or has a gap', async () => {
  const life = fc.record({
    first: changes,
    rounds: fc.array(
      fc.record({
        shipped: changes,
        isSent: fc.boolean(),
        lost: changes,
        interruption: fc.constantFrom(...Object.keys(INTERRUPTIONS)),
        meanwhile: changes,
      }),
      { minLength: 1, maxLength: 4 },
    ),
  });
  const runs = fc.asyncProperty(life, async ({ first, rounds }) => {
    const copy = new Copy(keys.identity);
    const primary = new Primary(keys, copy);
    apply(primary, first);
    await primary.begin(() => apply(primary, first));
    for (const { shipped, isSent, lost, interruption, meanwhile } of rounds) {
      apply(primary, shipped);
      await primary.cut();
      if (isSent) await primary.send();
      apply(primary, lost);
      await INTERRUPTIONS[interruption]?.(primary);
      apply(primary, lost);
      await resume(primary, () => apply(primary, meanwhile));
      await primary.send();
    }
    primary.closeAll();
  });
  await fc.assert(runs, { numRuns: Number(process.env['RUNS'] ?? 2), endOnFailure: true });
});
