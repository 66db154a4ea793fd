/**
 * Authenticates one message: its client by SPF and by its name, its author by DKIM and DMARC, its path by ARC. The work is bounded in
 * signatures, in lookups and in time, and an error in one part does not change the results of another.
 */
import ipaddr from 'ipaddr.js';
import type { DMARCResult, DNSResolver } from 'mailauth';
import { bimi } from 'mailauth/lib/bimi/index.js';
import { blockList } from '../../system/blocklist.ts';
import type { Clock } from '../../system/clock.ts';
import { type DnsLookups, isHostName } from '../../system/dns.ts';
import type { BodyHashes } from '../dkim/verify/body-hashes.ts';
import { fieldValue, groupFields, type HeaderField, splitFields } from '../dkim/verify/header-fields.ts';
import { createKeyParser, type KeyParser } from '../dkim/verify/keys.ts';
import { parseSignature } from '../dkim/verify/signature.ts';
import { type SignatureOutcome, type SignedMessage, verifySignature } from '../dkim/verify/verify.ts';
import { isSameOrBelow } from '../domain-names.ts';
import { checkArc } from './arc.ts';
import { type Client, checkReverseDns, findClient } from './client.ts';
import { checkDmarc } from './dmarc.ts';
import { readFrom } from './from.ts';
import { createMessageLookups, createResolver } from './resolver.ts';
import type { AuthenticationResult, BimiOutcome, ReverseDnsOutcome, SpfOutcome } from './result.ts';
import { checkSpf } from './spf.ts';

/** A message whose data has arrived. It is plain data that crosses between threads. */
export type ReceivedMessage = {
  address: string;
  helo: string;
  sender: string;
  hostname: string;
  /** The header with CRLF line ends. */
  header: Uint8Array;
  bodyHashes: BodyHashes;
};

type Authenticate = (message: ReceivedMessage) => Promise<AuthenticationResult>;

type AuthenticateOptions = {
  dns: DnsLookups;
  clock: Clock;
  /** CIDRs of relays whose Received fields are believed. */
  trustedRelays: readonly string[];
};

/**
 * Returns the function that authenticates messages. It keeps the keys that it has parsed.
 * @throws Error naming the CIDR that cannot be parsed
 */
export function createAuthenticate({ dns, clock, trustedRelays }: AuthenticateOptions): Authenticate {
  const parseKey = createKeyParser();
  const isTrusted = createMatcher(trustedRelays);
  return async (message) => {
    const lookups = createMessageLookups(dns, clock);
    try {
      return await authenticate(message, { lookups, parseKey, isTrusted, now: clock.now() });
    } finally {
      lookups.end();
    }
  };
}

type Tools = {
  lookups: DnsLookups;
  parseKey: KeyParser;
  isTrusted: (address: string) => boolean;
  now: number;
};

async function authenticate(message: ReceivedMessage, tools: Tools): Promise<AuthenticationResult> {
  const { lookups, parseKey, isTrusted, now } = tools;
  const fields = splitFields(latin1(message.header));
  const client = findClient(fields, message, isTrusted);
  const from = readFrom(fields);
  const [author = ''] = from.addresses;
  // Forged signatures name domains that no host has.
  const resolver = createResolver(lookups, isHostName);
  const signed: SignedMessage = {
    fields: groupFields(fields),
    bodyHashes: message.bodyHashes,
    dns: lookups,
    parseKey,
    now,
  };
  const [results, dkim, arc] = await Promise.all([
    evaluateClient(client, message, lookups),
    verifySignatures(fields, signed, author.slice(author.lastIndexOf('@') + 1)),
    checkArc(resolver, fields, { ...signed, hostname: message.hostname }),
  ]);
  const dmarc = await checkDmarc(resolver, { from, spf: results.spf, dkim });
  return {
    ...results,
    dkim: dkim.map((outcome) => ({
      ...outcome,
      isAligned: outcome.result === 'pass' && dmarc.isAligned(outcome.domain),
    })),
    dmarc: dmarc.outcome,
    arc,
    bimi: await checkBimi(resolver, fields, dmarc.details),
    from,
  };
}

function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

type ClientResults = Pick<AuthenticationResult, 'address' | 'spf' | 'heloSpf' | 'reverseDns'>;

