/** Forms with files are read without copying the files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readParts } from '../../../src/http/pages/multipart.ts';

/** Encodes a form as browsers do. */
async function encode(form: FormData): Promise<{ body: Buffer; boundary: string }> {
  const response = new Response(form);
  const [, boundary = ''] = /boundary=(.*)$/.exec(response.headers.get('content-type') ?? '') ?? [];
  return { body: Buffer.from(await response.arrayBuffer()), boundary };
}

test('any form comes back in its parts, in the bytes that were sent', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 }).map((one) => one.toWellFormed());
  const part = fc.record({
    name: text,
    content: fc.uint8Array({ maxLength: 200 }),
    // The encoder of Node leaves out an empty name of a file.
    filename: fc.option(
      text.filter((one) => one !== ''),
      { nil: undefined },
    ),
  });
  const run = fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
    const form = new FormData();
    for (const { name, content, filename } of parts)
      if (filename === undefined) form.append(name, Buffer.from(content).toString('hex'));
      else form.append(name, new File([new Uint8Array(content)], filename, { type: 'text/csv' }));
    const { body, boundary } = await encode(form);
    const read = [...readParts(body, boundary)];
    // A form has CRLF alone as line ends of its names. Names of files stay as they are.
    const named = (one: string) => one.replace(/\r\n|\r|\n/g, '\r\n');
    assert.deepEqual(
      read.map(({ name, filename, bytes }) => ({ name, filename, content: bytes.toString('hex') })),
      parts.map(({ name, filename, content }) => ({
        name: named(name),
        filename,
        content:
          filename === undefined
            ? Buffer.from(Buffer.from(content).toString('hex')).toString('hex')
            : Buffer.from(content).toString('hex'),
      })),
    );
  });
  await fc.assert(run, { numRuns: 30 });
});

test('a file is a view of the body, however large it is', async () => {
  const form = new FormData();
  form.append('file', new File([Buffer.alloc(100_000, 'x')], 'a.csv'));
  const { body, boundary } = await encode(form);
  const [file] = readParts(body, boundary);
  assert.equal(file?.bytes.buffer, body.buffer);
  assert.equal(file?.bytes.length, 100_000);
});

const part = 'Content-Disposition: form-data; name="a"\r\n\r\n';

test('content that looks like a boundary, or that has none of a line, stays content', () => {
  for (const content of ['', '\r\n', '--b', '\r\n--bb\r\n', '\r\n--b x', '\n--b\r\n'])
    assert.deepEqual(
      [...readParts(Buffer.from(`--b\r\n${part}${content}\r\n--b--\r\n`), 'b')].map(({ bytes }) =>
        String(bytes),
      ),
      [content],
      JSON.stringify(content),
    );
});

test('what is no form is refused', () => {
  for (const body of [
    '',
    'x',
    '--c--',
    '--b',
    '--bx',
    '--b\r\n',
    `--b\r\n${part}`,
    '--b\r\nx\r\n--b--',
    '--b\r\n\r\n\r\n--b--',
    '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--',
    '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--',
    `--b\r\nX: ${'x'.repeat(9_000)}\r\n${part}x\r\n--b--`,
  ])
    assert.throws(
      () => [...readParts(Buffer.from(body), 'b')],
      SyntaxError,
      JSON.stringify(body.slice(0, 60)),
    );
  assert.deepEqual([...readParts(Buffer.from('--b--'), 'b')], []);
});
