/** The wishes of the operator: the options of the command, and the answers to its questions. */
import { isIP } from 'node:net';
import { parseMailbox } from '../../mail/address.ts';
import { isHostName } from '../../system/dns.ts';
import { UsageError } from '../errors.ts';
import type { Terminal } from '../terminal.ts';

export type SetupOptions = {
  hostname?: string;
  address?: string[];
  relay?: string;
  behindProxy?: ProxyKind;
  ipv4Only?: true;
  /** Directory of the authority; false for none. */
  acme?: string | false;
  testTo?: string;
  /** Time in seconds for which DNS and certificates are waited for; false for none. */
  wait?: number | false;
  yes?: true;
};

export const PROXIES = ['caddy', 'nginx'] as const;
export type ProxyKind = (typeof PROXIES)[number];

type RelayAnswer = {
  host: string;
  port: number;
  tls: 'starttls' | 'implicit';
  user: string | undefined;
};

export type Answers = {
  email: string;
  domain: string;
  /** Host name that was asked for; undefined for that of the configuration, or else `mail.<domain>`. */
  hostname: string | undefined;
  addresses: readonly string[];
  relay: RelayAnswer | undefined;
  behindProxy: ProxyKind | undefined;
  isIpv4Only: boolean;
  /** Directory of the authority; undefined for none. */
  acme: string | undefined;
  /** True when an option has named the authority. A configuration that is there already gets no other. */
  isAcmeNamed: boolean;
  testTo: string | undefined;
  waitMs: number;
  /** False when nobody is asked anything. */
  isInteractive: boolean;
};

/** Directory of the authority that is free of charge and that every program trusts. */
const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';
/** Time for which DNS and certificates are waited for, in seconds, unless the operator says another. */
const DEFAULT_WAIT_SECONDS = 600;

/**
 * Reads the options.
 * @throws UsageError
 */
export function readAnswers(address: string, options: SetupOptions, terminal: Terminal): Answers {
  const mailbox = parseMailbox(address);
  if (!mailbox || mailbox.name !== undefined || !isHostName(mailbox.domain))
    throw new UsageError(`"${address}" is not an address such as you@example.com`);
  const isInteractive = options.yes === undefined;
  if (isInteractive && !terminal.interactive)
    throw new UsageError("nobody can be asked here: add --yes, which accepts the terms of Let's Encrypt too");
  const { hostname, address: addresses = [], acme = LETS_ENCRYPT, wait = DEFAULT_WAIT_SECONDS } = options;
  if (hostname !== undefined && !isHostName(hostname))
    throw new UsageError(`"${hostname}" is not a host name such as mail.example.com`);
  const wrong = addresses.find((one) => isIP(one) === 0);
  if (wrong !== undefined) throw new UsageError(`--address: "${wrong}" is not an IP address`);
  if (options.testTo !== undefined && !parseMailbox(options.testTo))
    throw new UsageError(`--test-to: "${options.testTo}" is not an address`);
  return {
    email: mailbox.address,
    domain: mailbox.domain.toLowerCase(),
    hostname: hostname?.toLowerCase().replace(/\.$/, ''),
    addresses,
    relay: options.relay === undefined ? undefined : readRelay(options.relay),
    behindProxy: options.behindProxy,
    isIpv4Only: options.ipv4Only ?? false,
    acme: acme === false ? undefined : acme,
    isAcmeNamed: options.acme !== undefined,
    testTo: options.testTo,
    waitMs: wait === false ? 0 : wait * 1_000,
    isInteractive,
  };
}

/** Ports of submission with STARTTLS, and with TLS from the first byte (RFC 8314 section 3.3). */
const RELAY_PORTS = { starttls: 587, implicit: 465 };

/**
 * Reads the URL of a relay, such as `smtp://user@relay.example` or `smtps://relay.example:465`.
 * @throws UsageError
 */
function readRelay(text: string): RelayAnswer {
  const [, scheme, user, host, port] =
    /^(smtps?):\/\/(?:(.+)@)?([A-Za-z0-9.-]+)(?::(\d{1,5}))?\/?$/.exec(text) ?? [];
  if (scheme === undefined || host === undefined || !(isHostName(host) || isIP(host) === 4))
    throw new UsageError(`--relay: "${text}" is not a URL such as smtp://user@relay.example`);
  if (user?.includes(':'))
    throw new UsageError(
      '--relay: the password is read from standard input, so that no other user of this machine sees it',
    );
  const tls = scheme === 'smtps' ? 'implicit' : 'starttls';
  return {
    host,
    port: port === undefined ? RELAY_PORTS[tls] : Number(port),
    tls,
    user: user === undefined ? undefined : decodeURIComponent(user),
  };
}
