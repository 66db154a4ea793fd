/** Builds small messages for tests of the reader. */
import { type ParsedMessage, readMessage } from '../../../../src/mail/message/parse/read-message.ts';

/** Returns the octets of lines. Each character stands for one octet. */
export function octetsOf(...lines: string[]): Buffer {
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

/** Reads a message with the bytes of all its files. */
export function read(message: string | Buffer): ParsedMessage {
  const octets = typeof message === 'string' ? octetsOf(message) : message;
  return readMessage({ message: octets, content: { upToBytes: Number.POSITIVE_INFINITY } });
}

/** Returns each file as its name, its type and its content. */
export function filesOf(message: string | Buffer): string[][] {
  return read(message).files.map(({ filename, contentType, content }) => [
    filename,
    contentType,
    Buffer.from(content ?? []).toString('latin1'),
  ]);
}

/** Returns a part, or a message, of header lines and a body. */
export function part(header: readonly string[], body: string): string {
  return [...header, '', body].join('\r\n');
}

/** Returns a multipart with a boundary. `padding` stands behind each delimiter. */
export function multipart(subtype: string, parts: readonly string[], { padding = '' } = {}): string {
  const boundary = `b-${subtype}`;
  const opened = parts.map((text) => `--${boundary}${padding}\r\n${text}\r\n`).join('');
  return part(
    [`Content-Type: multipart/${subtype}; boundary="${boundary}"`],
    `${opened}--${boundary}--${padding}\r\n`,
  );
}
