/**
 * kill -9 again and again while clients change their mailboxes and letters come in: around the commits of deliveries, of each kind of
 * change and of checkpoints, and at random times. After each start all mailboxes are read and judged: what was answered with OK or
 * 250 is there once, a change without an answer was made or not, and no number goes back.
 */
import { CRASH_POINTS } from '../../../src/crash-points.ts';
import { type KillPlan, killRepeatedly, planKills, withFaults } from '../kills.ts';
import type { Place, Result } from '../part.ts';
import { letDelaysPass } from '../quiet.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import type { ChangeKind } from './model.ts';
import { createMailboxWorld, describeMailboxes, finishMailboxes, reckon, send, work } from './place.ts';

const POINTS = CRASH_POINTS.filter((name) => /^(mailbox|private)-/.test(name));
const KILL_AFTER_MS = { low: 20, high: 1_200 };
const MAX_CHANGES_BEFORE = 12;
const MOST = { changes: 2_000, letters: 12 };

/** Changes that lead to a point. */
const WANTED: [beginning: string, kinds: readonly (ChangeKind | 'checkpoint')[]][] = [
  ['mailbox-append-', ['append']],
  ['mailbox-flags-', ['flags']],
  ['mailbox-copy-', ['move', 'copy']],
  ['mailbox-expunge-', ['expunge']],
  ['mailbox-quit-', ['quit']],
  ['mailbox-rename-', ['rename']],
  ['private-checkpoint-', ['checkpoint']],
];

export async function killMailboxes({ seed, mailboxes: { kills } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  await using place = await createMailboxWorld({ random, name: 'mailboxes' });
  let sending: Promise<void> | undefined;
  const { done, faults } = await killRepeatedly(place.world, planKills(POINTS, kills, random), {
    random,
    killAfterMs: KILL_AFTER_MS,
    async begin({ signal }) {
      sending = send(place, { signal, mostLetters: MOST.letters });
      await reckon(place);
    },
    async use(plan, { signal }) {
      const anyFirst = Math.floor(random.share() * MAX_CHANGES_BEFORE);
      const wanted = wantedFor(plan, random);
      await work(place, { signal, mostChanges: MOST.changes, anyFirst, wanted });
      await sending;
    },
  });
  await letDelaysPass(place.world);
  const verdict = await finishMailboxes(place, await place.world.start());
  return withFaults(describeMailboxes(verdict, done), faults);
}

function wantedFor(plan: KillPlan, random: SeededRandom): ChangeKind | 'checkpoint' | undefined {
  const kinds = WANTED.find(([beginning]) => plan.startsWith(beginning))?.[1] ?? [];
  return kinds[Math.floor(random.share() * kinds.length)];
}
