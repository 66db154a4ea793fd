import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { MAX_TEXT_BYTES } from '../../../src/http/json/json-body.ts';
import { MAX_STRINGS } from '../../../src/http/json/json-shape.ts';
import { DETACHED_BYTES, detachContent, detachedOf } from '../../../src/http/json/large-strings.ts';
import { MAX_ATTACHMENTS_BODY_BYTES } from '../../../src/http/json/server.ts';
import { serve } from '../serve.ts';

type Attachment = { filename?: string; content: string };
type Seen = {
  body: { attachments: Attachment[] };
  found: (string | undefined)[];
  hashes: (string | undefined)[];
};

let seen: Seen | undefined;
const { server } = await serve({}, (one) => {
  one.post<{ Body: { attachments?: Attachment[] } }>(
    '/mail',
    { config: { detachesContent: true } },
    async (request) => {
      const detached = detachedOf(request);
      const { attachments = [] } = request.body;
      seen = {
        body: { attachments },
        found: attachments.map(({ content }) => textOf(detached.find(content))),
        hashes: attachments.map(({ content }) => detached.hash(content)),
      };
      return {};
    },
  );
  one.post<{ Body: { content: string } }>('/plain', async (request) => ({
    detached: detachedOf(request).find(request.body.content) !== undefined,
    length: request.body.content.length,
  }));
});

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString();
}

async function send(payload: string, headers: Record<string, string> = {}): Promise<Seen> {
  seen = undefined;
  const response = await server.inject({
    method: 'POST',
    url: '/mail',
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  });
  assert.equal(response.statusCode, 200, response.body);
  return seen ?? assert.fail('no answer');
}

function answerTo(payload: string) {
  const headers = { 'content-type': 'application/json' };
  return server.inject({ method: 'POST', url: '/mail', headers, payload });
}

async function statusOf(payload: string): Promise<number> {
  return (await answerTo(payload)).statusCode;
}

const base64 = (bytes: number) => randomBytes(bytes).toString('base64');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const LARGE = base64(DETACHED_BYTES);
/** As it stands in the text. */
const PLACEHOLDER_CHARACTERS = `\0content-${'0'.repeat(16)}-0`;

test('a large content is found by its placeholder, with its hash, and is not in the body', async () => {
  const contents = [LARGE, base64(300_000), 'c21hbGw='];
  for (const headers of [{}, { 'idempotency-key': 'k' }]) {
    const { body, found, hashes } = await send(
      JSON.stringify({ attachments: contents.map((content, index) => ({ filename: `${index}`, content })) }),
      headers,
    );
    assert.deepEqual(found, [contents[0], contents[1], undefined]);
    assert.deepEqual(hashes, [sha256(LARGE), sha256(contents[1] ?? ''), undefined]);
    assert.equal(body.attachments[2]?.content, 'c21hbGw=');
    for (const { content } of body.attachments.slice(0, 2)) {
      assert.ok(content.length < 100);
      assert.ok(content.includes('\0'));
    }
    assert.deepEqual(
      body.attachments.map(({ filename }) => filename),
      ['0', '1', '2'],
    );
  }
});

test('from 64 KiB on, a content is large', async () => {
  const of = (length: number) => send(JSON.stringify({ attachments: [{ content: 'A'.repeat(length) }] }));
  assert.deepEqual((await of(DETACHED_BYTES - 1)).found, [undefined]);
  assert.deepEqual((await of(DETACHED_BYTES)).found, ['A'.repeat(DETACHED_BYTES)]);
});

