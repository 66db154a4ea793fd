/**
 * The rules of the configuration that its schema cannot express: names and addresses, and settings that need each other. The settings have the
 * right types and bounds already.
 */
import { isIP } from 'node:net';
import { isLoopback } from '../system/address-block.ts';
import { blockList } from '../system/blocklist.ts';
import { isResolver } from '../system/dns/servers.ts';
import { isHostName } from '../system/dns.ts';
import { errorMessage } from '../system/errors.ts';
import { findLimitFault } from './delivery.ts';
import { routeDomain } from './fields.ts';
import { findRouteFault } from './outbound.ts';
import type { ConfigFields } from './schema.ts';
import { findSourceFaults } from './sources.ts';

/** A rule that is broken. */
type Fault = {
  /** The setting whose value is to be changed, such as `https.redirectPort`. */
  setting: string;
  /** Says what is wrong, and names the setting. */
  says: string;
};
type Faults = Iterable<Fault>;

/** Yields the rules that a configuration breaks. */
export function* findFaults(config: ConfigFields): Faults {
  const { domains, http, smtp, inbound, outbound, delivery } = config;
  yield* findNameFaults(config);
  yield* findPortFaults(config);
  yield* findRetentionFaults(config);
  yield* findAddressFaults('domains.addresses', domains.addresses);
  yield* findNameServerFaults(config);
  yield* findUpdateFaults(config);
  yield* findOpenIdFaults(config);
  yield* findStandbyFaults(config);
  yield* findAddressFaults('http.trustedProxies', http.trustedProxies);
  yield* findAddressFaults('smtp.trustedProxies', smtp.trustedProxies);
  yield* findInboundFaults(inbound);
  yield* findBlockFaults('outbound.allowTargets', outbound.allowTargets);
  yield* findRouteFaults(outbound.routes);
  yield* findLimitFaults(delivery.limits);
  for (const { setting, says } of findSourceFaults(outbound)) yield partFault(`outbound.${setting}`, says);
}

/** Returns the fault of a setting, whose name begins the sentence. */
function fault(setting: string, says: string): Fault {
  return { setting, says: `"${setting}" ${says}` };
}

/** Returns the fault of a part of a setting, such as one item of a list. */
function partFault(setting: string, says: string): Fault {
  return { setting, says: `"${setting}": ${says}` };
}

/**
 * Header fields that webhook posts have already, and those that HTTP/1.1 uses for framing and routing (RFC 9110
 * section 7).
 */
const POST_HEADERS = [
  ...[
    'accept-encoding',
    'connection',
    'content-encoding',
    'content-length',
    'content-type',
    'expect',
    'host',
  ],
  ...['keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent'],
  ...['webhook-id', 'webhook-signature', 'webhook-timestamp', 'x-service-delivery', 'x-service-event'],
];

function* findNameFaults({ hostname, webhooks, dns, acme }: ConfigFields): Faults {
  if (!isHostName(hostname)) yield fault('hostname', 'is not a host name');
  if (POST_HEADERS.includes(webhooks.signatureHeader.toLowerCase()))
    yield partFault('webhooks.signatureHeader', 'a post has this header already');
  for (const setting of ['servers', 'trusted'] as const) {
    const notResolver = dns[setting].find((server) => !isResolver(server));
    if (notResolver === undefined) continue;
    yield partFault(
      `dns.${setting}`,
      `"${notResolver}" is not the address of a resolver such as 192.0.2.1 or [2001:db8::1]:53`,
    );
  }
  if (acme.directory !== '' && !acme.acceptTerms)
    yield fault(
      'acme.directory',
      'needs "acme.acceptTerms": read the terms of the authority, and set it to true if you agree',
    );
}

function* findPortFaults({ https, lmtp }: ConfigFields): Faults {
  if (https.port !== 0 && https.port === https.redirectPort)
    yield fault('https.redirectPort', 'must be another port than "https.port"');
  if (lmtp.address !== '' && !isLoopback(lmtp.address))
    yield fault('lmtp.address', 'must be an address of this machine alone, such as 127.0.0.1');
}

/**
 * Each pair names a limit and the longer one that it must not exceed: what depends on a row is deleted before the row.
 */
const RETENTION_ORDER = [
  ['contentDays', 'emailDays'],
  ['eventDays', 'emailDays'],
  ['webhookDays', 'eventDays'],
] as const;

function* findRetentionFaults({ retention }: ConfigFields): Faults {
  for (const [shorter, longer] of RETENTION_ORDER)
    if (retention[shorter] > retention[longer])
      yield fault(
        `retention.${shorter}`,
        `must be at most "retention.${longer}", which is ${retention[longer]}`,
      );
}

