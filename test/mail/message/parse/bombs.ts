/** Messages that are written to keep a parser busy, or to exhaust its memory. */

const CRLF = '\r\n';
const HEAD = `From: a@example.org${CRLF}Subject: bomb${CRLF}`;

/** Multipart bodies inside each other. */
function nested(depth: number): string {
  let text = HEAD;
  for (let level = 0; level < depth; level += 1)
    text += `Content-Type: multipart/mixed; boundary=b${level}${CRLF}${CRLF}--b${level}${CRLF}`;
  return `${text}Content-Type: text/plain${CRLF}${CRLF}deep${CRLF}`;
}

const html = (tag: string, bytes: number) =>
  `${HEAD}Content-Type: text/html${CRLF}${CRLF}${`<${tag}>`.repeat(bytes / (tag.length + 2))}x`;

/** Each bomb by its name, and whether it can be parsed. */
export const BOMBS: readonly { name: string; message: string; kind: 'parsed' | 'opaque' }[] = [
  { name: 'multiparts 5,000 deep', message: nested(5_000), kind: 'opaque' },
  {
    name: '50,000 parts',
    message: `${HEAD}Content-Type: multipart/mixed; boundary=b${CRLF}${CRLF}${`--b${CRLF}${CRLF}x${CRLF}`.repeat(50_000)}`,
    kind: 'opaque',
  },
  {
    name: 'a parameter in 5,000 pieces',
    message: `${HEAD}Content-Type: text/plain${Array.from({ length: 5_000 }, (_, at) => `;${CRLF} name*${at}=x`).join('')}${CRLF}${CRLF}hi`,
    kind: 'opaque',
  },
  { name: '2 MB of nested elements', message: html('div', 2_000_000), kind: 'parsed' },
  { name: '11 KB of bold elements', message: html('b', 11_000), kind: 'parsed' },
  {
    name: '5,000 header fields',
    message: `${HEAD}${`X-Field: value${CRLF}`.repeat(5_000)}${CRLF}hi`,
    kind: 'opaque',
  },
  {
    name: 'a header of 1 MB',
    message: `${HEAD}${`X-Field: ${'y'.repeat(9_000)}${CRLF}`.repeat(115)}${CRLF}hi`,
    kind: 'opaque',
  },
  {
    name: '200 KB of addresses',
    message: `${HEAD}To: ${'(((<"'.repeat(40_000)}${CRLF}${CRLF}hi`,
    kind: 'parsed',
  },
  {
    name: '200 KB of encoded-words',
    message: `${HEAD}${`X-Words: ${'=?utf-8?q?=20?= '.repeat(60)}${CRLF}`.repeat(200)}${CRLF}hi`,
    kind: 'parsed',
  },
  {
    name: 'boundaries that never end',
    message: `${HEAD}Content-Type: multipart/mixed; boundary="${'-'.repeat(70)}"${CRLF}${CRLF}${`${'-'.repeat(71)}${CRLF}`.repeat(20_000)}`,
    kind: 'parsed',
  },
];