test('the escapes of PHP, .NET and line-breaking encoders are undone', async () => {
  const lines = LARGE.replace(/.{76}/g, '$&\r\n');
  for (const [json, meant] of [
    [JSON.stringify(LARGE).replaceAll('/', '\\/'), LARGE],
    [JSON.stringify(LARGE).replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'), LARGE],
    [JSON.stringify(lines), lines],
    [JSON.stringify(`\\"\b\f\t${LARGE}\\`), `\\"\b\f\t${LARGE}\\`],
  ] as const) {
    const { found, hashes } = await send(`{"attachments":[{"content" :\n ${json}},{"content":"x"}]}`);
    assert.deepEqual(found, [meant, undefined]);
    assert.deepEqual(hashes, [sha256(meant), undefined]);
  }
});

test('an escape that is more than one byte leaves the string in the text', async () => {
  const { body, found } = await send(
    `{"attachments":[{"content":"\\/${LARGE}\\u00e9"},{"content":"${LARGE}"}]}`,
  );
  assert.deepEqual(found, [undefined, LARGE]);
  assert.equal(body.attachments[0]?.content, `/${LARGE}é`);
});

test('text that is no JSON stays none', async () => {
  for (const payload of [
    `{"attachments":[{"content":"${LARGE}`,
    `{"attachments":[{"content":"${LARGE}"`,
    `{"attachments":[{"content" "${LARGE}"}]}`,
    `{"attachments":[{"content":"${LARGE}\\x"}]}`,
    `{"attachments":[{"content":"${LARGE}\\u00g0"}]}`,
    `{"attachments":[{"content":"${LARGE}\\u004"}]}`,
    `{"attachments":[{"content":"${LARGE}"}]} x`,
    `{"x":"\xff","attachments":[{"content":"${LARGE}"}],`,
  ]) {
    assert.equal(await statusOf(payload), 400, payload.slice(-40));
  }
});

test('only strings under the key "content" are taken out', async () => {
  for (const attachment of [
    `{"html":"${LARGE}","content":"x"}`,
    `{"filename":"content","html":"${LARGE}","content":"x"}`,
    `{"Content":"${LARGE}","content":"x"}`,
    `{"my content":"${LARGE}","content":"x"}`,
    `{"content":"\\"content\\":\\"${'x'.repeat(10)}","html":"${LARGE}"}`,
    `{"a":["content","${LARGE}"],"content":"x"}`,
  ]) {
    assert.deepEqual(
      (await send(`{"attachments":[${attachment}]}`)).found,
      [undefined],
      attachment.slice(0, 40),
    );
  }
});

test('a string deeper under the key "content" is not detached', async () => {
  for (const content of [`["${LARGE}"]`, `{"deeper":"${LARGE}"}`]) {
    const { body } = await send(`{"attachments":[{"content":"","more":{"content":${content}}}]}`);
    assert.ok(JSON.stringify(body).includes(LARGE), content.slice(0, 10));
  }
});

test('a placeholder cannot be written by a client', async () => {
  const { body } = await send(JSON.stringify({ attachments: [{ content: LARGE }] }));
  const [made = assert.fail()] = body.attachments;
  const { found } = await send(
    JSON.stringify({ attachments: [{ content: PLACEHOLDER_CHARACTERS }, { content: LARGE }] }),
  );
  assert.deepEqual(found, [undefined, LARGE]);
  assert.notEqual(made.content, PLACEHOLDER_CHARACTERS);
  assert.equal(made.content.length, PLACEHOLDER_CHARACTERS.length);
});

test('routes without detached content get plain strings', async () => {
  const response = await server.inject({
    method: 'POST',
    url: '/plain',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ content: LARGE }),
  });
  assert.deepEqual(response.json(), { detached: false, length: LARGE.length });
});

test('routes with attachments take longer bodies', async () => {
  const content = 'A'.repeat(MAX_ATTACHMENTS_BODY_BYTES - '{"attachments":[{"content":""}]}'.length);
  assert.equal((await send(JSON.stringify({ attachments: [{ content }] }))).found[0]?.length, content.length);
  assert.equal(await statusOf(JSON.stringify({ attachments: [{ content: `${content}A` }] })), 413);
});

test('a text without its detached contents has a maximum size', async () => {
  const padded = (bytes: number) => {
    const [start, end] = ['{"html":"', `","attachments":[{"content":"${LARGE}"}]}`];
    const stays = JSON.stringify({ html: '', attachments: [{ content: PLACEHOLDER_CHARACTERS }] }).length;
    return start + 'x'.repeat(bytes - stays) + end;
  };
  assert.deepEqual((await send(padded(MAX_TEXT_BYTES))).found, [LARGE]);
  const refused = await answerTo(padded(MAX_TEXT_BYTES + 1));
  assert.equal(refused.statusCode, 413);
  assert.match(refused.json().error.message, /may have at most 16 MiB apart from its attachments$/);
});

test('a text of more strings than any of ours is left to the check that refuses it', async () => {
  const many = (count: number) => Buffer.from(`{"a":[${'"",'.repeat(count)}""],"content":"${LARGE}"}`);
  const request = { headers: {} } as FastifyRequest;
  const few = await detachContent(request, many(MAX_STRINGS - 4));
  assert.ok(few.length < MAX_STRINGS * 4);
  const limitReached = many(MAX_STRINGS);
  assert.equal(await detachContent(request, limitReached), limitReached);
});

test('detached contents and the rest of the body equal what a JSON parser reads, whatever the strings', async () => {
  const pad = 'B'.repeat(DETACHED_BYTES);
  const text = fc.string({ unit: fc.constantFrom('a', '/', '+', '"', '\\', '\n', 'é', '\0', ':', '{') });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ filename: text, content: text, isLarge: fc.boolean() })),
      async (list) => {
        const attachments = list.map(({ filename, content, isLarge }) => ({
          filename,
          content: isLarge ? pad + content : content,
        }));
        const { body, found } = await send(JSON.stringify({ attachments }));
        assert.deepEqual(
          body.attachments.map(({ filename, content }, index) => ({
            filename,
            content: found[index] ?? content,
          })),
          attachments,
        );
      },
    ),
    { seed: 20260301, numRuns: 60 },
  );
});
