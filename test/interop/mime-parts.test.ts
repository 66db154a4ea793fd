/** Compares the parts of messages with those that Python's email package finds. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { type MimeEntity, readMimeTree } from '../../src/mail/message/mime-tree.ts';

const SCRIPT = fileURLToPath(new URL('mime-parts.py', import.meta.url));
const MESSAGES = 3_000;

type Part = [type: string, subtype: string, body: string | null];

/**
 * Messages with fields that are valid, since Python ends a header at a line that is not a field, and we do not. Texts begin with an
 * empty line, since the default type of a part in a digest is that of a message.
 */
function messages(): fc.Arbitrary<string> {
  const lines = fc.array(
    fc.constantFrom('text', '', '--', '--x', '--a x', ' --a', '--aa', '--a---', '- --a--'),
  );
  const text = lines.map((all) => ['', ...all].join('\r\n'));
  const leaf = fc
    .tuple(
      fc.constantFrom('', 'Content-Type: image/gif\r\n', 'Content-Type: nonsense\r\n', 'X: y\r\n z\r\n'),
      text,
    )
    .map(([fields, body]) => `${fields}\r\n${body}`);
  const { entity } = fc.letrec<{ entity: string; message: string; multipart: string }>((tie) => ({
    entity: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('message'), tie('multipart')),
    message: tie('entity').map((inner) => `Content-Type: message/rfc822\r\n\r\n${inner}`),
    multipart: fc
      .tuple(
        fc.constantFrom('mixed', 'digest'),
        fc.array(tie('entity'), { minLength: 1, maxLength: 4 }),
        fc.constantFrom('', 'epilogue', '\r\n'),
      )
      .map(([subtype, parts, epilogue]) => writeMultipart(subtype, parts, epilogue)),
  }));
  return entity;
}

/** Nested multiparts have different lengths, and so different boundaries, of which one may begin like another. */
function writeMultipart(subtype: string, parts: readonly string[], epilogue: string): string {
  const boundary = `a${parts.join('').length}`;
  const delimited = parts.map((part) => `--${boundary} \r\n${part}\r\n`).join('');
  return `Content-Type: multipart/${subtype}; boundary=${boundary}\r\n\r\npreamble\r\n${delimited}--${boundary}--\r\n${epilogue}`;
}

function* partsOf(text: Buffer, entity: MimeEntity): Generator<Part> {
  const { type, subtype, body, end, parts, message } = entity;
  const inner = message ? [message] : parts;
  yield [type, subtype, inner.length > 0 ? null : text.subarray(body, end).toString('base64')];
  for (const part of inner) yield* partsOf(text, part);
}

test('the parts of generated messages are those that Python finds', () => {
  const texts = fc.sample(messages(), { numRuns: MESSAGES, seed: 1 }).map((text) => Buffer.from(text));
  const input = JSON.stringify(texts.map((text) => text.toString('base64')));
  const output = execFileSync('python3', [SCRIPT], { input, encoding: 'utf8', maxBuffer: 2 ** 30 });
  const expected = JSON.parse(output) as Part[][];
  for (const [index, text] of texts.entries())
    assert.deepEqual(
      [...partsOf(text, readMimeTree(text))],
      expected[index],
      JSON.stringify(text.toString()),
    );
});
