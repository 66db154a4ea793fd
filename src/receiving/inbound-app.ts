/** The app with what receiving mail needs besides. The listener and the delivery engine share it. */
import { isIPv6 } from 'node:net';
import type { App } from '../app.ts';
import { createInboundMetrics, type InboundMetrics } from '../inbound/metrics.ts';
import { type Authenticator, createAuthenticator } from '../mail/auth/authenticator.ts';
import { createReportReader, type ReportReader } from '../mail/reports/reader.ts';
import type { SenderRewriting } from '../mail/srs.ts';
import { createDirectory, type Directory } from '../mailbox-delivery/directory.ts';
import { senderRewritingOf } from '../mailbox-delivery/forward/proven-sender.ts';
import type { DecidingApp } from '../mailbox-delivery/scripts/delivery.ts';
import { type ReturnAddressKey, returnAddressKeyOf } from '../queue/return-path.ts';
import { blockList, type TargetGuard } from '../system/blocklist.ts';
import { createDns } from '../system/dns.ts';
import { createFetch } from '../system/fetch.ts';
import { type AddressLimit, createAddressLimit } from '../system/guards/address-limit.ts';
import { createLru } from '../system/lru.ts';
import { readMaxOpenFiles } from '../system/open-files.ts';
import { createRspamd, type Rspamd } from './rspamd.ts';
import { type Blocklists, createBlocklists } from './sender/dnsbl.ts';
import { createGreylist, type Greylist } from './sender/greylist.ts';
import { createSenderRates, type SenderRates } from './sender/rates.ts';

export type MailboxScripts = Pick<DecidingApp, 'mailboxDelivery' | 'scriptRunner'>;

export type InboundApp = App & {
  authenticator: Authenticator;
  inboundMetrics: InboundMetrics;
  directory: Directory;
  returnAddressKey: ReturnAddressKey;
  /** Returns true for the address of a relay of the operator, which has no limits of its own. */
  isTrustedRelay: (address: string) => boolean;
  blocklists: Blocklists;
  greylist: Greylist;
  senderRewriting: SenderRewriting;
  senderRates: SenderRates;
  /** The rspamd of the configuration; undefined when it names none. */
  rspamd: Rspamd | undefined;
  reportReader: ReportReader;
  /** Runs the scripts of mailboxes that may refuse mail; undefined where none runs. */
  mailboxScripts: MailboxScripts | undefined;
  /** Limits the lines about refused recipients of one client. */
  refusalLog: AddressLimit;
  /** Maximum number of files, connections among them, that the process may have open. */
  maxOpenFiles: number;
};

/** Maximum rate of the lines about refused recipients of one client. */
const REFUSAL_LINES = { requestsPerSecond: 0.1, burst: 10 };
/** The operator chooses the address of rspamd, which is often this machine. */
const ANY_TARGET: TargetGuard = { allows: () => true, keepAllowed: (_host, addresses) => [...addresses] };

/** Returns the app for received mail. Its threads start when they are first needed. */
export function createInboundApp(app: App, mailboxScripts?: MailboxScripts): InboundApp {
  const { dns, inbound } = app.config;
  const { url } = inbound.rspamd;
  const { clock, log, metrics } = app;
  const isTrustedRelay = createMatcher(inbound.trustedRelays);
  // Strangers decide how much is asked about them, so their questions must not use the slots and the cache of deliveries.
  const strangersDns = createDns({ clock, servers: dns.servers });
  return {
    ...app,
    authenticator: createAuthenticator(app, {
      dnsServers: dns.servers,
      trustedRelays: inbound.trustedRelays,
    }),
    inboundMetrics: createInboundMetrics(app),
    directory: createDirectory(app),
    returnAddressKey: returnAddressKeyOf(app),
    senderRewriting: senderRewritingOf(app),
    isTrustedRelay,
    blocklists: createBlocklists({ dns: strangersDns, clock, log, metrics }, inbound.dnsbl),
    greylist: createGreylist(app, inbound.greylisting),
    senderRates: createSenderRates(clock, isTrustedRelay),
    reportReader: createReportReader(app),
    mailboxScripts,
    refusalLog: createAddressLimit(clock, REFUSAL_LINES),
    maxOpenFiles: readMaxOpenFiles(),
    rspamd:
      url === ''
        ? undefined
        : createRspamd({ clock, log, metrics, fetch: createFetch(ANY_TARGET, app.dns) }, { url }),
  };
}

/** Maximum number of addresses whose answers are kept: those of the clients that are connected. Each message asks several times. */
const MAX_MATCHED_ADDRESSES = 1_000;

function createMatcher(blocks: readonly string[]): (address: string) => boolean {
  const list = blockList(blocks);
  const answers = createLru<string, boolean>(MAX_MATCHED_ADDRESSES);
  return (address) => {
    const known = answers.get(address);
    if (known !== undefined) return known;
    const isListed = list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
    answers.set(address, isListed);
    return isListed;
  };
}