async function evaluateClient(
  client: Client | undefined,
  { address, sender, hostname }: ReceivedMessage,
  lookups: DnsLookups,
): Promise<ClientResults> {
  if (!client) {
    const spf: SpfOutcome = { result: 'none', domain: '', reason: 'the relay does not tell its client' };
    const reverseDns: ReverseDnsOutcome = { result: 'none', name: undefined };
    return { address, spf, heloSpf: spf, reverseDns };
  }
  const [spf, reverseDns] = await Promise.all([
    checkSpf(createResolver(lookups), { ...client, sender, hostname }),
    checkReverseDns(lookups, client.address),
  ]);
  return { address: client.address, spf: spf.sender, heloSpf: spf.helo, reverseDns };
}

function createMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const list = blockList(cidrs);
  return (address) => {
    if (cidrs.length === 0 || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return list.check(parsed.toString(), parsed.kind());
  };
}

/** Maximum number of signatures that are verified. Messages have one to three; each needs a lookup and an operation with its key. */
const MAX_VERIFIED_SIGNATURES = 8;
/** Maximum number of signatures that are reported. The others are ignored. */
const MAX_REPORTED_SIGNATURES = 16;

/**
 * Returns the outcomes in the order of their fields. Signatures of the author's own domain are verified first, so others
 * that were added above them do not use up the limit.
 */
async function verifySignatures(
  fields: readonly HeaderField[],
  message: SignedMessage,
  authorDomain: string,
): Promise<SignatureOutcome[]> {
  const signatures = fields.filter(({ name }) => name === 'dkim-signature');
  const verified = new Set(chooseSignatures(signatures, authorDomain));
  const reported = signatures
    .filter((field, index) => verified.has(field) || index < MAX_REPORTED_SIGNATURES)
    .slice(0, MAX_REPORTED_SIGNATURES + MAX_VERIFIED_SIGNATURES);
  return Promise.all(
    reported.map((field) => (verified.has(field) ? verifySignature(field, message) : unverified(field))),
  );
}

function chooseSignatures(signatures: readonly HeaderField[], authorDomain: string): HeaderField[] {
  if (signatures.length <= MAX_VERIFIED_SIGNATURES) return [...signatures];
  const isOfAuthor = (field: HeaderField): boolean => {
    const { domain } = parseSignature(fieldValue(field), 'dkim');
    return domain !== '' && isSameOrBelow(authorDomain, domain);
  };
  const own = new Set(signatures.filter(isOfAuthor));
  const others = signatures.filter((field) => !own.has(field));
  return [...own, ...others].slice(0, MAX_VERIFIED_SIGNATURES);
}

function unverified(field: HeaderField): SignatureOutcome {
  const { domain, selector, algorithm } = parseSignature(fieldValue(field), 'dkim');
  return { result: 'policy', domain, selector, algorithm, reason: 'the message has too many signatures' };
}

/**
 * BIMI (draft-brand-indicators-for-message-identification) by mailauth: where the author's domain publishes its logo.
 * Only a message that passes DMARC under an enforcing policy needs a lookup. Neither the logo nor its certificate is
 * fetched.
 */
const READ_FIELDS: readonly string[] = ['from', 'bimi-selector'];

/** Looks up the logo of the author's domain. It never rejects. */
export async function checkBimi(
  resolver: DNSResolver,
  fields: readonly HeaderField[],
  dmarc: DMARCResult | undefined,
): Promise<BimiOutcome> {
  if (dmarc?.status.result !== 'pass') return outcome('skipped');
  const rows = fields
    .filter(({ name }) => READ_FIELDS.includes(name))
    .map(({ name, text }) => ({ key: name, casedKey: name, line: Buffer.from(text, 'latin1') }));
  try {
    const found = await bimi({ dmarc, headers: { parsed: rows }, resolver, strict: true });
    const { status, location, authority } = found || { status: { result: 'skipped' } };
    switch (status.result) {
      case 'pass':
        return { result: 'pass', location, authority };
      case 'none':
      case 'fail':
      case 'temperror':
        return outcome(status.result);
      default:
        return outcome('skipped');
    }
  } catch {
    return outcome('temperror');
  }
}

function outcome(result: BimiOutcome['result']): BimiOutcome {
  return { result, location: undefined, authority: undefined };
}
