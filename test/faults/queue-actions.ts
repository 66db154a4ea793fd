/**
 * kill -9 while the operator cancels and holds mail: before and after the commit of a slice, and at any time. Later starts finish the
 * action: each email is changed exactly once, and none of it is sent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CrashPointName } from '../../src/crash-points.ts';
import type { ShownAction } from '../../src/queue/control/show.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Place, Result } from './part.ts';
import { seededRandom } from './seeded-random.ts';

const POINTS: readonly CrashPointName[] = ['queue-action-before-commit', 'queue-action-after-commit'];
const BATCHES = 10;
const EMAILS_PER_BATCH = 100;
/** Maximum time from a command to a kill, in milliseconds: an action takes a few of them. */
const MAX_KILL_AFTER_MS = 1_500;
const LATER_MS = 24 * 3_600_000;

type Verb = { verb: 'hold' | 'cancel'; event: string };
/** What is held is canceled after. */
const VERBS: readonly Verb[] = [
  { verb: 'hold', event: 'email.held' },
  { verb: 'cancel', event: 'email.canceled' },
];

/** Kills the daemon in the middle of each action, and judges what has become of the mail. */
export async function killQueueActions({ cycles, seed }: Place): Promise<Result> {
  const dataDir = temporaryDirectory('queue-actions');
  const { ids, key } = await fill(dataDir);
  const random = seededRandom(seed);
  const faults: string[] = [];
  let kills = 0;
  for (const { verb, event } of VERBS) {
    const ends = [...POINTS, ...Array.from({ length: cycles }, () => undefined)];
    for (const [index, crashAt] of ends.entries()) {
      const daemon = await startDaemonProcess({ dataDir, ...(crashAt !== undefined && { crashAt }) });
      // The first start asks for the action, and the later ones go on with it.
      const asked = index === 0 ? daemon.cli(['queue', verb, '--all', ...yes(verb)]) : Promise.resolve();
      const told = asked.catch(() => undefined);
      if (crashAt === undefined) await sleep(random.between(0, MAX_KILL_AFTER_MS));
      else await Promise.race([daemon.exited, sleep(10 * MAX_KILL_AFTER_MS)]);
      await daemon.kill('SIGKILL');
      await told;
      kills++;
    }
    faults.push(...(await finish(dataDir, { verb, event, ids, key })));
  }
  return { lines: [`${kills} kills; ${ids.length} emails were held and canceled once each`], faults };
}

function yes(verb: Verb['verb']): string[] {
  return verb === 'cancel' ? ['--yes'] : [];
}

/** Accepts emails that are due tomorrow. */
async function fill(dataDir: string): Promise<{ ids: string[]; key: string }> {
  const daemon = await startDaemonProcess({ dataDir });
  const key = daemon.testKey ?? '';
  const scheduledAt = new Date(Date.now() + LATER_MS).toISOString();
  const email = {
    ...{ from: 'hello@sandbox.localhost', to: 'delivered@simulator.localhost', subject: 'Hi', text: 'Hi' },
    ...{ type: 'transactional', scheduledAt },
  };
  const ids: string[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const emails = Array.from({ length: EMAILS_PER_BATCH }, () => email);
    const { body } = await daemon.request('POST', '/v1/emails/batch', key, { emails });
    ids.push(...(body as { data: { id: string }[] }).data.map(({ id }) => id));
  }
  await daemon.stop();
  return { ids, key };
}

type Judged = Verb & { ids: readonly string[]; key: string };

/** Lets the action finish, and returns what is wrong. */
async function finish(dataDir: string, { verb, event, ids, key }: Judged): Promise<string[]> {
  const daemon = await startDaemonProcess({ dataDir });
  try {
    await waitUntil(async () => {
      const [newest] = await actionsOf(daemon);
      return newest?.verb === verb && newest.finishedAt !== null;
    }, `the ${verb} is finished`);
    const [{ changed } = { changed: 0 }] = await actionsOf(daemon);
    const faults = changed === ids.length ? [] : [`${verb}: ${changed} of ${ids.length} were changed`];
    for (const id of ids) {
      const { body } = await daemon.request('GET', `/v1/emails/${id}`, key);
      const { events } = body as { events: { type: string }[] };
      const count = events.filter(({ type }) => type === event).length;
      if (count !== 1) faults.push(`${id} has the event ${event} ${count} times`);
      if (events.some(({ type }) => type === 'email.sent')) faults.push(`${id} was sent`);
    }
    return faults;
  } finally {
    await daemon.stop();
  }
}

async function actionsOf(daemon: DaemonProcess): Promise<ShownAction[]> {
  return ((await daemon.cli(['queue', 'actions'])) as { actions: ShownAction[] }).actions;
}
