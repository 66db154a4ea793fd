/**
 * ARC (RFC 8617): reads the sets of a message without verifying anything (section 4.2), and seals a message that is forwarded (section 5.1),
 * so that its next receiver can see what this installation has found out about it, and that it has not been changed since. Sets of others
 * stay as they are.
 */
import { relaxedField } from './dkim/canonical.ts';
import { type DkimKey, foldBase64, foldNames, signInPool } from './dkim/sign.ts';
import { parseTagList } from './dkim/tag-list.ts';
import { fieldValue, groupFields, type HeaderField, splitFields } from './dkim/verify/header-fields.ts';

/** Names of the fields of a set, in the order in which a seal covers them (RFC 8617 section 5.1.1). */
export const SET_FIELDS = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;
/** Maximum number of sets (RFC 8617 section 4.2.1). */
export const MAX_SETS = 50;

type Chain = {
  /** Highest instance of any field; 0 when there is no chain. */
  instance: number;
  /** True when the newest seal says that the chain has failed. */
  hasFailed: boolean;
  /** The fields of all sets, the oldest set first, each set in the order of `SET_FIELDS`. Undefined when a field is missing. */
  fields: readonly HeaderField[] | undefined;
};

/** Matches the instance at the beginning of ARC-Authentication-Results (RFC 8617 section 4.1.1), which may follow comments. */
const RESULTS_INSTANCE = /^(?:\s|\([^()\\]*\))*i\s*=\s*([0-9]{1,2})\s*;/;
const INSTANCE = /^[0-9]{1,2}$/;

/** Reads the chain of a message. */
function readChain(fields: readonly HeaderField[]): Chain {
  const sets = new Map<string, HeaderField>();
  let instance = 0;
  let newestSeal: HeaderField | undefined;
  let isBroken = false;
  for (const field of fields) {
    const name = SET_FIELDS.find((candidate) => candidate === field.name);
    if (name === undefined) continue;
    const found = instanceOf(field);
    const key = `${name} ${found}`;
    isBroken ||= found === 0 || sets.has(key);
    sets.set(key, field);
    if (name === 'arc-seal' && found >= instance) newestSeal = field;
    instance = Math.max(instance, found);
  }
  const hasFailed = newestSeal !== undefined && tagOf(newestSeal, 'cv').toLowerCase() === 'fail';
  return { instance, hasFailed, fields: isBroken ? undefined : inOrder(sets, instance) };
}

function inOrder(sets: ReadonlyMap<string, HeaderField>, instance: number): HeaderField[] | undefined {
  const ordered: HeaderField[] = [];
  for (let index = 1; index <= instance; index++)
    for (const name of SET_FIELDS) {
      const field = sets.get(`${name} ${index}`);
      if (!field) return undefined;
      ordered.push(field);
    }
  return ordered;
}

/** Returns the instance of a field; 0 when it has none that is valid. */
function instanceOf(field: HeaderField): number {
  if (field.name === 'arc-authentication-results')
    return Number(RESULTS_INSTANCE.exec(fieldValue(field))?.[1] ?? 0);
  const text = tagOf(field, 'i');
  return INSTANCE.test(text) ? Number(text) : 0;
}

function tagOf(field: HeaderField, name: string): string {
  return parseTagList(fieldValue(field))?.get(name) ?? '';
}

export type Sealing = {
  /** All fields of the message without the new set, each with its CRLF. */
  header: Uint8Array;
  /** Hash of the body from `createBodyHash`. */
  bodyHash: string;
  /** The results of this installation: an Authentication-Results field without its name and colon, with or without CRLF. */
  results: string;
  /** Result of validating the chain that the message arrived with. */
  chain: 'none' | 'pass' | 'fail';
};

/**
 * These fields are signed when they are present. Results and the fields of ARC must not be (RFC 8617 section 4.1.2), nor should
 * fields that every hop adds.
 */
const SIGNED = [
  'From',
  'Sender',
  'Reply-To',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'DKIM-Signature',
] as const;

/**
 * Returns the fields of the new set, each with its CRLF, to stand above the message. Returns '' when none may be added: the chain
 * was declared failed by an earlier sealer (RFC 8617 section 5.1), or has as many sets as there can be.
 */
export async function sealMessage(
  { header, bodyHash, results, chain }: Sealing,
  key: DkimKey,
  timestampSeconds: number,
): Promise<string> {
  const fields = splitFields(Buffer.from(header).toString('latin1'));
  const earlier = readChain(fields);
  if (earlier.hasFailed || earlier.instance >= MAX_SETS) return '';
  const instance = earlier.instance + 1;
  // A chain that cannot be read has failed, whatever was said about it.
  const cv = earlier.instance === 0 ? 'none' : chain === 'pass' && earlier.fields ? 'pass' : 'fail';
  const signature = { instance, key, timestampSeconds };
  const reported = `ARC-Authentication-Results: i=${instance}; ${results.trim()}\r\n`;
  const signed = await signFields(fields, bodyHash, signature);
  // The seal of a chain that has failed covers its own set alone (RFC 8617 section 5.1.2).
  const covered = cv === 'pass' ? (earlier.fields ?? []) : [];
  const seal = await sealSets([...covered.map(({ text }) => text), reported, signed], cv, signature);
  return seal + signed + reported;
}

type SetSignature = { instance: number; key: DkimKey; timestampSeconds: number };

async function signFields(
  fields: readonly HeaderField[],
  bodyHash: string,
  { instance, key, timestampSeconds }: SetSignature,
): Promise<string> {
  const byName = groupFields(fields);
  // Several fields of one name are signed from the bottom up (RFC 6376 section 5.4.2).
  const signed = SIGNED.flatMap((name) =>
    (byName.get(name.toLowerCase()) ?? []).map(({ text }) => ({ name, text })),
  );
  const names = signed.map(({ name }) => name);
  const unsigned =
    `ARC-Message-Signature: i=${instance}; a=${key.algorithm}; c=relaxed/relaxed;\r\n` +
    ` d=${key.domain}; s=${key.selector}; t=${timestampSeconds};\r\n` +
    ` h=${foldNames(names)};\r\n bh=${bodyHash};\r\n b=`;
  return complete(
    unsigned,
    signed.map(({ text }) => text),
    key,
  );
}

/** Returns the seal, which covers the fields in the order given, and itself (RFC 8617 section 5.1.1). */
function sealSets(
  covered: readonly string[],
  cv: Sealing['chain'],
  { instance, key, timestampSeconds }: SetSignature,
): Promise<string> {
  const unsigned =
    `ARC-Seal: i=${instance}; a=${key.algorithm}; cv=${cv};\r\n` +
    ` d=${key.domain}; s=${key.selector}; t=${timestampSeconds};\r\n b=`;
  return complete(unsigned, covered, key);
}

async function complete(unsigned: string, covered: readonly string[], key: DkimKey): Promise<string> {
  const lines = [...covered, unsigned].map(relaxedField);
  const signature = await signInPool(Buffer.from(lines.join('\r\n'), 'latin1'), key);
  return `${unsigned}${foldBase64(signature.toString('base64'))}\r\n`;
}
