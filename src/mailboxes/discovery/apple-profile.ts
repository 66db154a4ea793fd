/**
 * Writes the configuration profile by which Apple devices set up an account. It has no password: the device asks for it. Its
 * identifiers depend on the address alone, so that a profile that is installed again replaces the earlier one.
 */
import { createHash } from 'node:crypto';
import { type ClientConfig, type ClientService, clientServices } from '../../domains/client-services.ts';
import { addressKey } from '../../mail/address.ts';
import { element, textElement, xmlDocument } from '../../mail/xml.ts';

const DOCTYPE =
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n';

type Value = string | number | boolean | { [key: string]: Value } | readonly Value[];

type ProfileOf = { domain: string; address: string | undefined };

/** Returns the profile. Without an address, the device asks for it. */
export function formatAppleProfile(config: ClientConfig, { domain, address }: ProfileOf): string {
  const { hostname } = config;
  const name = address ?? domain;
  const identifier = [
    ...hostname.toLowerCase().split('.').toReversed(),
    'mail',
    digestOf(name).slice(0, 16),
  ].join('.');
  const account = {
    PayloadType: 'com.apple.mail.managed',
    PayloadVersion: 1,
    PayloadIdentifier: `${identifier}.account`,
    PayloadUUID: uuidOf(`${hostname} account ${name}`),
    PayloadDisplayName: name,
    EmailAccountDescription: name,
    EmailAccountType: 'EmailTypeIMAP',
    ...(address !== undefined && { EmailAddress: address }),
    ...serverOf(config, 'Incoming', { protocol: 'imap', address }),
    ...serverOf(config, 'Outgoing', { protocol: 'smtp', address }),
    OutgoingPasswordSameAsIncomingPassword: true,
  };
  const profile = {
    PayloadType: 'Configuration',
    PayloadVersion: 1,
    PayloadIdentifier: identifier,
    PayloadUUID: uuidOf(`${hostname} profile ${name}`),
    PayloadDisplayName: `Mail of ${name}`,
    PayloadOrganization: domain,
    PayloadRemovalDisallowed: false,
    PayloadContent: [account],
  };
  return xmlDocument(DOCTYPE + element('plist', formatValue(profile), { version: '1.0' }));
}

type Direction = { protocol: ClientService['protocol']; address: string | undefined };

/** Returns the settings of one direction, whose keys begin with `prefix`. */
function serverOf(
  config: ClientConfig,
  prefix: 'Incoming' | 'Outgoing',
  { protocol, address }: Direction,
): Record<string, Value> {
  const service = clientServices(config).find((one) => one.protocol === protocol);
  if (!service) return {};
  return {
    [`${prefix}MailServerAuthentication`]: 'EmailAuthPassword',
    [`${prefix}MailServerHostName`]: config.hostname,
    [`${prefix}MailServerPortNumber`]: service.port,
    [`${prefix}MailServerUseSSL`]: true,
    ...(address !== undefined && { [`${prefix}MailServerUsername`]: address }),
  };
}

function formatValue(value: Value): string {
  if (typeof value === 'string') return textElement('string', value);
  if (typeof value === 'number') return textElement('integer', value);
  if (typeof value === 'boolean') return textElement(value ? 'true' : 'false', '');
  if (Array.isArray(value)) return element('array', value.map(formatValue).join(''));
  const pairs = Object.entries(value).map(([key, one]) => textElement('key', key) + formatValue(one));
  return element('dict', pairs.join(''));
}

function digestOf(name: string): string {
  return createHash('sha256').update(addressKey(name)).digest('hex');
}

/** Returns a UUID made from a name (RFC 9562 section 5.8). */
function uuidOf(name: string): string {
  const hex = digestOf(name);
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(18, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-').toUpperCase();
}
