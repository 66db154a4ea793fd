/** Reads and changes the header of a message or of a part, for its conversion to 7 bits. */
import { fieldValue, type HeaderField, splitFields } from '../../dkim/verify/header-fields.ts';
import { readParameterField, readToken } from '../mime-fields.ts';

/**
 * The octets that follow a header: `parts` with their boundary, which is undefined when nothing can separate them; a message inside the message;
 * a body that stays as it is; one in base64 or quoted-printable, whose lines may be cut; one that declares octets above 127 and is converted;
 * or one that must not have any and is looked at. `needsCharset` is true for a text that does not say its charset.
 */
export type PartKind =
  | { kind: 'parts'; boundary: string | undefined }
  | { kind: 'message' | 'opaque' | 'base64' | 'quoted-printable' }
  | { kind: 'eight-bit' | 'undeclared'; needsCharset: boolean };

/** Parts whose octets are signed or encrypted, so that no server changes them (RFC 1847 section 2.1). */
const SEALED: ReadonlySet<string> = new Set(['multipart/signed', 'multipart/encrypted']);
const MESSAGES: ReadonlySet<string> = new Set(['message/rfc822', 'message/global']);

/** Reads what a header says about the octets after it. `header` has CRLF line ends and its empty line. */
export function readPartKind(header: Buffer): PartKind {
  const fields = splitFields(header.toString('latin1'));
  const type = readParameterField(textIn(fields, 'content-type'));
  const encoding = readToken(textIn(fields, 'content-transfer-encoding'));
  const isIdentity = ['', '7bit', '8bit', 'binary'].includes(encoding);
  if (type && SEALED.has(type.value)) return { kind: 'opaque' };
  if (type?.value.startsWith('multipart/')) {
    const boundary = type.parameters.find(({ name }) => name === 'boundary')?.value;
    return { kind: 'parts', boundary: boundary || undefined };
  }
  if (type && MESSAGES.has(type.value)) return { kind: isIdentity ? 'message' : 'opaque' };
  // Reports about a message and fragments of one have no encoding of their own (RFC 2046 section 5.2).
  if (type?.value.startsWith('message/')) return { kind: 'opaque' };
  if (!isIdentity)
    return { kind: encoding === 'base64' || encoding === 'quoted-printable' ? encoding : 'opaque' };
  const isText = !type || type.value === 'text' || type.value.startsWith('text/');
  const needsCharset = isText && !type?.parameters.some(({ name }) => name === 'charset');
  return { kind: encoding === '8bit' || encoding === 'binary' ? 'eight-bit' : 'undeclared', needsCharset };
}

function textIn(fields: readonly HeaderField[], name: string): string {
  const field = fields.find((other) => other.name === name);
  return field ? fieldValue(field).replace(/\r\n/g, '').trim() : '';
}

const ENCODING = 'Content-Transfer-Encoding: quoted-printable';

/**
 * Returns the header of a body that is now quoted-printable. `isTop` says that it is the header of the whole message, and `charset` is that of a
 * text that does not say its own.
 */
export function withQuotedPrintable(
  header: Buffer,
  { isTop, charset }: { isTop: boolean; charset: Charset | undefined },
): Buffer {
  const fields = splitFields(header.toString('latin1'));
  const texts = fields.map(({ name, text }) => (name === 'content-transfer-encoding' ? ENCODING : text));
  const has = (name: string) => fields.some((field) => field.name === name);
  if (isTop && !has('mime-version')) texts.push('MIME-Version: 1.0');
  // A part without Content-Type counts as US-ASCII text (RFC 2045 section 5.2), so its text gets a type with its charset.
  if (!has('content-type')) texts.push(`Content-Type: text/plain; charset=${charset ?? 'utf-8'}`);
  else if (charset === 'utf-8') addCharset(texts, fields);
  if (!has('content-transfer-encoding')) texts.push(ENCODING);
  return Buffer.from(`${texts.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Charset of a text that does not say its own. */
type Charset = 'utf-8' | 'windows-1252';

/** Returns the charset of the first octets of a text. Their last character may be incomplete. */
export function guessCharset(octets: Buffer): Charset {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(octets, { stream: true });
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

/** Adds the charset behind the type of the first Content-Type field, whose other parameters stay. */
function addCharset(texts: string[], fields: readonly HeaderField[]): void {
  const index = fields.findIndex(({ name }) => name === 'content-type');
  texts[index] = `${(texts[index] ?? '').replace(/;[ \t\r\n]*$/, '')};\r\n charset=utf-8`;
}
