/**
 * Takes a form of `multipart/form-data` (RFC 7578) apart. Each part is a view of the body, so a file of many megabytes is in memory once: a
 * general parser copies it, and holds it two or three times.
 */

/** A part of a form. `name` and `filename` are what the client says; `filename` is undefined for a field, which is no file. */
export type FormPart = { name: string; filename: string | undefined; mediaType: string; bytes: Buffer };

/** Maximum length of the header of a part. Ours have less than 1 KiB; the name of a file may have 255 characters. */
const MAX_HEADER_BYTES = 8 * 1024;

const CRLF = '\r\n';
/** Media type of a part without one (RFC 7578 section 4.4). */
const DEFAULT_TYPE = 'text/plain';

/** Yields the parts of a body, in their order. @throws SyntaxError when it is not a form */
export function* readParts(body: Buffer, boundary: string): Generator<FormPart> {
  const delimiter = `--${boundary}`;
  // The first delimiter has no line end before it, which belongs to the delimiter otherwise (RFC 2046 section 5.1.1).
  if (!startsWith(body, 0, delimiter)) throw new SyntaxError('the body does not begin with its boundary');
  let at = delimiter.length;
  while (!startsWith(body, at, '--')) {
    if (!startsWith(body, at, CRLF)) throw new SyntaxError('a boundary has no line end');
    const header = at + CRLF.length;
    const content = findContent(body, header);
    const end = findDelimiter(body, content, CRLF + delimiter);
    yield { ...readHeader(body.subarray(header, content)), bytes: body.subarray(content, end) };
    at = end + CRLF.length + delimiter.length;
  }
}

/** Returns where the content of a part begins, behind the empty line that ends its header. */
function findContent(body: Buffer, header: number): number {
  const length = body.subarray(header, header + MAX_HEADER_BYTES).indexOf(CRLF + CRLF);
  if (length < 0) throw new SyntaxError('a part has no header');
  return header + length + 2 * CRLF.length;
}

/** Returns where the next delimiter begins. A text that only begins like it, such as a longer boundary, is content. */
function findDelimiter(body: Buffer, from: number, delimiter: string): number {
  for (let at = body.indexOf(delimiter, from); at >= 0; at = body.indexOf(delimiter, at + 1)) {
    const after = at + delimiter.length;
    if (startsWith(body, after, CRLF) || startsWith(body, after, '--')) return at;
  }
  throw new SyntaxError('a part has no end');
}

function readHeader(header: Buffer): Omit<FormPart, 'bytes'> {
  const fields = header.toString().split(CRLF);
  const disposition = findField(fields, 'content-disposition');
  const name = parameterOf(disposition, 'name');
  if (!/^form-data *;/i.test(disposition) || name === undefined) throw new SyntaxError('a part has no name');
  const filename = parameterOf(disposition, 'filename');
  return { name, filename, mediaType: findField(fields, 'content-type') || DEFAULT_TYPE };
}

function findField(fields: readonly string[], name: string): string {
  const field = fields.find((one) => one.toLowerCase().startsWith(`${name}:`));
  return field?.slice(name.length + 1).trim() ?? '';
}

/** Returns a parameter. Browsers write quotation marks and line ends in it as `%22`, `%0D` and `%0A` (HTML, multipart form data). */
function parameterOf(disposition: string, name: string): string | undefined {
  const [, value] = new RegExp(`; *${name}="([^"]*)"`, 'i').exec(disposition) ?? [];
  return value?.replace(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function startsWith(body: Buffer, at: number, text: string): boolean {
  return body.subarray(at, at + text.length).toString('latin1') === text;
}
