/**
 * The end of a fault test: what is open is repeated and delivered, the webhooks have told of it, the daemon stops in
 * peace; then the far end and the tables are looked at.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../support/daemon.ts';
import { auditDataDirectory } from './audit.ts';
import { type Judgement, judge } from './judge.ts';
import { firstId, mustArrive, type Submission } from './submission.ts';
import type { World } from './world.ts';

export type Reckoning = {
  acknowledged: number;
  /** Of them, how many carry a large file, and how many were canceled. */
  withFile: number;
  canceled: number;
  /** Number of resources besides emails that were acknowledged. */
  promised: number;
  /** Requests sent again because they got no answer, or one that asked for a retry. */
  repeated: number;
  received: number;
  judgement: Judgement;
  /** Everything else that is wrong in the end, in words. */
  faults: string[];
};

const CLIENTS = 4;
const PAUSE_MS = 200;
const ASKING_CLIENTS = 16;
/** Mail that two faults met waits for its third attempt: 5 min, and a fifth more. */
const DRAIN_TIMEOUT_MS = 7 * 60_000;

/** Ends the daemon. */
export async function finish(world: World, daemon: DaemonProcess): Promise<Reckoning> {
  const signal = AbortSignal.timeout(DRAIN_TIMEOUT_MS);
  const { load, ledger, receipts, endOfLifeMs } = world;
  const faults = await repeatUnanswered(world, daemon, signal);
  faults.push(...(await untilSettled(world, daemon, load.acknowledged, signal)));
  // A webhook that a kill caught on its way is sent again when its lease of a minute ends.
  while (untold(world).length > 0 && !signal.aborted) await sleep(PAUSE_MS);
  const silent = untold(world).length;
  if (silent > 0) faults.push(`${silent} delivered emails: no email.delivered at the webhook`);
  faults.push(...faultsOfPosts(world), ...(await ledger.faults(daemon, world.key)));
  await daemon.stop();
  await world.endLife(Date.now());
  const { acknowledged, submitted, refusals, repeated } = load;
  return {
    acknowledged: acknowledged.length,
    withFile: acknowledged.filter(({ kind }) => kind === 'file').length,
    canceled: acknowledged.filter(({ cancellation }) => cancellation === 'confirmed').length,
    promised: ledger.acknowledged,
    repeated,
    received: receipts.length,
    judgement: judge({ acknowledged, submitted, receipts, endOfLifeMs }),
    faults: [
      ...faults,
      ...[...refusals, ...ledger.refusals].map((refusal) => `answered under load: ${refusal}`),
      ...faultsOfKeys(acknowledged),
      ...faultsOfTables(world),
    ],
  };
}

/** Sends everything that got no answer, or was refused for now, until it is accepted. */
export async function repeatUnanswered(
  { load, key }: World,
  daemon: DaemonProcess,
  signal: AbortSignal,
): Promise<string[]> {
  while (load.unanswered.length > 0 && !signal.aborted) {
    await load.run({ daemon, key, clients: CLIENTS, pauseMs: 0, signal, most: 0, persistent: true });
  }
  return load.unanswered.length > 0 ? [`${load.unanswered.length} requests were never accepted`] : [];
}

function faultsOfTables({ dataDir, load, ledger, others }: World): string[] {
  const audit = auditDataDirectory(dataDir, load.acknowledged);
  const faults = [...audit.faults];
  if (audit.missing.length > 0) faults.push(`${audit.missing.length} acknowledged emails are not stored`);
  if (audit.unreadable.length > 0) faults.push(`${audit.unreadable.length} stored emails are not readable`);
  if (audit.uncanceled.length > 0) faults.push(`${audit.uncanceled.length} canceled emails are not canceled`);
  // A batch without an answer may have been accepted, and is not repeated.
  const least = load.acknowledged.length + others + ledger.emails.acknowledged;
  const most = least + ledger.emails.unanswered;
  if (audit.emails < least || audit.emails > most)
    faults.push(`${audit.emails} emails for ${least} to ${most} keys`);
  return faults;
}

function faultsOfKeys(acknowledged: readonly Submission[]): string[] {
  const torn = acknowledged.filter((submission) => new Set(submission.answeredIds).size !== 1);
  return torn.map(({ idempotencyKey, answeredIds }) => `key ${idempotencyKey}: ${answeredIds.join(', ')}`);
}

/** Events that were posted as two deliveries. A delivery may be posted again under its id, after a kill. */
function faultsOfPosts({ webhooks }: World): string[] {
  const byEvent = Map.groupBy(webhooks.received, ({ headers }) => headers['webhook-id']);
  const torn = [...byEvent].filter(
    ([, posts]) => new Set(posts.map(({ headers }) => headers['x-service-delivery'])).size !== 1,
  );
  return torn.map(([event]) => `${event} ${SECOND_DELIVERY}`);
}

const SECOND_DELIVERY = 'was posted as several deliveries';

/** Returns true for the fault of an event that was fanned out twice. */
export function isOfSecondDelivery(fault: string): boolean {
  return fault.endsWith(SECOND_DELIVERY);
}

/** Acknowledged emails whose delivery the webhook has not been told of. */
function untold({ load, webhooks }: World): Submission[] {
  const told = new Set(webhooks.received.map(({ body }) => emailIdOf(body)));
  return load.acknowledged.filter((submission) => mustArrive(submission) && !told.has(firstId(submission)));
}

function emailIdOf(body: string): string | undefined {
  const event = JSON.parse(body) as { data?: { emailId?: string } };
  return event.data?.emailId;
}

type ShownEmail = { status?: string; recipients?: { status: string; attempts: number }[] };

/**
 * Asks the API for each email until it is delivered, which it says only when that is on disk, or canceled.
 * Resolves with those that were not when the time was up.
 */
export async function untilSettled(
  { key, settled }: World,
  daemon: DaemonProcess,
  submissions: readonly Submission[],
  signal: AbortSignal,
): Promise<string[]> {
  const open = submissions.filter((submission) => !settled.has(firstId(submission)));
  const unsettled: string[] = [];
  const ask = async () => {
    for (let submission = open.shift(); submission !== undefined; submission = open.shift()) {
      const id = firstId(submission);
      const { body } = await daemon.request('GET', `/v1/emails/${id}`, key);
      if (isSettled(submission, body as ShownEmail)) settled.add(id);
      else if (signal.aborted) unsettled.push(`${submission.kind} ${describe(body as ShownEmail)}`);
      else {
        open.push(submission);
        await sleep(PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: ASKING_CLIENTS }, ask));
  return unsettled;
}

/** What was asked to be canceled, without an answer, is what the API says it is. */
function isSettled(submission: Submission, { status }: ShownEmail): boolean {
  if (status !== 'delivered' && status !== 'canceled') return false;
  if (submission.cancellation === 'asked') {
    submission.cancellation = status === 'canceled' ? 'confirmed' : 'refused';
  }
  return (submission.cancellation === 'confirmed') === (status === 'canceled');
}

function describe({ status, recipients }: ShownEmail): string {
  const attempts = recipients?.map((one) => `${one.status} after ${one.attempts} attempts`);
  return `not settled in time: ${status}, ${attempts?.join(', ')}`;
}
