/**
 * The writes of an action of the operator. `createAction` stores it, from which moment the claim obeys it; `sweepAction` changes the next
 * recipients that it names. Each slice stores how far it has come, so that a crash between two of them loses nothing.
 */
import { wakeAfterCommit } from '../../db/commit-wakeups.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { QueueActionRow, QueueVerb } from '../../db/queue-tables.ts';
import { AppError, notFound } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { completeTask, type Lease, retryTask, scheduleTask, type TaskEnd } from '../../tasks/store.ts';
import { notifyOfBounce } from '../bounce.ts';
import { getMail, type Mail } from '../mail-store.ts';
import { type Change, changeRecipients } from '../state/change.ts';
import { releaseRecipients } from '../state/hold.ts';
import { findMessage } from '../store.ts';
import {
  isBeingSent,
  isIn,
  isWaitingCursor,
  listHeldMessages,
  listWaitingMessages,
  STATES,
} from './find-store.ts';
import { transitionBy } from './orders.ts';
import { covers, type IsAtSite, isOldEnough, isWithin, type Selection } from './selection.ts';
import { domainsAt } from './site-store.ts';
import { findAction, insertAction, listInForce, patchAction } from './store.ts';
import { findNextQueue } from './walk-store.ts';

/** Kind of the tasks that sweep. The reference of a task is the action. */
export const ACTION_TASKS = 'queue-actions';
/** Delay before the task begins, in milliseconds: the command that made the action sweeps first, while it shows the progress. */
const TASK_DELAY_MS = 2_000;
/** Maximum number of actions in force, since each claim compares its recipients with all of them. */
const MAX_IN_FORCE = 1_000;

/** The actions that each verb ends when they name no other mail than the new one. */
const LIFTS: Partial<Record<QueueVerb, QueueVerb>> = { release: 'hold', reroute: 'reroute' };

/** An action that the operator asks for. `now` is in Unix milliseconds. */
type NewAction = Pick<QueueActionRow, 'verb' | 'reason' | 'target' | 'matched'> & {
  selection: Selection;
  now: number;
};

/**
 * Stores an action and makes its task due.
 * @throws AppError not_found for the id of an email that does not exist; invalid_state when too many actions are in force
 */
export const createAction = defineWrite(
  'queue.createAction',
  async (tx, { verb, reason, target, matched, selection, now }: NewAction): Promise<QueueActionRow> => {
    if (selection.emailId !== null && !(await findMessage(tx, selection.emailId))) throw notFound('Email');
    const inForce = await listInForce(tx);
    for (const { id, finishedAt, ...other } of inForce)
      if (other.verb === LIFTS[verb] && isWithin(other, selection))
        await patchAction(tx, id, { isInForce: 0, finishedAt: finishedAt ?? now });
    const isObeyed = verb === 'hold' || verb === 'fail' || verb === 'cancel' || target !== null;
    if (isObeyed && inForce.length >= MAX_IN_FORCE)
      throw new AppError('invalid_state', `At most ${MAX_IN_FORCE} holds and other actions can be in force`);
    const action: QueueActionRow = {
      ...selection,
      id: newId('qa', now),
      verb,
      reason,
      target,
      createdAt: now,
      matched,
      changed: 0,
      queueCursor: '',
      messageCursor: '',
      finishedAt: null,
      isInForce: isObeyed ? 1 : 0,
    };
    await insertAction(tx, action);
    const task = { kind: ACTION_TASKS, reference: action.id, queueKey: ACTION_TASKS, tenantId: null };
    await scheduleTask(tx, { ...task, dueAt: now + TASK_DELAY_MS });
    return action;
  },
);

/** Maximum number of searches for the next delivery queue in one slice. Each takes some microseconds. */
const MAX_SEARCHES = 500;
/** Time after which an action looks again for mail that was being sent when it had gone through all other, in milliseconds. */
const BEING_SENT_PAUSE_MS = 15_000;

type Slice = {
  id: QueueActionRow['id'];
  now: number;
  /** Maximum number of recipients that the slice changes, apart from those of its last message. */
  rows: number;
  /** Pause before the next slice, in milliseconds. */
  pauseMs: number;
  /** The lease of the task; undefined for a slice that a command makes. */
  lease?: Lease | undefined;
};

/** Changes the next recipients of an action. */
export const sweepAction = defineWrite(
  'queue.sweepAction',
  async (tx, { id, now, rows, pauseMs, lease }: Slice): Promise<TaskEnd | undefined> => {
    const action = await findAction(tx, id);
    const isOver = action === undefined || (action.finishedAt !== null && !isWaitingForSent(action));
    const end = isOver ? 'done' : await sweepSlice(tx, action, { now, rows });
    if (!lease) return undefined;
    if (end === 'done') return completeTask.run(tx, lease);
    const dueAt = now + (end === 'more' ? pauseMs : BEING_SENT_PAUSE_MS);
    return retryTask.run(tx, { lease, dueAt, attempts: 0 });
  },
  {
    priority: 'bulk',
    crashPoints: { beforeCommit: 'queue-action-before-commit', afterCommit: 'queue-action-after-commit' },
  },
);

/** Returns true for an action that ends mail and waits until nothing that it names is being sent. */
function isWaitingForSent({ verb, isInForce }: QueueActionRow): boolean {
  return isInForce === 1 && (verb === 'fail' || verb === 'cancel');
}

