/**
 * Checks the sender at RCPT by blocklists and greylisting, as far as the operator has enabled them. They apply to mail for
 * tenants alone: an address with a token of ours proves that its sender was written to, and the postmaster must be reachable for
 * those who are refused.
 *
 * A sender that the tenant has written to is exempt when SPF proves that the client may send for its domain. Without a proof,
 * the replies would show anybody who claims a sender whether the tenant has written to it. With one, they show it only to clients
 * that may send for the domain. A signature proves nothing here, because it comes with the message.
 */
import { hasWrittenTo } from '../emails/store.ts';
import { addressKey } from '../mail/address.ts';
import type { Reply, SmtpClient } from '../mail/smtp/server/session.ts';
import { addressSite } from '../system/address-block.ts';
import type { InboundApp } from './inbound-app.ts';
import type { AcceptedRecipient } from './recipient.ts';
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

/** Returns the checks of a new connection. */
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
