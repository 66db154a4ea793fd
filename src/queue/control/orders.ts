/** Says what an action of the operator does to a recipient that it names. The claim asks for it, and the sweep of the action. */
import type { Tx } from '../../db/operation.ts';
import type { QueueActionRow, QueueVerb } from '../../db/queue-tables.ts';
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import { NO_REPORT } from '../outcome/outcome.ts';
import type { Meaning } from '../outcome/replies/meaning.ts';
import { parseQueueKey, rerouteQueue } from '../queue-key.ts';
import { isSite } from '../site-name.ts';
import type { Transition } from '../state/transition.ts';
import { covers, isOldEnough } from './selection.ts';
import { listInForce } from './store.ts';

/** Actions that the claim obeys. When several name a recipient, the first in this order decides. */
const OBEYED: readonly QueueVerb[] = ['cancel', 'fail', 'hold', 'reroute'];

/** Returns the actions that a claim obeys, in the order in which they decide. Of two holds or two reroutes, the newer one does. */
export async function readOrders(tx: Tx): Promise<readonly QueueActionRow[]> {
  const orders = await listInForce(tx);
  return orders.reverse().sort((a, b) => OBEYED.indexOf(a.verb) - OBEYED.indexOf(b.verb));
}

type Due = {
  message: MessageRow;
  recipient: RecipientRow;
  /** The key of the site that claims. */
  site: string;
};

/** Returns the change that a recipient gets instead of a claim, because the operator has asked for it. */
export function findOrdered(
  orders: readonly QueueActionRow[],
  { message, recipient, site }: Due,
): Transition | undefined {
  for (const order of orders) {
    const isNamed = covers(order, recipient, () => order.site !== null && isSite(site, order.site));
    if (!isNamed || !isOldEnough(message, order) || isRerouteOfRerouted(order, recipient)) continue;
    // Mail that is where this order wants it must not be moved by an older one, because both would move it for ever.
    return transitionBy(order, recipient);
  }
  return undefined;
}

/**
 * Returns true when a reroute names mail by its site that has a target already. Its site is that of the target, so two reroutes could
 * send it back and forth. The sweep of the newer one still moves what waits.
 */
function isRerouteOfRerouted({ verb, site }: QueueActionRow, { queue }: RecipientRow): boolean {
  return verb === 'reroute' && site !== null && parseQueueKey(queue).target !== undefined;
}

/** The meaning of a bounce that the operator has asked for. It says nothing about the address. */
const FAILED_BY_OPERATOR: Meaning = {
  class: 'unknown',
  suppresses: 'never',
  scope: 'message',
  subType: 'General',
  advice:
    'The operator of this server has ended the delivery. Ask the operator before you send the message again.',
  row: 'operator',
};

/**
 * Returns the change that an action makes to a recipient that it names and that waits or is held; undefined when the recipient stays as
 * it is.
 */
export function transitionBy(action: QueueActionRow, recipient: RecipientRow): Transition | undefined {
  const { verb, reason } = action;
  const because = reason === null ? '' : `: ${reason}`;
  switch (verb) {
    case 'hold':
      if (recipient.state === 'held') return undefined;
      return { cause: 'held', reason: 'operator', diagnostic: `The operator holds this mail${because}` };
    case 'cancel':
      return { cause: 'canceled', diagnostic: `The operator has canceled this mail${because}` };
    case 'fail': {
      const text = `The operator has ended the delivery of this mail${because}`;
      const report = { ...NO_REPORT, phase: 'local', text } as const;
      return { cause: 'bounced', report, meaning: FAILED_BY_OPERATOR, bounce: 'undetermined' };
    }
    case 'retry':
      return isRetried(action, recipient) ? { cause: 'retried', dueAt: action.createdAt } : undefined;
    case 'reroute': {
      const queue = rerouteQueue(recipient.queue, action.target ?? undefined);
      return queue === recipient.queue ? undefined : { cause: 'rerouted', queue };
    }
    case 'release':
      return undefined;
  }
}

/**
 * Returns true for a recipient that waits for another attempt. Scheduled mail keeps its time, and so does what waits for a probe or for
 * its broadcast.
 */
function isRetried({ createdAt }: QueueActionRow, { state, attempts, dueAt }: RecipientRow): boolean {
  return state !== 'held' && attempts > 0 && dueAt !== null && dueAt > createdAt;
}
