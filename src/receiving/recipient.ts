/**
 * Decides at RCPT what a recipient stands for. Each resolver knows one kind of recipients; they are asked in the order of
 * the list, and the first one that knows the address decides. A recipient that is accepted here is not refused later; its message can be.
 */
import type { InboundRouteRow, ReceivedRecipientRow } from '../db/inbound-tables.ts';
import type { DomainRow } from '../db/tables.ts';
import { sandboxDomain } from '../domains/name.ts';
import { findNamedDomain } from '../domains/receiving/store.ts';
import { bounceDomain } from '../domains/records.ts';
import { readReportLocalPart } from '../domains/report-address.ts';
import {
  hasInstallationSpaceFor,
  hasTooManyAnswers,
  MAX_RETURNED_BYTES,
  maxBytesFor,
} from '../inbound/space.ts';
import { addressForSql, addressKey, withoutTag } from '../mail/address.ts';
import { unsubscribeTarget } from '../mail-reports/unsubscribe.ts';
import { refusalOfMailbox } from '../mailbox-delivery/directory.ts';
import { mayBounce } from '../queue/feedback.ts';
import { readFeedbackLoopAddress, readReturnAddress } from '../queue/return-path.ts';
import { findMessage } from '../queue/store.ts';
import { findSharedRoute } from '../routes/store.ts';
import type { InboundApp } from './inbound-app.ts';

/** A thing that is done with the mail of an address: the kind of recipient that the address is, and whose. */
export type Target = Pick<ReceivedRecipientRow, 'kind' | 'targetId'>;

/** An address as the rest of the path sees it. The mail of an address with a mailbox and a route has both as its targets. */
type Resolved = {
  targets: readonly Target[];
  /** Tenant that the targets belong to; null for the installation itself. */
  tenantId: DomainRow['tenantId'] | null;
};

export type AcceptedRecipient = Resolved & {
  address: string;
  /** Parameters of RCPT about notifications (mail/smtp/dsn-parameters.ts); undefined when the client gave none. */
  dsn?: string | undefined;
};

/** The decision about a recipient. */
type RecipientDecision =
  | { kind: 'accepted'; recipient: AcceptedRecipient }
  | { kind: 'refused'; reply: Refusal };

/**
 * Statuses: X.1.1 is an address that does not exist, X.2.1 a mailbox that takes no mail, X.2.2 one that is full, X.3.4 a message that
 * is too large (RFC 3463 sections 3.2 to 3.4).
 */
type Refusal = { code: 450 | 452 | 550 | 552; status: string; text: string };

/** An address as resolvers see it. Both of its parts are in lower case, since letters are compared without case. */
type Asked = {
  /** The address as the client wrote it. */
  address: string;
  /** The envelope sender; empty for the null sender. */
  sender: string;
  localPart: string;
  domain: string;
  /** Returns the domain of the tenant that receives the mail of `domain`. It is looked up once. */
  findReceiver: () => Promise<Pick<DomainRow, 'id' | 'tenantId'> | undefined>;
};

/** Returns what the address stands for, or undefined when it is none of this resolver's kind. */
type Resolver = (app: InboundApp, asked: Asked) => Promise<Resolved | undefined>;

/** Local parts that every domain with mail has (RFC 5321 section 4.5.1, RFC 2142 section 4). */
const OPERATOR_NAMES: ReadonlySet<string> = new Set(['postmaster', 'abuse']);

/** Local part of an alias or a route that stands for all addresses of its domain. */
const ALL = '*';

/** The kinds of recipients, in the order of precedence. */
const RESOLVERS: readonly Resolver[] = [
  resolveReturnAddress,
  resolveRewrittenSender,
  resolveReport,
  resolveExactly,
  (app, asked) => findMailbox(app, asked, ALL),
  (app, asked) => findRoute(app, asked, ALL),
  resolveOperator,
];

/** The kinds of recipients of mail that another mail server hands over for mailboxes. */
const MAILBOX_RESOLVERS: readonly Resolver[] = [resolveMailbox, (app, asked) => findMailbox(app, asked, ALL)];

/** The message as far as its client has described it. */
type Mail = {
  /** Empty for the null sender. */
  sender: string;
  /** Size of the message; undefined when the client has not declared it. */
  sizeBytes: number | undefined;
};

/**
 * Accepts a recipient, or refuses it.
 *
 * @param address the argument of RCPT, in the form of the SMTP server (mail/smtp/server/session.ts)
 */
export function decideRecipient(app: InboundApp, address: string, mail: Mail): Promise<RecipientDecision> {
  return decide(app, { ...mail, address, resolvers: RESOLVERS });
}

