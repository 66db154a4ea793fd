/**
 * kill -9 again and again while servers send mail to the daemon and clients send mail through it: before and after the commits that
 * store a message, forward it, tell its sender that this failed or that it was delivered and send a report, within the tasks of each kind, and at random times.
 * One audit covers both sides: everything that was answered with 250 or 200 is there, once for each transmission or key. Each message to
 * a route was posted, and each message to the mailbox is in it once. Each message to the postmaster was forwarded, or its sender was told
 * once that this failed. Each answer of a reader has changed its email once.
 */
import { CRASH_POINTS, type CrashPointName } from '../../../src/crash-points.ts';
import { killRepeatedly, type Life, planKills, withFaults } from '../kills.ts';
import type { Place, Result } from '../part.ts';
import { letDelaysPass } from '../quiet.ts';
import { describeInbound } from '../report.ts';
import { seededRandom } from '../seeded-random.ts';
import { makeReportDue } from './due-times.ts';
import { ANSWERS, type LetterKind } from './letter.ts';
import { createInboundWorld, finishInbound, type InboundWorld } from './place.ts';

/** Kind of the tasks that post letters to routes. */
const ROUTE_POSTS = 'route-posts';

/** A point, for tasks with their kind. */
type Point =
  | CrashPointName
  | `${CrashPointName}/${LetterKind | `received-${LetterKind}` | typeof ROUTE_POSTS}`;

/** Kinds of letters whose tasks share their points. */
const TASK_KINDS: readonly LetterKind[] = [...ANSWERS, 'mailbox', 'forward', 'report'];
const POINTS: readonly Point[] = CRASH_POINTS.flatMap((name): Point[] => {
  if (name.startsWith('inbound-task-')) return TASK_KINDS.map((kind): Point => `${name}/${kind}`);
  if (name === 'post-made') return [`${name}/${ROUTE_POSTS}`];
  if (name === 'task-leased' || name === 'task-settled')
    return [`${name}/${ROUTE_POSTS}`, ...TASK_KINDS.map((kind): Point => `${name}/received-${kind}`)];
  return /^(receive|inbound|task|mailbox-delivery|forward|notification|sender-report|dmarc-report)-/.test(
    name,
  )
    ? [name]
    : [];
});
/** In each life: letters, requests for emails, and other changes. */
const LETTERS = { clients: 3, pauseMs: 15, most: 24 };
const EMAILS = { clients: 2, pauseMs: 30, most: 8 };
const MAX_CHANGES = 3;
/** Maximum number of answers of readers in a life, besides the one that its point needs. */
const ANSWERS_PER_LIFE = 1;

export async function killReceiving({ seed, inbound: { kills } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const plans = planKills(POINTS, kills, random);
  const needed = plans.filter((plan) => ANSWERS.some((kind) => kind === letterFor(plan))).length;
  const readers = needed + plans.length * ANSWERS_PER_LIFE;
  await using place = await createInboundWorld({ random, name: 'inbound', readers });
  const { done, faults } = await killRepeatedly(place.world, plans, {
    random,
    async prepare(plan) {
      if (plan.startsWith('dmarc-report-')) await makeReportDue(place);
    },
    use: (plan, life) => work(place, life, letterFor(plan)),
  });
  await letDelaysPass(place.world);
  const reckoning = await finishInbound(place, await place.world.start());
  return withFaults(describeInbound([reckoning], done), faults);
}

/** Returns the kind of the letter that leads to the point; undefined when any does. */
function letterFor(plan: string): LetterKind | undefined {
  const kind = TASK_KINDS.find((one) => plan.endsWith(`/${one}`) || plan.endsWith(`/received-${one}`));
  if (kind) return kind;
  if (plan.startsWith('forward-')) return 'forward';
  if (plan.startsWith('notification-')) return 'returned';
  if (plan.startsWith('sender-report-')) return 'notified';
  if (plan.startsWith('mailbox-')) return 'mailbox';
  return plan.endsWith(`/${ROUTE_POSTS}`) ? 'post' : undefined;
}

/** Sends letters to the daemon, and emails and other changes through it, until all are sent or it is dead. */
async function work(
  { world, senders, port }: InboundWorld,
  { daemon, signal }: Life,
  first: LetterKind | undefined,
): Promise<void> {
  const { load, ledger, key } = world;
  await Promise.all([
    senders.run({ ...LETTERS, port, signal, persistent: true, first, answers: ANSWERS_PER_LIFE }),
    load.run({ ...EMAILS, daemon, key, signal }),
    ledger.run({ daemon, key, signal, most: MAX_CHANGES }),
  ]);
}
