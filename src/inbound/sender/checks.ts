/**
 * Checks the sender at RCPT by blocklists and greylisting, as far as the operator has enabled them. They apply to mail for
 * tenants alone: an address with a token of ours proves that its sender was written to, and the postmaster must be reachable for
 * those who are refused. A sender that the tenant has written to is exempt too.
 */
import type { App } from '../../app.ts';
import { hasWrittenTo } from '../../emails/store.ts';
import { addressKey } from '../../mail/address.ts';
import type { Reply, SmtpClient } from '../../mail/smtp/server/session.ts';
import type { Metrics } from '../../system/metrics.ts';
import type { AcceptedRecipient } from '../recipient.ts';
import type { Blocklists, Listing } from './dnsbl.ts';
import type { Greylist } from './greylist.ts';

export type SenderChecksApp = Pick<App, 'db' | 'config'> & {
  metrics: Metrics;
  /** Returns true for the address of a relay of the operator, whose mail was checked before. */
  isTrustedRelay: (address: string) => boolean;
  blocklists: Blocklists;
  greylist: Greylist;
};

type Attempt = { client: Pick<SmtpClient, 'address'>; sender: string; recipient: AcceptedRecipient };

/** The checks of one connection. */
type SenderChecks = {
  /** Returns the refusal of a recipient. */
  refusalOf(attempt: Attempt): Promise<Reply | undefined>;
  /** Returns the lists that have the client and count as signs of spam for this transaction. */
  listings(): readonly Listing[];
  /** The transaction has ended. */
  reset(): void;
};

/** Returns the checks of a new connection. */
export function createSenderChecks(app: SenderChecksApp): SenderChecks {
  const { dnsbl, greylisting } = app.config.inbound;
  const isEnabled = dnsbl.length > 0 || greylisting.enabled;
  const refusals = app.metrics.counter(
    'inbound_sender_refusals_total',
    'Recipients refused for their sender.',
    ['check'],
  );
  /** The client is the same for the whole connection. */
  let asked: Promise<Listing[]> | undefined;
  let listings: readonly Listing[] = [];
  let deferral: Reply | undefined;

  async function refusalByLists({ client }: Attempt): Promise<Reply | undefined> {
    asked ??= app.blocklists.find(client.address);
    listings = await asked;
    const listing = listings.find(({ action }) => action === 'refuse');
    if (!listing) return undefined;
    refusals.inc({ check: 'dnsbl' });
    return listedReply(client.address, listing);
  }

  async function deferralByGreylist({ client, sender, recipient }: Attempt): Promise<Reply | undefined> {
    if (!greylisting.enabled) return undefined;
    // The first recipient is enough to recognise a retry (RFC 6647 section 2.4), and is one entry instead of a hundred.
    if (deferral) return deferral;
    const seconds = await app.greylist.check({
      address: client.address,
      sender,
      recipient: recipient.address,
    });
    if (seconds === 0) return undefined;
    refusals.inc({ check: 'greylisting' });
    const text = `Your server is not known here yet; try again in ${seconds} s`;
    deferral = { code: 451, status: '4.7.1', text };
    return deferral;
  }

  return {
    async refusalOf(attempt) {
      const { client, sender, recipient } = attempt;
      const { tenantId } = recipient;
      if (!isEnabled || tenantId === null || app.isTrustedRelay(client.address)) return undefined;
      if (sender !== '' && (await hasWrittenTo(app.db.read, tenantId, addressKey(sender)))) {
        return undefined;
      }
      return (await refusalByLists(attempt)) ?? (await deferralByGreylist(attempt));
    },
    listings: () => listings,
    reset() {
      deferral = undefined;
      listings = [];
    },
  };
}

/** X.7.1 is a refusal by policy (RFC 3463 section 3.8). */
function listedReply(address: string, { zone, text }: Listing): Reply {
  const reason = text === '' ? '' : `: ${text}`;
  return { code: 550, status: '5.7.1', text: `[${address}] is listed at ${zone}${reason}` };
}
