/**
 * The session of port 25: it takes mail from anybody for the recipients of this installation, and relays nothing. The
 * protocol is in mail/smtp/server.
 */

import { hasWrittenTo } from '../emails/store.ts';
import { logRefused } from '../events/mail-log.ts';
import { addressKey } from '../mail/address.ts';
import type { Recipient, Reply, Sender, Session, SmtpClient } from '../mail/smtp/server/session.ts';
import { addressSite } from '../system/address-block.ts';
import { AppError } from '../system/errors.ts';
import { requireCapacity } from '../system/guards/overload.ts';
import type { InboundApp } from './inbound-app.ts';
import { receiveMessage } from './receive.ts';
import { type AcceptedRecipient, decideRecipient } from './recipient.ts';
import type { Listing } from './sender/dnsbl.ts';

type Attempt = {
  client: Pick<SmtpClient, 'address' | 'helo'>;
  sender: string;
  recipient: AcceptedRecipient;
};

/** The checks of one connection. */
type SenderChecks = {
  /** Returns the refusal of a recipient. */
  refusalOf(attempt: Attempt): Promise<Reply | undefined>;
  /** Returns the lists that have the client and count as signs of spam for this transaction. */
  listings(): readonly Listing[];
  /** The transaction has ended. */
  reset(): void;
};

/** Answers about a transaction. The first recipient that needs one asks for it, and the others share it. */
type Known = {
  listings: readonly Listing[];
  deferral: Reply | undefined;
  isProven: Promise<boolean> | undefined;
};

const NOTHING: Known = { listings: [], deferral: undefined, isProven: undefined };

/** The client sends the message to its other recipients in another transaction (RFC 5321 section 4.5.3.1.10). */
const ONE_RECIPIENT: Reply = {
  code: 452,
  status: '4.5.3',
  text: 'A message without a sender has one recipient',
};

/** Returns a session, which serves one connection. */
export function createInboundSession(app: InboundApp): Session {
  let sender: Sender | undefined;
  let recipients: AcceptedRecipient[] = [];
  const checks = createSenderChecks(app);

  async function refusalOf({ address: to, dsn }: Recipient, client: SmtpClient): Promise<Reply | undefined> {
    const { address: from = '', sizeBytes } = sender ?? {};
    const decision = await decideRecipient(app, to, { sender: from, sizeBytes });
    if (decision.kind === 'refused') return decision.reply;
    const { recipient } = decision;
    const refusal = await checks.refusalOf({ client, sender: from, recipient });
    if (!refusal) recipients.push({ ...recipient, dsn });
    return refusal;
  }

  return {
    connect: async () => undefined,
    ehlo: async () => undefined,
    async mail(given, client) {
      requireCapacity(app);
      requireRate(app, client);
      sender = given;
      return undefined;
    },
    async rcpt(recipient, client) {
      // Nothing but bounces has no sender (RFC 5321 section 4.5.5), and each is about one message of one sender.
      if (sender?.address === '' && recipients.length > 0) return ONE_RECIPIENT;
      const { address: to } = recipient;
      const reply = await refusalOf(recipient, client);
      // Clients that guess addresses must not fill the disk with lines.
      if (reply && app.refusalLog.take(client.address).allowed)
        logRefused(app, client, { from: sender?.address ?? '', to: [to], reply });
      return reply;
    },
    async data(body, client) {
      const { address = '', utf8 = false, requireTls = false, dsn } = sender ?? {};
      const listings = checks.listings();
      const reply =
        app.senderRates.refuseKnown({ address: client.address, sender: address }) ??
        (await receiveMessage(
          app,
          { client, sender: address, utf8, requireTls, dsn, recipients, listings },
          body,
        ));
      app.inboundMetrics.answered(reply.code);
      if (reply.code >= 400) {
        const to = recipients.map((recipient) => recipient.address);
        logRefused(app, client, { from: address, to, reply });
      }
      return reply;
    },
    reset() {
      sender = undefined;
      recipients = [];
      checks.reset();
    },
    close() {},
  };
}