/** The name server needs the addresses for its own zone. */
function* findNameServerFaults({ nameserver, domains }: ConfigFields): Faults {
  yield* findAddressFaults('nameserver.addresses', nameserver.addresses);
  const wrong = nameserver.names.find((name) => !isHostName(name));
  if (wrong !== undefined) yield partFault('nameserver.names', `"${wrong}" is not a host name`);
  if (nameserver.enabled && domains.addresses.length === 0)
    yield fault('nameserver.enabled', 'needs "domains.addresses", the public addresses of this machine');
}

/** A store needs a key, since everything that is sent to it is encrypted. */
function* findStandbyFaults({ standby, backup }: ConfigFields): Faults {
  if (standby.store !== '' && backup.recipients.length === 0)
    yield fault('standby.store', 'needs "backup.recipients": what is sent is encrypted for them');
}

/** A provider needs a client and its secret, and HTTPS unless it is on this machine. */
function* findOpenIdFaults({ openid: { issuer, clientId, clientSecretFile } }: ConfigFields): Faults {
  if (issuer === '') return;
  const setting = 'openid.issuer';
  if (!URL.canParse(issuer)) return yield fault(setting, 'is not a URL');
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, '')))
    yield fault(setting, 'must begin with https://');
  if (clientId === '' || clientSecretFile === '')
    yield fault(setting, 'needs "openid.clientId" and "openid.clientSecretFile"');
}

/** Dynamic updates need a server, a key, zones and the addresses to publish, or nothing. */
function* findUpdateFaults({ hostname, dns, domains }: ConfigFields): Faults {
  const { server, key, zones } = dns.update;
  const wrong = zones.find((zone) => !isHostName(zone));
  if (wrong !== undefined) yield partFault('dns.update.zones', `"${wrong}" is not a zone`);
  if (server === '') return;
  const setting = 'dns.update.server';
  if (!isResolver(server)) yield partFault(setting, `"${server}" is not an address such as 192.0.2.53`);
  const isInZone = zones.some((zone) => `.${hostname}`.toLowerCase().endsWith(`.${zone}`.toLowerCase()));
  if (zones.length > 0 && !isInZone)
    yield { setting, says: `"dns.update.zones" must have the zone of the hostname, ${hostname}` };
  if (key === '' || zones.length === 0) yield fault(setting, 'needs "dns.update.key" and "dns.update.zones"');
  // Addresses that are looked up are missing while DNS fails, and their records would then be removed.
  if (domains.addresses.length === 0)
    yield fault(setting, 'needs "domains.addresses", the public addresses of this machine');
}

function* findInboundFaults({ trustedRelays, dnsbl }: ConfigFields['inbound']): Faults {
  yield* findBlockFaults('inbound.trustedRelays', trustedRelays);
  for (const { zone, answers } of dnsbl) {
    if (!isHostName(zone)) yield partFault('inbound.dnsbl', `"${zone}" is not a DNS name`);
    yield* findBlockFaults('inbound.dnsbl', answers);
  }
}

/** No two routes have the same name or are for the same mail. */
function* findRouteFaults(routes: ConfigFields['outbound']['routes']): Faults {
  const seen = new Map<string, string>();
  for (const { name, passwordFile, caFile, ...route } of routes) {
    const given = { hasPassword: passwordFile !== undefined, hasAuthorities: caFile !== undefined };
    const mail = `mail of ${route.tenant ?? 'all'} to ${routeDomain(route.domain ?? '')}`;
    const other = seen.get(name) ?? seen.get(mail);
    const says =
      other === undefined
        ? findRouteFault({ ...route, ...given })
        : `the route "${other}" has its name or is for the same mail`;
    if (says !== undefined) yield partFault('outbound.routes', `"${name}": ${says}`);
    seen.set(name, name).set(mail, name);
  }
}

function* findLimitFaults(limits: ConfigFields['delivery']['limits']): Faults {
  const seen = new Set<string>();
  for (const [index, limit] of limits.entries()) {
    const name = limit.provider ?? limit.host ?? '';
    const says = seen.has(name) ? 'is listed twice' : findLimitFault(limit);
    if (says !== undefined) yield partFault('delivery.limits', `limit ${index + 1} ("${name}") ${says}`);
    seen.add(name);
  }
}

function* findAddressFaults(setting: string, addresses: readonly string[]): Faults {
  const wrong = addresses.find((address) => isIP(address) === 0 || address.includes('%'));
  if (wrong !== undefined) yield partFault(setting, `${wrong} is not an IP address`);
}

function* findBlockFaults(setting: string, blocks: readonly string[]): Faults {
  try {
    blockList(blocks);
  } catch (error) {
    yield partFault(setting, errorMessage(error));
  }
}
