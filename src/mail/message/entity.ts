/**
 * The parts of a message (RFC 2045 section 2.4): texts, and multiparts that contain other parts. The header fields of an entity are known at
 * once; its body is produced piece by piece. Line ends of texts become CRLF. Their transfer encoding is 7bit when the text allows it, and
 * otherwise the shorter one of quoted-printable and base64 (RFC 2045 section 6).
 */
import { createHash } from 'node:crypto';
import { CR, EQUALS, LF, SPACE, TAB, TILDE } from '../octets.ts';
import { base64Lines } from './base64.ts';
import { MAX_LINE_OCTETS, parameterField, structuredField } from './headers.ts';
import { quotedPrintable } from './quoted-printable.ts';

export type Entity = {
  /** Header fields of the entity, each with its CRLF. */
  fields: string;
  body(): Iterable<Buffer>;
};

/** An entity without parts. */
export type LeafEntity = Entity & Pick<EncodedBody, 'holds'>;

const CRLF = Buffer.from('\r\n', 'latin1');

/** Returns a text part in UTF-8. */
export function textEntity(subtype: 'plain' | 'html' | 'x-amp-html', text: string): LeafEntity {
  return leafEntity(`text/${subtype}; charset=utf-8`, text);
}

/** Returns a part of lines in UTF-8. `type` is the value of its Content-Type field. */
export function leafEntity(type: string, text: string): LeafEntity {
  const { encoding, pieces, holds } = encodeBody(text);
  return {
    fields: structuredField('Content-Type', type) + structuredField('Content-Transfer-Encoding', encoding),
    body: pieces,
    holds,
  };
}

export type Multipart = {
  subtype: 'mixed' | 'related' | 'alternative' | 'report';
  /** Parameters besides the boundary. */
  parameters?: readonly string[];
  /** Boundary from `chooseBoundary`. */
  boundary: string;
};

/** Returns a part that contains the children. */
export function multipart(
  children: readonly Entity[],
  { subtype, parameters = [], boundary }: Multipart,
): Entity {
  return {
    fields: parameterField('Content-Type', [`multipart/${subtype}`, ...parameters, `boundary="${boundary}"`]),
    body: () => multipartBody(children, boundary),
  };
}

/**
 * Yields the parts between boundaries (RFC 2046 section 5.1.1). The CRLF before a boundary belongs to the boundary.
 */
function* multipartBody(children: readonly Entity[], boundary: string): Generator<Buffer> {
  let before = '';
  for (const child of children) {
    yield ascii(`${before}--${boundary}\r\n${child.fields}\r\n`);
    yield* child.body();
    before = '\r\n';
  }
  yield ascii(`\r\n--${boundary}--\r\n`);
}

/**
 * Chooses a boundary, which must not occur in the parts that it separates (RFC 2046 section 5.1.1). `=_` cannot occur
 * in an encoded part; all other parts of the message are searched, enclosed or not. The same seed and leaves give the
 * same boundary.
 */
export function chooseBoundary(seed: string, leaves: readonly LeafEntity[]): string {
  for (let round = 0; ; round++) {
    const boundary = `=_${createHash('sha256').update(`${round}:${seed}`).digest('hex').slice(0, 32)}`;
    if (!leaves.some((leaf) => leaf.holds(boundary))) return boundary;
  }
}

/** Yields the body of an entity that is the whole message. It always ends with a line end. */
export function* wholeBody(entity: Entity): Generator<Buffer> {
  let last: Buffer = CRLF.subarray(2);
  for (const piece of entity.body()) {
    if (piece.length > 0) last = piece;
    yield piece;
  }
  if (!last.subarray(-2).equals(CRLF)) yield CRLF;
}

function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

export type EncodedBody = {
  encoding: TransferEncoding;
  /**
   * Yields the body as ASCII. It ends with a line end only if the text does. Encodings are computed while they are
   * read.
   */
  pieces(): Iterable<Buffer>;
  /**
   * Returns true when the body may contain `boundary`. An encoded body cannot: our boundaries are never
   * quoted-printable or base64.
   */
  holds(boundary: string): boolean;
};

/** Chooses the transfer encoding of a text. */
function encodeBody(text: string): EncodedBody {
  const canonical = text.replace(/\r\n?|\n/g, '\r\n');
  if (isPlain(canonical)) {
    const bytes = Buffer.from(canonical, 'latin1');
    return { encoding: '7bit', pieces: () => [bytes], holds: (boundary) => bytes.includes(boundary) };
  }
  const bytes = Buffer.from(canonical, 'utf8');
  const { encodedBytes, longestLine, isClean } = survey(bytes);
  if (isClean && longestLine <= MAX_LINE_OCTETS) {
    return { encoding: '7bit', pieces: () => [bytes], holds: (boundary) => bytes.includes(boundary) };
  }
  const holds = () => false;
  const quotedLength = bytes.length + 2 * encodedBytes;
  const base64Length = Math.ceil(bytes.length / 3) * 4;
  return quotedLength <= base64Length
    ? { encoding: 'quoted-printable', pieces: () => quotedPrintable(bytes, 'breaks'), holds }
    : { encoding: 'base64', pieces: () => base64Lines({ kind: 'bytes', bytes }), holds };
}

/** Matches everything but printable ASCII, tabs and line ends. */
const UNUSUAL = /[^\t\r\n -~]/;

/** Fast path: true for printable ASCII in short lines, as most pages of a broadcast are. `survey` takes ten times as long. */
function isPlain(text: string): boolean {
  if (UNUSUAL.test(text)) return false;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    if ((end < 0 ? text.length : end) - start > MAX_LINE_OCTETS) return false;
    if (end < 0) return true;
    start = end + 1;
  }
  return true;
}

/**
 * Measures what the choice of an encoding depends on. `isClean` is true for ASCII without NUL and without CR or LF
 * outside CRLF.
 */
function survey(bytes: Buffer): { encodedBytes: number; longestLine: number; isClean: boolean } {
  let encodedBytes = 0;
  let longestLine = 0;
  let isClean = true;
  let lineStart = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte === LF) {
      longestLine = Math.max(longestLine, index - 1 - lineStart);
      lineStart = index + 1;
    } else if (byte > TILDE || byte < SPACE || byte === EQUALS) {
      if (byte === CR || byte === TAB) continue;
      encodedBytes++;
      if (byte > 0x7f || byte === 0) isClean = false;
    }
  }
  longestLine = Math.max(longestLine, bytes.length - lineStart);
  return { encodedBytes, longestLine, isClean };
}
