/**
 * The parts of a message (RFC 2045 section 2.4): texts, and multiparts that contain other parts. The header fields of
 * an entity are known at once; its body is produced piece by piece.
 */
import { createHash } from 'node:crypto';
import { type EncodedBody, encodeBody } from './body.ts';
import { parameterField, structuredField } from './headers.ts';

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
