/**
 * Decides what an endpoint of one domain gets: the events of that domain, and of a message that arrived for several domains only the
 * recipients there.
 */

import { findApprovalById } from '../approvals/store.ts';
import type { Tx } from '../db/operation.ts';
import type { DomainRow, EventRow } from '../db/tables.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import { findDomainByName } from '../domains/sending-store.ts';
import { findDomainName } from '../domains/store.ts';
import { findEmailHead } from '../emails/store.ts';
import { type EventToFanOut, type EventType, findEvent } from '../events/store.ts';
import { findRun } from '../ledger/run-store.ts';
import type { Id } from '../system/ids.ts';

type DomainId = DomainRow['id'];
/** Returns the ids of the domains that an event belongs to. */
type FindDomains = (tx: Tx, event: EventToFanOut) => Promise<readonly (DomainId | null | undefined)[]>;

/** An email belongs to the domain that it is sent from. */
const ofEmail: FindDomains = async (tx, { tenantId, mode, emailId }) => {
  const head = await findEmailHead(tx, tenantId, { mode, domainId: null, id: emailId as Id<'em'> });
  return [head?.domainId];
};

/** A message that arrived belongs to the domains of all its recipients. */
const ofRecipients: FindDomains = async (tx, event) => {
  const { recipients } = await readData<{ recipients: readonly string[] }>(tx, event);
  const names = new Set(recipients.map(domainOf));
  const ids: (DomainId | undefined)[] = [];
  for (const name of names) ids.push((await findDomainByName(tx, event.tenantId, name))?.id);
  return ids;
};

const ofDomain: FindDomains = async (tx, event) => [
  (await readData<{ domainId: DomainId }>(tx, event)).domainId,
];

/** A broadcast belongs to the domain that it is sent from. */
const ofBroadcast: FindDomains = async (tx, event) => {
  const { id } = await readData<{ id: Id<'brd'> }>(tx, event);
  return [(await findRun(tx, id))?.domainId];
};

/** An approval belongs to the domain that the mail is sent from. */
const ofApproval: FindDomains = async (tx, event) => {
  const { id } = await readData<{ id: string }>(tx, event);
  return [(await findApprovalById(tx, id))?.domainId];
};

/** Contacts and suppressions belong to the tenant as a whole. */
const ofNone: FindDomains = async () => [];

const DOMAINS_OF: Readonly<Record<EventType, FindDomains>> = {
  'email.queued': ofEmail,
  'email.sent': ofEmail,
  'email.delivered': ofEmail,
  'email.bounced': ofEmail,
  'email.complained': ofEmail,
  'email.opened': ofEmail,
  'email.clicked': ofEmail,
  'email.delivery_delayed': ofEmail,
  'email.suppressed': ofEmail,
  'email.canceled': ofEmail,
  'email.held': ofEmail,
  'email.received': ofRecipients,
  'domain.verified': ofDomain,
  'domain.failed': ofDomain,
  'contact.created': ofNone,
  'contact.updated': ofNone,
  'contact.deleted': ofNone,
  'contact.unsubscribed': ofNone,
  'suppression.added': ofNone,
  'suppression.removed': ofNone,
  'broadcast.sent': ofBroadcast,
  'broadcast.paused': ofBroadcast,
  'broadcast.failed': ofBroadcast,
  'approval.requested': ofApproval,
  'approval.approved': ofApproval,
  'approval.declined': ofApproval,
  'approval.expired': ofApproval,
  'approval.withdrawn': ofApproval,
};

/** Returns the ids of the domains that an event belongs to: the endpoints of these domains get it. */
export async function findDomainsOfEvent(tx: Tx, event: EventToFanOut): Promise<ReadonlySet<string>> {
  const ids = await DOMAINS_OF[event.type as EventType](tx, event);
  return new Set(ids.filter((id) => typeof id === 'string'));
}

async function readData<Data>(tx: Tx, { id }: EventToFanOut): Promise<Data> {
  const event = await findEvent(tx, id);
  if (!event) throw new Error(`event ${id} waits for the fan-out and does not exist`);
  return JSON.parse(event.data) as Data;
}

function recipientsAt(recipients: readonly string[], domain: string): string[] {
  return recipients.filter((address) => domainOf(address) === domain);
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
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
