/**
 * Reads the names of sending domains and of tracking hosts. A name has the form that addresses give it, so that a
 * sender and its domain compare as equal text. DNS proves that the caller owns the name (verify.ts).
 */
import type { Config } from '../config/config.ts';
import { parseMailbox } from '../mail/address.ts';
import { isSameOrBelow } from '../mail/domain-names.ts';
import { invalid } from '../system/errors.ts';
import { bounceDomain, SELECTOR_CHARACTERS, trackingTarget } from './records.ts';

/**
 * Maximum length of a domain name. RFC 1035 section 2.3.4 allows 255 octets on the wire, which is 253 as text; the longest
 * name that is looked up is `<selector>._domainkey.<domain>`.
 */
const MAX_DOMAIN_CHARACTERS = 253 - SELECTOR_CHARACTERS - '._domainkey.'.length;

/** Returns the domain of the sandbox, `sandbox.<hostname>`. */
export function sandboxDomain({ hostname }: Pick<Config, 'hostname'>): string {
  return `sandbox.${hostname.toLowerCase()}`;
}

/** Returns the domain of the simulator, `simulator.<hostname>`. */
export function simulatorDomain({ hostname }: Pick<Config, 'hostname'>): string {
  return `simulator.${hostname.toLowerCase()}`;
}

/**
 * Returns the name of a sending domain in lower case and A-labels.
 * @throws AppError validation_error
 */
export function readDomainName(config: Pick<Config, 'hostname'>, text: string): string {
  const name = findName(text);
  if (name === undefined || name.length > MAX_DOMAIN_CHARACTERS) {
    throw invalid('name', '`name` must be a domain such as example.com or news.example.com');
  }
  if (isOurs(config, name)) throw invalid('name', `\`name\`: ${name} belongs to this installation`);
  return name;
}

/**
 * Returns the tracking host in lower case and A-labels. It is a host below `domain`. It has a CNAME, so it cannot be
 * a name with other records.
 * @throws AppError validation_error
 */
export function readTrackingHost(config: Pick<Config, 'hostname'>, domain: string, text: string): string {
  const name = findName(text);
  if (name === undefined || !name.endsWith(`.${domain}`)) {
    throw invalid(
      'trackingSubdomain',
      `\`trackingSubdomain\` must be a host name below ${domain}, such as links.${domain}`,
    );
  }
  if (isOurs(config, name)) {
    throw invalid('trackingSubdomain', `\`trackingSubdomain\`: ${name} belongs to this installation`);
  }
  const [label = ''] = name.split('.');
  if (isHostLabel(label)) {
    throw invalid(
      'trackingSubdomain',
      `\`trackingSubdomain\`: names that begin with ${label}. serve something else`,
    );
  }
  // This name is the domain's own return path.
  if (name === `bounce.${domain}`) {
    throw invalid('trackingSubdomain', `\`trackingSubdomain\`: ${name} is reserved for bounces`);
  }
  return name;
}

/** First labels of the hosts that each domain has: for its MTA-STS policy (RFC 8461 section 3.3), Autoconfig and Autodiscover. */
const HOST_LABELS = ['mta-sts', 'autoconfig', 'autodiscover'] as const;
export type HostLabel = (typeof HOST_LABELS)[number];

/** Returns true for the first label of a host that serves one domain. */
export function isHostLabel(label: string): label is HostLabel {
  return HOST_LABELS.some((known) => known === label);
}

/**
 * Returns true for `<hostname>` itself, and for the names below it that this service uses, with all names below
 * those. The parent of `<hostname>` is not included, because this machine may send for it. Other names below
 * `<hostname>` are not included either, because `<hostname>` may be a domain of the operator.
 */
function isOurs(config: Pick<Config, 'hostname'>, name: string): boolean {
  const own = [bounceDomain(config), trackingTarget(config), sandboxDomain(config), simulatorDomain(config)];
  return name === config.hostname.toLowerCase() || own.some((host) => isSameOrBelow(name, host));
}

/**
 * Returns the name of any domain, of a filter, in the form of addresses.
 * @throws AppError validation_error naming `param`
 */
export function readDomain(param: string, text: string): string {
  const name = findName(text);
  if (name === undefined) throw invalid(param, `\`${param}\` must be a domain such as example.com`);
  return name;
}

/** Returns the name in the form of addresses; undefined for text that is not a domain name. */
export function findName(text: string): string | undefined {
  // Spaces around an address are ignored. A domain name is a key, so spaces are refused.
  return text.includes(' ') ? undefined : parseMailbox(`a@${text}`)?.domain;
}
