/**
 * DKIM signing (RFC 6376, RFC 8463), relaxed/relaxed, and the parts of signature fields that it shares with ARC. The same message, keys and
 * second give the same fields. The RSA operation takes a millisecond and runs in the thread pool.
 */
import { createHash, type KeyObject, sign } from 'node:crypto';
import { relaxedField } from './canonical.ts';

export type DkimKey = {
  domain: string;
  selector: string;
  algorithm: 'rsa-sha256' | 'ed25519-sha256';
  privateKey: KeyObject;
};

/**
 * These fields are each listed once more than the message has them, so that nobody can add another one without breaking
 * the signature (RFC 6376 section 8.15).
 */
const OVERSIGNED = [
  'From',
  'To',
  'Cc',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
] as const;
/**
 * These fields are listed once more than the message has them only when it has them: in marketing mail nobody can add a
 * second way to unsubscribe (RFC 8058 section 4), while a mailing list may still add its own to other mail. Complaints go only to
 * an address that the signature covers (RFC 9477 section 3.1.4), and nobody can put another one above it.
 */
const OVERSIGNED_IF_PRESENT = [
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Feedback-ID',
  'CFBL-Address',
  'CFBL-Feedback-ID',
] as const;
/**
 * These fields are signed when they are present (RFC 6376 section 5.4.1). Receivers ignore a `BIMI-Selector` that no
 * signature covers (draft-brand-indicators-for-message-identification).
 */
const SIGNED_IF_PRESENT = ['Sender', 'In-Reply-To', 'References', 'BIMI-Selector'] as const;

/** The input of a signature. The body itself was hashed when the message was accepted. */
type SignableMessage = {
  /** All fields including `Date`, each with its CRLF, with or without the empty line after them. */
  header: Uint8Array;
  /** Hash of the body from `createBodyHash`. */
  bodyHash: string;
};

/**
 * Returns the complete `DKIM-Signature: …` fields with their CRLF, one for each key, in the order of the keys. They are placed before the
 * message, and none of them covers another one.
 */
export async function signMessage(
  message: SignableMessage,
  keys: readonly DkimKey[],
  timestampSeconds: number,
): Promise<string> {
  return (await signatureFields(message, keys, timestampSeconds)).join('');
}

/** Returns the fields of `signMessage` as a list. */
export async function signatureFields(
  message: SignableMessage,
  keys: readonly DkimKey[],
  timestampSeconds: number,
): Promise<string[]> {
  const signed = selectFields(splitHeader(message.header));
  const { bodyHash } = message;
  const fields = keys.map(async (key) => {
    const unsigned = writeField(key, signed.names, { timestampSeconds, bodyHash });
    const input = signed.canonical + relaxedField(unsigned);
    const signature = await signInPool(Buffer.from(input, 'latin1'), key);
    return `${unsigned}${foldBase64(signature.toString('base64'))}\r\n`;
  });
  return Promise.all(fields);
}

/**
 * Returns the header fields as latin1 text, so that each character is one octet, still folded and without their last
 * CRLF.
 */
function splitHeader(header: Uint8Array): string[] {
  const bytes = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const fields = end < 0 ? text : text.slice(0, end);
  return fields.split(/\r\n(?![ \t])/).filter((field) => field.includes(':'));
}

/**
 * Selects the fields to sign. Several fields of one name are signed from the bottom up, and a name beyond them signs
 * the absence of another one (RFC 6376 section 5.4.2).
 */
function selectFields(fields: readonly string[]): { names: string[]; canonical: string } {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const canonical = relaxedField(field);
    const name = canonical.slice(0, canonical.indexOf(':'));
    const present = byName.get(name);
    if (present) present.unshift(canonical);
    else byName.set(name, [canonical]);
  }
  const names: string[] = [];
  let canonical = '';
  for (const name of [...OVERSIGNED, ...OVERSIGNED_IF_PRESENT, ...SIGNED_IF_PRESENT]) {
    for (const field of byName.get(name.toLowerCase()) ?? []) {
      names.push(name);
      canonical += `${field}\r\n`;
    }
  }
  const oversigned = OVERSIGNED_IF_PRESENT.filter((name) => byName.has(name.toLowerCase()));
  return { names: [...names, ...OVERSIGNED, ...oversigned], canonical };
}

/**
 * Returns the field up to and including `b=` (RFC 6376 section 3.5). It never has `l=`, which lets others append to the
 * body.
 */
function writeField(
  key: DkimKey,
  names: readonly string[],
  { timestampSeconds, bodyHash }: { timestampSeconds: number; bodyHash: string },
): string {
  return (
    `DKIM-Signature: v=1; a=${key.algorithm}; c=relaxed/relaxed; d=${key.domain};\r\n` +
    ` s=${key.selector}; t=${timestampSeconds};\r\n` +
    ` h=${foldNames(names)};\r\n` +
    ` bh=${bodyHash};\r\n b=`
  );
}

/** Maximum length of a line. Folds are allowed between names and within base64 (RFC 6376 section 3.5). */
const MAX_LINE_CHARACTERS = 72;

/** Returns the names for `h=`, separated by colons and folded. */
export function foldNames(names: readonly string[]): string {
  let text = '';
  let column = 3;
  for (const [index, name] of names.entries()) {
    const item = index === 0 ? name : `:${name}`;
    if (column + item.length > MAX_LINE_CHARACTERS) {
      text += '\r\n ';
      column = 1;
    }
    text += item;
    column += item.length;
  }
  return text;
}

/** Returns the signature for `b=`, folded. White space in base64 is ignored (RFC 6376 section 3.5). */
export function foldBase64(text: string): string {
  let folded = text.slice(0, MAX_LINE_CHARACTERS);
  for (let at = MAX_LINE_CHARACTERS; at < text.length; at += MAX_LINE_CHARACTERS)
    folded += `\r\n ${text.slice(at, at + MAX_LINE_CHARACTERS)}`;
  return folded;
}

/** Returns the signature of the data. The RSA operation takes a millisecond, and both run in the thread pool. */
export function signInPool(data: Buffer, { algorithm, privateKey }: DkimKey): Promise<Buffer> {
  // Ed25519 signs the hash of the data, and not the data itself (RFC 8463 section 3).
  const [digest, input] =
    algorithm === 'rsa-sha256' ? ['sha256', data] : [null, createHash('sha256').update(data).digest()];
  return new Promise((resolve, reject) =>
    sign(digest, input, privateKey, (error, signature) => (error ? reject(error) : resolve(signature))),
  );
}
