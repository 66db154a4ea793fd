/**
 * ARC (RFC 8617): the chain and its seals are checked by mailauth, the signature of the message in its newest set by our
 * own verifier. Messages without a chain, which are most, cost nothing.
 */
import type { ARCChainEntry, DNSResolver } from 'mailauth';
import { arc, getARChain } from 'mailauth/lib/arc/index.js';
import { MAX_SETS, SET_FIELDS } from '../arc.ts';
import type { HeaderField } from '../dkim/verify/header-fields.ts';
import { type SignedMessage, verifySignature } from '../dkim/verify/verify.ts';
import { namesAuthservId } from '../message/results-owner.ts';
import type { ArcOutcome, ArcSet } from './result.ts';

const ARC_FIELDS: readonly string[] = SET_FIELDS;
/** Maximum size of all fields of a chain. Each seal covers all older ones, so their cost grows with the square. */
const MAX_CHAIN_CHARACTERS = 128 * 1024;
/** Minimum size of an RSA key (RFC 8301 section 3.2). */
const MIN_RSA_BITS = 1_024;

const NONE: ArcOutcome = { result: 'none', sets: [], reason: '' };

/** Validates the chain of a message (RFC 8617 section 5.2). It never rejects. */
export async function checkArc(
  resolver: DNSResolver,
  fields: readonly HeaderField[],
  message: SignedMessage & { hostname: string },
): Promise<ArcOutcome> {
  const chainFields = fields.filter(({ name }) => ARC_FIELDS.includes(name));
  if (chainFields.length === 0) return NONE;
  const size = chainFields.reduce((sum, { text }) => sum + text.length, 0);
  if (chainFields.length > MAX_SETS * ARC_FIELDS.length || size > MAX_CHAIN_CHARACTERS)
    return failed('the chain is too long');
  try {
    return await validate(resolver, chainFields, message);
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

function failed(reason: string): ArcOutcome {
  return { result: 'fail', sets: [], reason };
}

async function validate(
  resolver: DNSResolver,
  fields: readonly HeaderField[],
  message: SignedMessage & { hostname: string },
): Promise<ArcOutcome> {
  const rows = fields.map((field) => ({
    key: field.name,
    casedKey: field.name,
    line: Buffer.from(field.text, 'latin1'),
    field,
  }));
  const chain = getARChain({ parsed: rows }, { strict: true });
  const newest = chain ? chain.at(-1) : undefined;
  if (!chain || !newest) return failed('there is no chain');
  const sets = chain.map((entry) => readSet(entry, message.hostname.toLowerCase()));
  const signature = await verifyNewest(rows, newest, message);
  if (signature.result !== 'pass') return failed(`i=${newest.i}: ${signature.reason}`);
  const lastEntry = Object.assign(newest, { messageSignature: { status: { result: 'pass' } } });
  const { status } = await arc({ chain, lastEntry }, { resolver, strict: true, minBitLength: MIN_RSA_BITS });
  return status.result === 'pass'
    ? { result: 'pass', sets, reason: '' }
    : failed(status.comment ?? 'a seal does not verify');
}

type Row = { line: Buffer; field: HeaderField };

/** Verifies the signature of the newest set. The library keeps the line of each field in its set. */
async function verifyNewest(rows: readonly Row[], newest: ARCChainEntry, message: SignedMessage) {
  const original: unknown = newest['arc-message-signature']?.original;
  const row = rows.find(({ line }) => line === original);
  if (!row) return { result: 'neutral' as const, reason: 'the signature of the message is missing' };
  return verifySignature(row.field, message, 'arc');
}

/**
 * Reads who sealed a set, and the result of DMARC in its results. Results that claim to be those of this installation count only in
 * a set that it has sealed itself.
 */
function readSet(entry: ARCChainEntry, hostname: string): ArcSet {
  const sealer = textOf(entry['arc-seal']?.parsed?.['d']?.value).toLowerCase();
  const results = entry['arc-authentication-results'];
  const line: unknown = results?.original;
  const text = Buffer.isBuffer(line) ? line.toString('latin1') : '';
  const isForged = sealer !== hostname && namesAuthservId(text.slice(text.indexOf(';') + 1), hostname);
  if (isForged) return { sealer, dmarc: '', authorDomain: '' };
  const dmarc: { value?: unknown; header?: { from?: unknown } } | undefined = results?.parsed?.['dmarc'];
  return {
    sealer,
    dmarc: textOf(dmarc?.value).toLowerCase(),
    authorDomain: textOf(dmarc?.header?.from).toLowerCase(),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
