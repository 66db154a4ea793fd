/** The background work of the queue: it delivers the mail that is due, and recovers mail that was left in flight. */
import type { App } from '../app.ts';
import { createSigningKeys } from '../domains/signing-key.ts';
import { logHeld } from '../events/mail-log.ts';
import { createLinks } from '../links/links.ts';
import { periodic, type Work } from '../system/worker.ts';
import { DeliveryTls } from '../tls-policies/delivery-tls.ts';
import { HandedSources } from './contents/handed.ts';
import { Precedence } from './contents/precedence.ts';
import { DeliveryTrace } from './conversation/trace.ts';
import { ALONE, type Peers } from './dealer.ts';
import { DeliveryMonitor } from './delivery-monitor.ts';
import { Dispatcher } from './dispatcher.ts';
import { withdrawProbes } from './held/probe.ts';
import type { LocalReceiver } from './local-receiver.ts';
import { type Replies, RepliesFile } from './outcome/replies/replies.ts';
import { createClaimPreparer } from './prepare.ts';
import type { SendingApp } from './sending-app.ts';
import { openRules, type Rules } from './shaping/rules-file.ts';
import { Shaping } from './shaping/shaping.ts';
import { ownerOf } from './share.ts';
import { Sources } from './sources/sources.ts';
import { recoverAbandoned } from './state/recover.ts';

type Watching = {
  replies?: Replies;
  rules?: Rules;
  monitor?: DeliveryMonitor;
  trace?: DeliveryTrace;
  handed?: HandedSources;
  peers?: Peers;
};

/**
 * Starts the dispatcher. Delivery is not a `Work` like the others: the site of each delivery decides what may run
 * next, and a slow site must not delay any other. `receiveLocally` takes the mail for domains that are received here, and
 * `replies` says what the replies of servers mean, `rules` which of them slow mail down, `monitor` sees the outcomes, `trace` shows
 * attempts to those who watch, `handed` has sources of mail that was just accepted, and `peers` deliver too.
 */
export function startDelivering(
  app: SendingApp,
  receiveLocally: LocalReceiver,
  {
    replies = new RepliesFile(app),
    rules = openRules(app),
    monitor = new DeliveryMonitor(app),
    trace = new DeliveryTrace(),
    handed = new HandedSources(),
    peers = ALONE,
  }: Watching = {},
): Dispatcher {
  const { share } = peers;
  const shaping = new Shaping(app, rules, (place) => ownerOf(place, share) === share.index);
  const precedence = new Precedence(app.clock);
  const dispatcher = new Dispatcher({
    ...app,
    precedence,
    prepare: createClaimPreparer(
      { ...app, signingKeys: createSigningKeys(app), links: createLinks(app), handed, precedence },
      share.count,
    ),
    receiveLocally,
    sources: new Sources(app),
    shaping,
    replies,
    tls: new DeliveryTls(app),
    monitor,
    trace,
    peers,
  });
  dispatcher.start();
  return dispatcher;
}

const RECOVERY_PERIOD_MS = 60_000;

/**
 * Returns the work that recovers mail whose lease has expired during this start, because its delivery failed without
 * being settled.
 */
export function createRecoveryWork(app: App): Work<'run'> {
  return periodic(app.clock, {
    name: 'queue recovery',
    periodMs: RECOVERY_PERIOD_MS,
    run: () => recoverLeases(app),
  });
}

/** Puts back what an earlier start of the daemon left behind. It runs once, before the queue starts. */
export async function recoverQueue(app: App): Promise<void> {
  await app.db.commit(withdrawProbes, { now: app.clock.now() });
  await recoverLeases(app);
}

async function recoverLeases(app: App): Promise<void> {
  const { clock, runId } = app;
  const { retried, held } = await app.db.commit(recoverAbandoned, {
    now: clock.now(),
    elapsed: Math.round(clock.elapsed()),
    runId,
  });
  if (retried + held.length === 0) return;
  app.log.warn({ retried, held: held.length }, 'mail was left in flight');
  for (const recipient of held) logHeld(app, recipient);
  app.wakeups.notify('queue');
  app.wakeups.notify('suspects');
}