/** Accepts a recipient that is a mailbox, also where a route has the same address, and refuses any other. */
export function decideMailbox(app: InboundApp, address: string, mail: Mail): Promise<RecipientDecision> {
  return decide(app, { ...mail, address, resolvers: MAILBOX_RESOLVERS });
}

type Question = Mail & { address: string; resolvers: readonly Resolver[] };

async function decide(app: InboundApp, question: Question): Promise<RecipientDecision> {
  const { address, sizeBytes } = question;
  const resolved = await resolveRecipient(app, question);
  const isGone = !!resolved?.tenantId && (await app.directory.isDeleting(resolved.tenantId));
  if (!resolved || isGone) {
    const text = `<${address}>: there is no such recipient here`;
    return { kind: 'refused', reply: { code: 550, status: '5.1.1', text } };
  }
  const { tenantId, targets } = resolved;
  for (const target of targets) {
    const refusal = await refusalOf(app, { ...target, tenantId }, sizeBytes);
    if (refusal) return { kind: 'refused', reply: { ...refusal, text: `<${address}>: ${refusal.text}` } };
  }
  return { kind: 'accepted', recipient: { ...resolved, address: addressForSql(address) } };
}

/**
 * Returns the refusal of a message to one target. It refuses the whole address: when a mailbox is full or suspended, its client keeps the
 * message, and the mailbox and the route get it together at a later attempt, so that neither loses it or gets it twice.
 */
async function refusalOf(
  app: InboundApp,
  target: Target & Pick<Resolved, 'tenantId'>,
  sizeBytes: number | undefined,
): Promise<Refusal | undefined> {
  // A message that is too large is refused before it is sent (RFC 1870 section 6.1).
  if ((sizeBytes ?? 0) > maxBytesFor([target])) {
    const text = `messages to it have at most ${MAX_RETURNED_BYTES} bytes`;
    return { code: 552, status: '5.3.4', text };
  }
  if (await hasTooManyAnswers(app.db.read, target))
    return { code: 550, status: '5.7.1', text: 'enough mail has come for this email' };
  const refusal = await refusalOfMailbox(app, target, sizeBytes);
  if (refusal) return refusal;
  if (await hasSpace(app, target, sizeBytes)) return undefined;
  return { code: 452, status: '4.2.2', text: 'the recipient has no space for more mail' };
}

function hasSpace(
  { db, directory }: InboundApp,
  { tenantId, kind, targetId }: Target & Pick<Resolved, 'tenantId'>,
  sizeBytes: number | undefined,
): Promise<boolean> {
  return tenantId === null
    ? hasInstallationSpaceFor(db.read, { kind, targetId }, sizeBytes)
    : directory.hasQuotaFor(tenantId, sizeBytes);
}

async function resolveRecipient(
  app: InboundApp,
  { address, sender, resolvers }: Question,
): Promise<Resolved | undefined> {
  const key = addressKey(address);
  const at = key.lastIndexOf('@');
  // The postmaster may be addressed without a domain (RFC 5321 section 4.1.1.3).
  const domain = at < 0 ? app.config.hostname.toLowerCase() : key.slice(at + 1);
  let receiver: ReturnType<Asked['findReceiver']> | undefined;
  const asked: Asked = {
    address,
    sender,
    localPart: at < 0 ? key : key.slice(0, at),
    domain,
    findReceiver: () => {
      receiver ??= app.directory.findReceiver(domain);
      return receiver;
    },
  };
  for (const resolve of resolvers) {
    const resolved = await resolve(app, asked);
    if (resolved) return resolved;
  }
  return undefined;
}

/**
 * Recognises the addresses at which bounces, complaints and the mail of readers who unsubscribe arrive. The token in the
 * local part proves that this installation made it, so that the domain, which may be one of a tenant, need not be looked up.
 * A return path that is too old for a bounce does not exist any more.
 */
async function resolveReturnAddress(
  { db, returnAddressKey, clock }: InboundApp,
  { localPart, sender }: Asked,
): Promise<Resolved | undefined> {
  const address = readReturnAddress(returnAddressKey, localPart);
  switch (address?.kind) {
    case undefined: {
      const provider = readFeedbackLoopAddress(returnAddressKey, localPart);
      return provider === undefined ? undefined : ofInstallation('complaint', provider);
    }
    case 'bounce':
      if (!mayBounce(address, clock.now())) return undefined;
      return ofInstallation('bounce', address.emailId);
    case 'forwarded': {
      // Only bounces come back to forwarded mail, so that nobody can send anything else through this installation.
      if (sender !== '' || !mayBounce(address, clock.now())) return undefined;
      const forwarded = await findMessage(db.read, address.emailId);
      return forwarded?.sender ? ofInstallation('srs', forwarded.sender) : undefined;
    }
    case 'complaint':
      return ofInstallation('complaint', address.emailId);
    case 'unsubscribe':
      return ofInstallation('unsubscribe', unsubscribeTarget(address));
  }
}

