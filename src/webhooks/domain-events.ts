/**
 * Decides what an endpoint of one domain gets: the events of that domain, and of a message that arrived for several domains only the
 * recipients there.
 */
import { findRun } from '../broadcasts/runs/store.ts';
import type { Tx } from '../db/operation.ts';
import type { EventRow } from '../db/tables.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { findNamedDomain } from '../domains/receiving/store.ts';
import { findDomainName } from '../domains/store.ts';
import { findEmailHead } from '../emails/store.ts';
import { type EventToFanOut, type EventType, findEvent } from '../events/store.ts';
import type { Id } from '../system/ids.ts';

type DomainId = NonNullable<WebhookEndpointRow['domainId']>;
type Belongs = (tx: Tx, event: EventToFanOut, domainId: DomainId) => Promise<boolean>;

/** An email belongs to the domain that it is sent from. */
const byEmail: Belongs = async (tx, { tenantId, mode, emailId }, domainId) =>
  (await findEmailHead(tx, tenantId, { mode, domainId, id: emailId as Id<'em'> })) !== undefined;

/** A message that arrived belongs to the domains of all its recipients. */
const byRecipients: Belongs = async (tx, event, domainId) => {
  const domain = await findNamedDomain(tx, domainId);
  const { recipients } = await readData<{ recipients: readonly string[] }>(tx, event);
  return domain !== undefined && recipientsAt(recipients, domain.name).length > 0;
};

const byDomain: Belongs = async (tx, event, domainId) =>
  (await readData<{ domainId: string }>(tx, event)).domainId === domainId;

/** A broadcast belongs to the domain that it is sent from. */
const byBroadcast: Belongs = async (tx, event, domainId) => {
  const { id } = await readData<{ id: Id<'brd'> }>(tx, event);
  return (await findRun(tx, id))?.domainId === domainId;
};

/** Contacts and suppressions belong to the tenant as a whole. */
const never: Belongs = async () => false;

const BELONGS: Readonly<Record<EventType, Belongs>> = {
  'email.queued': byEmail,
  'email.sent': byEmail,
  'email.delivered': byEmail,
  'email.bounced': byEmail,
  'email.complained': byEmail,
  'email.opened': byEmail,
  'email.clicked': byEmail,
  'email.delivery_delayed': byEmail,
  'email.suppressed': byEmail,
  'email.canceled': byEmail,
  'email.held': byEmail,
  'email.received': byRecipients,
  'domain.verified': byDomain,
  'domain.failed': byDomain,
  'contact.created': never,
  'contact.updated': never,
  'contact.deleted': never,
  'contact.unsubscribed': never,
  'suppression.added': never,
  'suppression.removed': never,
  'broadcast.sent': byBroadcast,
  'broadcast.paused': byBroadcast,
  'broadcast.failed': byBroadcast,
};

/** Returns true when an endpoint of this domain gets the event. */
export async function isEventOfDomain(tx: Tx, event: EventToFanOut, domainId: DomainId): Promise<boolean> {
  return BELONGS[event.type as EventType](tx, event, domainId);
}

async function readData<Data>(tx: Tx, { id }: EventToFanOut): Promise<Data> {
  const event = await findEvent(tx, id);
  if (!event) throw new Error(`event ${id} waits for the fan-out and does not exist`);
  return JSON.parse(event.data) as Data;
}

function recipientsAt(recipients: readonly string[], domain: string): string[] {
  return recipients.filter((address) => address.toLowerCase().endsWith(`@${domain}`));
}

/**
 * Returns the data of an event as an endpoint gets it: one of a domain sees no recipients at other domains of its tenant. The name counts also
 * once the domain is deleted, since its last posts may still be due.
 */
export async function dataForEndpoint(
  tx: Tx,
  { type, data }: Pick<EventRow, 'type' | 'data'>,
  { domainId }: Pick<WebhookEndpointRow, 'domainId'>,
): Promise<string> {
  if (domainId === null || type !== 'email.received') return data;
  const name = await findDomainName(tx, domainId);
  const whole = JSON.parse(data) as { recipients: readonly string[] };
  const recipients = name === undefined ? [] : recipientsAt(whole.recipients, name);
  return JSON.stringify({ ...whole, to: recipients[0] ?? '', recipients });
}
