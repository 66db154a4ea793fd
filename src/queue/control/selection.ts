/**
 * A selection names mail of all tenants by its email, domain, site, tenant, kind and class of its last reply. Mail is selected when every
 * criterion that is given holds; a selection without criteria names all mail.
 */
import type { QueueActionRow } from '../../db/queue-tables.ts';
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import { type DeliveryQueueName, parseQueueKey } from '../queue-key.ts';

export type Selection = Pick<QueueActionRow, 'emailId' | 'domain' | 'site' | 'tenantId' | 'kind' | 'class'>;

/** The names of the criteria, in the order in which they are shown. */
const CRITERIA = ['emailId', 'domain', 'site', 'tenantId', 'kind', 'class'] as const;

/** The selection of all mail. */
export const EVERYTHING: Selection = {
  emailId: null,
  domain: null,
  site: null,
  tenantId: null,
  kind: null,
  class: null,
};

/** Returns the criteria alone. */
export function criteriaOf(row: Selection): Selection {
  const { emailId, domain, site, tenantId, kind, class: replyClass } = row;
  return { emailId, domain, site, tenantId, kind, class: replyClass };
}

/** Returns true when mail for the domain goes to the site that the selection names. */
export type IsAtSite = (domain: string) => boolean;

/** Returns true when the selection has no criteria. */
export function isEverything(selection: Selection): boolean {
  return CRITERIA.every((name) => selection[name] === null);
}

/** Returns true when the selection may name mail of the delivery queue. */
export function mayCover(selection: Selection, queue: DeliveryQueueName, isAtSite: IsAtSite): boolean {
  const { domain, site, tenantId, kind } = selection;
  // All test mail shares one queue, whatever its domain is.
  const hasDomain = queue.mode === 'test' || domain === null || domain === queue.domain;
  return (
    hasDomain &&
    (tenantId === null || tenantId === queue.tenantId) &&
    (kind === null || kind === queue.kind) &&
    (site === null || isAtSite(queue.domain))
  );
}

type SelectedRecipient = Pick<RecipientRow, 'messageId' | 'domain' | 'queue' | 'class'>;

/** Returns true when the selection names the recipient. Its tenant is the one whose share of the connections its mail uses. */
export function covers(selection: Selection, recipient: SelectedRecipient, isAtSite: IsAtSite): boolean {
  return (
    mayCover(selection, parseQueueKey(recipient.queue), isAtSite) &&
    (selection.emailId === null || selection.emailId === recipient.messageId) &&
    (selection.domain === null || selection.domain === recipient.domain) &&
    (selection.class === null || selection.class === recipient.class)
  );
}

/** Returns true when whatever `inner` names is named by `outer`, as far as the criteria alone say. */
export function isWithin(inner: Selection, outer: Selection): boolean {
  return CRITERIA.every((name) => outer[name] === null || outer[name] === inner[name]);
}

/** Sorts before every character that can follow in a key, and after the space between the parts of a key. */
const PAST = '!';

/** Returns the smallest key behind a delivery queue. */
export function keyAfter(key: string): string {
  return `${key}${PAST}`;
}

/**
 * Returns the smallest key at which the next delivery queue of the selection may stand, behind a queue that it does not name. Keys are
 * ordered by mode, kind, tenant and domain, so that a search skips the queues of other tenants and of other domains.
 */
export function seekPast(key: string, { tenantId, kind, domain }: Selection): string {
  const queue = parseQueueKey(key);
  if (kind !== null && kind !== queue.kind) return keyAfter(`${queue.mode} ${queue.kind}`);
  const ofKind = `${queue.mode} ${queue.kind}`;
  if (tenantId !== null && tenantId !== queue.tenantId)
    return tenantId > queue.tenantId ? `${ofKind} ${tenantId}` : keyAfter(ofKind);
  if (domain === null || queue.mode === 'test') return keyAfter(key);
  const wanted = `${ofKind} ${queue.tenantId} ${domain}`;
  const candidates = [wanted, `${wanted}>`, keyAfter(`${ofKind} ${queue.tenantId}`)];
  return candidates.find((candidate) => candidate > key) ?? keyAfter(key);
}

/** Returns the time until which mail must have been accepted, in Unix milliseconds, to be named by an action of this verb. */
function acceptedUntil({ verb, createdAt }: Pick<QueueActionRow, 'verb' | 'createdAt'>): number {
  return verb === 'fail' || verb === 'cancel' ? createdAt : Number.MAX_SAFE_INTEGER;
}

/** Returns true when mail of this age is named by an action. What is accepted after a `fail` or `cancel` is other mail. */
export function isOldEnough(
  { createdAt }: Pick<MessageRow, 'createdAt'>,
  action: Pick<QueueActionRow, 'verb' | 'createdAt'>,
): boolean {
  return createdAt <= acceptedUntil(action);
}