/**
 * Recognises the rewritten senders of mail that was forwarded. Only bounces come back to them, so that nobody can send anything else
 * through this installation.
 */
async function resolveRewrittenSender(
  { senderRewriting, clock, config }: InboundApp,
  { address, domain, sender }: Asked,
): Promise<Resolved | undefined> {
  if (sender !== '' || domain !== bounceDomain(config)) return undefined;
  const original = senderRewriting.reverse(address.slice(0, address.lastIndexOf('@')), clock.now());
  return original === undefined ? undefined : ofInstallation('srs', original);
}

/** Recognises the addresses for reports, which are at the hostname: that of a domain that a tenant has, and our own. */
async function resolveReport(
  { db, config }: InboundApp,
  { localPart, domain }: Asked,
): Promise<Resolved | undefined> {
  if (domain !== config.hostname.toLowerCase()) return undefined;
  const recipient = readReportLocalPart(localPart);
  if (!recipient) return undefined;
  if (recipient.kind === 'installation') return ofInstallation('report', domain);
  const found = await findNamedDomain(db.read, recipient.domainId);
  return found && ofInstallation('report', found.id);
}

/** Recognises an address of a tenant that has a mailbox, a route, or both, which then both get the mail. */
async function resolveExactly(app: InboundApp, asked: Asked): Promise<Resolved | undefined> {
  const mailbox = await resolveMailbox(app, asked);
  const route = await findFirst(asked, (localPart) => findRoute(app, asked, localPart));
  if (!mailbox || !route) return mailbox ?? route;
  // At the sandbox domain, a tenant may have had a route for an address with a tag before another one got the mailbox.
  if (mailbox.tenantId !== route.tenantId) return mailbox;
  return { ...mailbox, targets: [...mailbox.targets, ...route.targets] };
}

/** Recognises the addresses and the aliases of mailboxes. */
function resolveMailbox(app: InboundApp, asked: Asked): Promise<Resolved | undefined> {
  return findFirst(asked, (localPart) => findMailbox(app, asked, localPart));
}

/** Returns what is found for the whole local part, or else for the local part without its tag. */
async function findFirst(
  { localPart }: Asked,
  find: (localPart: string) => Promise<Resolved | undefined>,
): Promise<Resolved | undefined> {
  const name = withoutTag(localPart);
  return (await find(localPart)) ?? (name === undefined ? undefined : find(name));
}

/**
 * Returns the mailbox with this local part at the domain that is asked for. One whose tenant does not receive the mail of the domain any
 * more gets none.
 */
async function findMailbox(
  { directory, config }: InboundApp,
  { domain, findReceiver }: Asked,
  localPart: string,
): Promise<Resolved | undefined> {
  const isShared = domain === sandboxDomain(config);
  const receiver = isShared ? undefined : await findReceiver();
  if (!isShared && !receiver) return undefined;
  const mailbox = await directory.findMailbox(domain, `${localPart}@${domain}`);
  if (!mailbox || (receiver && receiver.tenantId !== mailbox.tenantId)) return undefined;
  return { targets: [{ kind: 'mailbox', targetId: mailbox.id }], tenantId: mailbox.tenantId };
}

/** Returns the route with this local part at the domain that is asked for. */
async function findRoute(
  { db, directory, config }: InboundApp,
  { domain, findReceiver }: Asked,
  localPart: string,
): Promise<Resolved | undefined> {
  const address = `${localPart}@${domain}`;
  if (domain === sandboxDomain(config)) return asPost(await findSharedRoute(db.read, address));
  const receiver = await findReceiver();
  if (!receiver) return undefined;
  const { tenantId } = receiver;
  const id = await directory.findRoute(tenantId, address);
  return asPost(id && { id, tenantId });
}

function asPost(route: Pick<InboundRouteRow, 'id' | 'tenantId'> | undefined): Resolved | undefined {
  return route && { targets: [{ kind: 'post', targetId: route.id }], tenantId: route.tenantId };
}

function ofInstallation(kind: Target['kind'], targetId: string): Resolved {
  return { targets: [{ kind, targetId }], tenantId: null };
}

async function resolveOperator(app: InboundApp, asked: Asked): Promise<Resolved | undefined> {
  if (!OPERATOR_NAMES.has(asked.localPart)) return undefined;
  const { config } = app;
  const own = [config.hostname.toLowerCase(), bounceDomain(config), sandboxDomain(config)];
  const isReceived = own.includes(asked.domain) || (await asked.findReceiver()) !== undefined;
  return isReceived ? ofInstallation('postmaster', asked.domain) : undefined;
}
