/**
 * Encodes the parts of a message that have NUL with base64 (RFC 3516 section 4.4), because stored messages are sent to clients and
 * servers that read no binary data.
 */
import { base64Lines } from './base64.ts';
import { LineEnds } from './crlf.ts';
import { type OctetRange, readFieldLines } from './header-block.ts';
import { type MimeEntity, readTreeOrOpaque } from './mime-tree.ts';

const CRLF = Buffer.from('\r\n');
const BASE64 = Buffer.from('Content-Transfer-Encoding: base64\r\n');

/** Returns the message without NUL, and with CRLF at the end of each line that is not encoded. */
export function encodeBinary(octets: Buffer): Buffer {
  const output: Buffer[] = [];
  const lineEnds = new LineEnds();
  /** Copies text. NUL outside of the body of a part cannot be encoded, and is left out. */
  const copy = ({ start, end }: OctetRange): void => {
    const text = octets.subarray(start, end);
    const clean = text.includes(0) ? Buffer.from(text.filter((octet) => octet !== 0)) : text;
    output.push(lineEnds.next(clean));
  };
  let at = 0;
  for (const { header, body, end } of binaryParts(readTreeOrOpaque(octets))) {
    copy({ start: at, end: header });
    for (const field of readFieldLines(octets, { start: header, end: body })) {
      if (field.name === 'content-transfer-encoding') continue;
      const isLast = field.end === body;
      if (isLast) output.push(BASE64);
      copy(field);
    }
    if (header === body) output.push(BASE64, CRLF);
    output.push(...base64Lines({ kind: 'bytes', bytes: octets.subarray(body, end) }));
    // The line end in front of a boundary stands after the part.
    if (end === octets.length) output.push(CRLF);
    at = end;
  }
  copy({ start: at, end: octets.length });
  return Buffer.concat(output);

  /** Yields the innermost parts that have NUL, in order. */
  function* binaryParts(entity: MimeEntity): Generator<MimeEntity> {
    const inner = entity.message ? [entity.message] : entity.parts;
    for (const part of inner) yield* binaryParts(part);
    if (inner.length === 0 && octets.subarray(entity.body, entity.end).includes(0)) yield entity;
  }
}
