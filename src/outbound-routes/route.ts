/**
 * A route says where mail leaves this installation: to the MX hosts of its domain, or to a relay. It is for all mail, or for
 * that of a tenant, to a domain, or both. Only the operator sets routes, in the configuration or by the control socket.
 */
import { createHash } from 'node:crypto';
import type { TlsWord } from '../mail/tls-policy/host-tls.ts';

/** A secret or a file of the operator, which is read when a session opens. */
type Stored<Kind extends string, Value extends string> = { kind: Kind } & Record<Value, string>;
export type Password = Stored<'sealed', 'sealed'> | Stored<'file', 'path'>;
export type Authorities = Stored<'pem', 'pem'> | Stored<'file', 'path'>;

export type Relay = {
  /** Name of its route. */
  route: string;
  /** Names or IP addresses, in the order in which they are tried. */
  hosts: readonly string[];
  port: number;
  tls: 'starttls' | 'implicit';
  /** Name that the certificates of all hosts are valid for; null when each has its own name. */
  tlsName: string | null;
  /** The only authorities that are trusted; null for those of the system. */
  authorities: Authorities | null;
  /** True when the hosts may have private addresses: the operator's exception to the guard of all other connections. */
  isPrivate: boolean;
  /** Null when the relay knows this machine by its address. */
  login: { user: string; password: Password } | null;
  /** Maximum number of concurrent connections; null for that of every site. */
  connections: number | null;
  /** Maximum number of recipients per minute; null for no limit. */
  recipientsPerMinute: number | null;
};

export type OutboundRoute = {
  name: string;
  /** Tenant whose mail takes the route; null for that of all tenants. */
  tenantId: string | null;
  /** Domain of the recipients, in lower case; null for all domains. */
  domain: string | null;
  /** Null when mail goes to the MX hosts of its domain. */
  relay: Relay | null;
  /** The operator's word on TLS with MX hosts; null when the policies of the domain decide. A relay always has verified TLS. */
  tlsPolicy: TlsWord | null;
  source: 'configuration' | 'stored';
};

/** The mail that a route is looked up for. */
export type RoutedMail = { tenantId: string; domain: string };

/** Default port of each kind of TLS (RFC 8314 section 7.3, RFC 6409 section 3.1). */
export const DEFAULT_PORTS = { starttls: 587, implicit: 465 } as const;

export function isFor({ tenantId, domain }: OutboundRoute, mail: RoutedMail): boolean {
  return (tenantId ?? mail.tenantId) === mail.tenantId && (domain ?? mail.domain) === mail.domain;
}

/**
 * Returns the most specific of the routes, all of which are for the same mail: a domain counts more than a tenant, because it says
 * something about the receiver. The first of equals wins.
 */
export function mostSpecific(routes: readonly OutboundRoute[]): OutboundRoute | undefined {
  const rank = ({ tenantId, domain }: OutboundRoute) =>
    (domain === null ? 0 : 2) + (tenantId === null ? 0 : 1);
  return routes.toSorted((a, b) => rank(b) - rank(a))[0];
}

/** Number of characters that tell the settings of a relay apart. */
const FINGERPRINT_CHARACTERS = 8;

/**
 * Returns the key of the site of a relay. It contains the settings of the relay, so that after each change mail takes new
 * connections and nothing that was learned about the old settings counts. It has a space, as no key of hosts has.
 */
export function siteOfRelay(relay: Relay): string {
  const settings = createHash('sha256').update(JSON.stringify(relay)).digest('hex');
  return `relay ${relay.route} ${settings.slice(0, FINGERPRINT_CHARACTERS)}`;
}