/**
 * Counts a message of the client.
 * @throws AppError rate_limited
 */
function requireRate({ guards, isTrustedRelay }: InboundApp, { address }: SmtpClient): void {
  if (isTrustedRelay(address) || guards.smtpClients.take(address).allowed) return;
  throw new AppError('rate_limited', 'Your address sends too many messages; try again later');
}

/**
 * Returns the checks of a new connection. They apply to mail for tenants alone: an address with a token of ours
 * proves that its sender was written to, and the postmaster must be reachable for those who are refused. A sender
 * that the tenant has written to is exempt when SPF proves that the client may send for its domain. Without a proof,
 * the replies would show anybody who claims a sender whether the tenant has written to it. With one, they show it
 * only to clients that may send for the domain. A signature proves nothing here, because it comes with the message.
 */
export function createSenderChecks(app: InboundApp): SenderChecks {
  const { dnsbl, greylisting } = app.config.inbound;
  const isEnabled = dnsbl.length > 0 || greylisting.enabled;
  /** The client is the same for the whole connection. */
  let asked: Promise<Listing[]> | undefined;
  let known = { ...NOTHING };

  async function deferralByGreylist({ client, sender, recipient }: Attempt): Promise<Reply | undefined> {
    if (!greylisting.enabled) return undefined;
    // The first recipient is enough to recognise a retry (RFC 6647 section 2.4), and is one entry instead of a hundred.
    if (known.deferral) return known.deferral;
    const { address } = recipient;
    return deferralReply(await app.greylist.check({ address: client.address, sender, recipient: address }));
  }

  /** SPF comes first for every sender, so that the delay of the reply does not show either whom the tenant has written to. */
  async function isExempt(attempt: Attempt): Promise<boolean> {
    const { sender, recipient } = attempt;
    if (sender === '' || recipient.tenantId === null) return false;
    known.isProven ??= isProven(app, attempt);
    return (await known.isProven) && hasWrittenTo(app.db.read, recipient.tenantId, addressKey(sender));
  }

  return {
    async refusalOf(attempt) {
      const { client, recipient } = attempt;
      if (!isEnabled || recipient.tenantId === null || app.isTrustedRelay(client.address)) return undefined;
      asked ??= app.blocklists.find(client.address);
      const listings = await asked;
      const refusal = refusalByLists(client.address, listings);
      const deferral = refusal ? undefined : await deferralByGreylist(attempt);
      const isClear = listings.length === 0 && !deferral;
      if (isClear || (await isExempt(attempt))) return undefined;
      known = { ...known, listings, deferral };
      if (refusal) app.inboundMetrics.senderRefused('dnsbl');
      else if (deferral) app.inboundMetrics.senderRefused('greylisting');
      return refusal ?? deferral;
    },
    listings: () => known.listings,
    reset() {
      known = { ...NOTHING };
    },
  };
}

/**
 * Returns true when SPF passes for the sender. The result is that of a message without content, which the same threads and
 * limits find out as that of any other.
 */
async function isProven(
  { authenticator, config }: InboundApp,
  { client: { address, helo = '' }, sender }: Attempt,
): Promise<boolean> {
  const { hostname } = config;
  const authentication = authenticator.begin({
    owner: addressSite(address),
    address,
    helo,
    sender,
    hostname,
  });
  return (await authentication.finish()).spf.result === 'pass';
}

/** X.7.1 is a refusal by policy (RFC 3463 section 3.8). */
function refusalByLists(address: string, listings: readonly Listing[]): Reply | undefined {
  const listing = listings.find(({ action }) => action === 'refuse');
  if (!listing) return undefined;
  const { zone, text } = listing;
  const reason = text === '' ? '' : `: ${text}`;
  return { code: 550, status: '5.7.1', text: `[${address}] is listed at ${zone}${reason}` };
}

/** Returns the reply that asks for a retry after so many seconds; undefined for none. */
function deferralReply(seconds: number): Reply | undefined {
  if (seconds === 0) return undefined;
  const text = `Your server is not known here yet; try again in ${seconds} s`;
  return { code: 451, status: '4.7.1', text };
}