/** `more` is left, or only mail that is `being-sent`, or nothing. */
type SliceEnd = 'more' | 'being-sent' | 'done';

async function sweepSlice(
  tx: Tx,
  action: QueueActionRow,
  { now, rows }: { now: number; rows: number },
): Promise<SliceEnd> {
  const sweep = await beginSweep(tx, action, now);
  const isAtEnd = await walk(tx, sweep, rows);
  const { id, queueCursor, messageCursor, changed } = sweep.action;
  if (!isAtEnd) {
    await patchAction(tx, id, { queueCursor, messageCursor, changed });
    return 'more';
  }
  const isSending = isWaitingForSent(action) && (await isBeingSent(tx, action));
  await patchAction(tx, id, {
    changed,
    queueCursor: '',
    messageCursor: '',
    finishedAt: action.finishedAt ?? now,
    isInForce: isWaitingForSent(action) && !isSending ? 0 : action.isInForce,
  });
  return isSending ? 'being-sent' : 'done';
}

type Sweep = {
  /** The action with how far the slice has come. */
  action: QueueActionRow;
  now: number;
  isAtSite: IsAtSite;
  /** Holds that keep mail of a release held, each with the domains at its site. */
  holds: readonly { hold: QueueActionRow; isAtSite: IsAtSite }[];
};

async function beginSweep(tx: Tx, action: QueueActionRow, now: number): Promise<Sweep> {
  const isAtSite = await domainsAt(tx, action.site);
  const holds: Sweep['holds'][number][] = [];
  if (action.verb === 'release')
    for (const hold of await listInForce(tx))
      if (hold.verb === 'hold') holds.push({ hold, isAtSite: await domainsAt(tx, hold.site) });
  return { action: { ...action }, now, isAtSite, holds };
}

/** Goes on through the delivery queues. Returns true when it has come to the end. */
async function walk(tx: Tx, sweep: Sweep, rows: number): Promise<boolean> {
  const { action, isAtSite } = sweep;
  if (action.emailId !== null) {
    await change(tx, sweep, action.emailId);
    return true;
  }
  const states = STATES[action.verb];
  const until = action.changed + rows;
  for (let searches = 0; searches < MAX_SEARCHES && action.changed < until; searches++) {
    const from = action.queueCursor;
    const found = await findNextQueue(tx, { selection: action, isAtSite, states, from, maxSearches: 1 });
    if (found.queue !== undefined) {
      const isEmptied = await changeQueue(tx, sweep, { queue: found.queue, rows: until - action.changed });
      action.queueCursor = isEmptied ? (found.from ?? '') : found.queue;
      if (!isEmptied) return false;
      action.messageCursor = '';
    } else if (found.from === undefined) return true;
    else action.queueCursor = found.from;
  }
  return false;
}

/** Changes the next mail of a delivery queue. Returns true when nothing of it is left. */
async function changeQueue(
  tx: Tx,
  sweep: Sweep,
  { queue, rows }: { queue: string; rows: number },
): Promise<boolean> {
  const { action } = sweep;
  const states = STATES[action.verb];
  const cursor = action.messageCursor;
  if (states.includes('waiting') && (cursor === '' || isWaitingCursor(cursor))) {
    const { messageIds, next } = await listWaitingMessages(tx, action, { queue, limit: rows, after: cursor });
    for (const messageId of messageIds) await change(tx, sweep, messageId);
    action.messageCursor = next ?? '';
    if (next !== undefined) return false;
  }
  if (!states.includes('held')) return true;
  const after = action.messageCursor;
  const held = await listHeldMessages(tx, action, { queue, after, limit: rows });
  for (const messageId of held) await change(tx, sweep, messageId);
  action.messageCursor = held.at(-1) ?? after;
  return held.length < rows;
}

/** Changes the recipients of a message that the action names. */
async function change(tx: Tx, sweep: Sweep, messageId: string): Promise<void> {
  const { action, now, isAtSite } = sweep;
  const mail = await getMail(tx, messageId);
  if (!isOldEnough(mail.message, action)) return;
  if (action.verb === 'release') {
    action.changed += await release(tx, sweep, mail);
    return;
  }
  const changes = mail.recipients.flatMap((recipient): Change[] => {
    if (!isIn(action.verb, recipient) || !covers(action, recipient, isAtSite)) return [];
    const transition = transitionBy(action, recipient);
    return transition ? [{ recipient, transition }] : [];
  });
  if (changes.length === 0) return;
  const { recipients } = await changeRecipients(tx, mail, { now, changes });
  await notifyOfBounce(tx, changes, now);
  // The scan of the dispatcher may have passed the times of this mail already.
  if (action.verb === 'retry' || action.verb === 'reroute')
    for (const { queue } of recipients) wakeAfterCommit('queue', queue);
  action.changed += changes.length;
}

function release(tx: Tx, { action, now, isAtSite, holds }: Sweep, mail: Mail): Promise<number> {
  return releaseRecipients(tx, mail, {
    now,
    isReleased: (recipient) =>
      covers(action, recipient, isAtSite) &&
      !holds.some((other) => covers(other.hold, recipient, other.isAtSite)),
  });
}
