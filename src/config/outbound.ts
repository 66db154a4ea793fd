/** The section of the configuration for connections that the daemon opens, and for the routes of outgoing mail. */
import { isIP } from 'node:net';
import { type Static, Type } from 'typebox';
import { isHostName } from '../system/dns.ts';
import { port, routeDomain, section } from './fields.ts';
import { sourceFields } from './sources.ts';

/** Maximum number of routes in the configuration. They are compared with each queue of mail; those of the database are not. */
const MAX_CONFIGURED_ROUTES = 100;
/** Maximum number of hosts of a relay. More would not be tried for one mail (mail/mx.ts). */
const MAX_RELAY_HOSTS = 5;
/** Maximum number of characters of a login. Servers take at most 12,288 octets in a line with both, in base64 (RFC 4954 section 4). */
export const MAX_LOGIN_CHARACTERS = 1_000;
/** Maximum number of connections to a relay, as many as to all sites. */
const MAX_RELAY_CONNECTIONS = 2_000;
const MAX_RECIPIENTS_PER_MINUTE = 1_000_000;

/** Fields of a route, without those that hold a secret. The configuration and the operator's API have them in common. */
export const routeFields = {
  domain: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
  hosts: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: MAX_RELAY_HOSTS })),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  tls: Type.Optional(Type.Enum(['starttls', 'implicit'])),
  tlsName: Type.Optional(Type.String()),
  // A NUL ends the user name of AUTH PLAIN (RFC 4616 section 2).
  user: Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_LOGIN_CHARACTERS, pattern: '^[^\\u0000-\\u001f]+$' }),
  ),
  private: Type.Optional(Type.Boolean()),
  connections: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RELAY_CONNECTIONS })),
  recipientsPerMinute: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RECIPIENTS_PER_MINUTE })),
  tlsPolicy: Type.Optional(Type.Enum(['required-verified', 'required', 'opportunistic', 'none'])),
};
export const routeName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,39}$' });

const configuredRoute = Type.Object(
  {
    name: routeName,
    tenant: Type.Optional(Type.String({ pattern: '^ten_[A-Za-z0-9]+$' })),
    ...routeFields,
    passwordFile: Type.Optional(Type.String({ minLength: 1 })),
    caFile: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);
export type ConfiguredRoute = Static<typeof configuredRoute>;

export const outboundSection = section('Connections that the daemon opens.', {
  smtpPort: port(25, 'Port of receiving mail servers. Anything but 25 is for tests.'),
  ipv6: Type.Boolean({
    default: true,
    description:
      'Delivers mail over IPv6 too. False where the IPv6 address of this machine has no reverse DNS, which large receivers ask for.',
  }),
  allowTargets: Type.Array(Type.String(), {
    default: [],
    description: 'Private address blocks that may be connected to nevertheless, such as 127.0.0.0/8.',
  }),
  dane: Type.Boolean({
    default: true,
    description:
      'Obeys DANE of others (RFC 7672) where every resolver is trusted about DNSSEC (dns.trusted) and validates.',
  }),
  mtaSts: Type.Boolean({ default: true, description: 'Obeys the MTA-STS policies of others (RFC 8461).' }),
  tlsReports: Type.Boolean({
    default: true,
    description:
      'Sends daily reports about TLS (RFC 8460) to the domains that ask for them. They are signed for the host name.',
  }),
  routes: Type.Array(configuredRoute, {
    maxItems: MAX_CONFIGURED_ROUTES,
    default: [],
    description:
      'Routes of outgoing mail, such as [{ name: provider, hosts: [smtp.example.net], user: me, passwordFile: provider.password }]. A route is for all mail, or for that of a "tenant" (its id), to a "domain", or both; the most specific one counts. ' +
      'With "hosts" mail goes through that relay, by "tls: starttls" (port 587) or "tls: implicit" (port 465) with a valid certificate; without, to the MX hosts of its domain, where "tlsPolicy" (required-verified, required, opportunistic or none) stands above DANE and MTA-STS. ' +
      'A relative path starts at the folder of this file. docs/relays.md describes every field. Routes can also be set with "postrider route".',
  }),
  ...sourceFields,
});

type RouteSettings = Pick<ConfiguredRoute, keyof typeof routeFields> & {
  hasPassword: boolean;
  hasAuthorities: boolean;
};

/** Returns what is wrong with a route that has the right shape, as a sentence without its subject; undefined when nothing is. */
export function findRouteFault(route: RouteSettings): string | undefined {
  const { domain, hosts, user, tlsName, hasPassword, tlsPolicy } = route;
  if (domain !== undefined && !isHostName(routeDomain(domain))) return `"${domain}" is not a domain`;
  if (hosts === undefined) return relaySettingOf(route);
  if (tlsPolicy !== undefined) return '"tlsPolicy" is for MX hosts: TLS with a relay is always verified';
  const wrongHost = hosts.find((host) => isIP(host) === 0 && !isHostName(host));
  if (wrongHost !== undefined)
    return `"${wrongHost}" is not the name or the address of a host; the port is a setting of its own`;
  if (tlsName !== undefined && !isHostName(tlsName)) return `"${tlsName}" is not a host name`;
  if ((user !== undefined) !== hasPassword) return 'a user needs a password, and a password a user';
  return undefined;
}

/** Names a setting of a relay in a route that delivers by MX: the hosts were probably forgotten. */
function relaySettingOf({ hasPassword, hasAuthorities, ...route }: RouteSettings) {
  const given = Object.keys(routeFields).find(
    (field) =>
      field !== 'domain' && field !== 'tlsPolicy' && route[field as keyof typeof route] !== undefined,
  );
  if (given !== undefined) return `"${given}" needs "hosts"`;
  return hasPassword || hasAuthorities ? 'a password or an authority needs "hosts"' : undefined;
}
