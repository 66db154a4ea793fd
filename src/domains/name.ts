/**
 * Which names can be a sending domain: those an address can have, in the very form an address gives them, so that a
 * sender and its domain compare as equal text; and which can be its tracking host. Whether the caller owns the name is
 * for DNS to say (verify.ts).
 */
import type { Config } from '../config.ts';
import { parseMailbox } from '../mail/address.ts';
import { invalid } from '../system/errors.ts';
import { bounceDomain, SELECTOR_CHARACTERS, trackingTarget } from './records.ts';

/** RFC 1035 2.3.4: 255 octets on the wire, 253 as text; the longest name we ask for is `<selector>._domainkey.<domain>`. */
const MAX_DOMAIN_CHARACTERS = 253 - SELECTOR_CHARACTERS - '._domainkey.'.length;

export function sandboxDomain({ hostname }: Pick<Config, 'hostname'>): string {
  return `sandbox.${hostname.toLowerCase()}`;
}

export function simulatorDomain({ hostname }: Pick<Config, 'hostname'>): string {
  return `simulator.${hostname.toLowerCase()}`;
}

/** Lower case, A-labels. @throws AppError validation_error */
export function readDomainName(config: Pick<Config, 'hostname'>, text: string): string {
  const name = findName(text);
  if (name === undefined || name.length > MAX_DOMAIN_CHARACTERS) {
    throw invalid('name', '`name` must be a domain such as example.com or news.example.com');
  }
  if (isOurs(config, name)) throw invalid('name', `\`name\`: ${name} belongs to this installation`);
  return name;
}

/**
 * A host below `domain`, which holds a CNAME alone and so can be none of the names that have other records.
 * Lower case, A-labels. @throws AppError validation_error
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
  // The domain's own return path (decisions.md 24).
  if (name === `bounce.${domain}`) {
    throw invalid('trackingSubdomain', `\`trackingSubdomain\`: ${name} is kept for bounces`);
  }
  return name;
}

/**
 * `<hostname>` itself, and what it gives a purpose, with all below that. Not the domain `<hostname>` is in, for which
 * this machine may well send, nor other names below `<hostname>`, which may itself be a domain of the operator's.
 */
function isOurs(config: Pick<Config, 'hostname'>, name: string): boolean {
  const own = [bounceDomain(config), trackingTarget(config), sandboxDomain(config), simulatorDomain(config)];
  return (
    name === config.hostname.toLowerCase() || own.some((host) => name === host || name.endsWith(`.${host}`))
  );
}

/** In the form of addresses; undefined for what is no domain name. */
export function findName(text: string): string | undefined {
  // Spaces around an address are forgiven there; a name is a key, and is not.
  return text.includes(' ') ? undefined : parseMailbox(`a@${text}`)?.domain;
}
