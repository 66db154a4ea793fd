/** SPF (RFC 7208) by mailauth, which follows the RFC exactly when it is `strict`. */
import { domainToASCII } from 'node:url';
import type { DNSResolver } from 'mailauth';
import { spf } from 'mailauth/lib/spf/index.js';
import { isHostName } from '../../system/dns.ts';
import type { SpfOutcome, SpfResult } from './result.ts';

type SpfInput = {
  address: string;
  /** Name that the client gave in EHLO or HELO. */
  helo: string;
  /** Address of MAIL FROM; empty for the null sender. */
  sender: string;
  /** Host name of this installation. */
  hostname: string;
};

const RESULTS: readonly SpfResult[] = [
  'none',
  'neutral',
  'pass',
  'fail',
  'softfail',
  'temperror',
  'permerror',
];
/** Maximum length of a sender (RFC 5321 section 4.5.3.1.3). Macros would repeat a longer one. */
const MAX_SENDER_CHARACTERS = 254;

/** Checks both identities of a client. A null sender is evaluated by the name of the client (RFC 7208 section 2.4). */
export async function checkSpf(
  resolver: DNSResolver,
  input: SpfInput,
): Promise<{ sender: SpfOutcome; helo: SpfOutcome }> {
  const helo = checkHelo(resolver, input);
  if (input.sender === '') return { sender: await helo, helo: await helo };
  const domain = domainOf(input.sender);
  const sender =
    domain === '' || input.sender.length > MAX_SENDER_CHARACTERS
      ? none('', 'the sender has no domain')
      : check(resolver, input, domain);
  return { sender: await sender, helo: await helo };
}

/** A name that is no host name, such as an address literal, cannot have a record (RFC 7208 section 2.3). */
async function checkHelo(resolver: DNSResolver, input: SpfInput): Promise<SpfOutcome> {
  const domain = input.helo.toLowerCase().replace(/\.$/, '');
  if (!isHostName(domain) || !domain.includes('.')) return none('', 'the name of the client is no domain');
  return check(resolver, { ...input, sender: '', helo: domain }, domain);
}

async function check(resolver: DNSResolver, input: SpfInput, domain: string): Promise<SpfOutcome> {
  const { address, helo, sender, hostname } = input;
  try {
    const { status } = await spf({ ip: address, helo, sender, mta: hostname, resolver, strict: true });
    const result = RESULTS.find((known) => known === status.result);
    if (!result) return { result: 'temperror', domain, reason: 'there is no result' };
    return { result, domain, reason: result === 'pass' ? '' : reasonOf(status.comment, hostname) };
  } catch (error) {
    return { result: 'temperror', domain, reason: String(error) };
  }
}

function none(domain: string, reason: string): SpfOutcome {
  return { result: 'none', domain, reason };
}

/** Returns the comment without our host name, which stands before it. */
function reasonOf(comment: string | undefined, hostname: string): string {
  return (comment ?? '').replace(`${hostname}: `, '');
}

/** Returns the domain of an address in lower case and in A-labels; empty when there is none. */
function domainOf(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? '' : domainToASCII(address.slice(at + 1)).toLowerCase();
}
