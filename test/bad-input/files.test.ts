/**
 * Files of rows that hold anything, to every operation that takes them: refused at once, or taken in to an end that can be
 * read, and nothing else waits for them.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import { anyCharacter } from '../support/any-character.ts';
import { type Asked, pathOf } from '../support/resources/populated.ts';
import { withoutStall } from './stall.ts';
import { openBadInput, run } from './world.ts';

const MIB = 1024 * 1024;
const CELLS = [',', '"', '""', 'x', 'x,', '"x",', '\0', ' ', ';', '\t'];
const ALL_CELLS_BYTES = 2 * MIB;
const LINES = ['\n', '\r', 'x\n', '"\n'];
/** Each line is a row that is looked at. */
const ALL_LINES_BYTES = MIB / 64;

const world = await openBadInput();
const { populated } = world;
const { owner, operations } = populated;
after(() => world.close());

const files = operations.filter(({ body }) => body?.type === 'text/csv');

async function send(
  url: string,
  payload: string | Buffer,
  type = 'text/csv',
): Promise<LightMyRequestResponse> {
  const asked: Asked = { method: 'POST', url, payload, type };
  return populated.ask(owner, asked);
}

type Job = { id: string; status: string; rows: number; failed: number };

/** Refused in the envelope, or taken in; then its end, and the rows that were not. */
async function sendAndRun(url: string, file: string | Buffer): Promise<Job | undefined> {
  const sent = await send(url, file);
  const about = `${url} ${String(file).slice(0, 200)}: ${sent.statusCode} ${sent.body.slice(0, 300)}`;
  assert.ok([202, 400, 413].includes(sent.statusCode), about);
  if (sent.statusCode !== 202) {
    assert.match(sent.json().error.type, /^(?:validation_error|payload_too_large)$/, about);
    return undefined;
  }
  await populated.runJobs(owner);
  const job = `/v1/imports/${sent.json().id}`;
  const ended = (await populated.ask(owner, { method: 'GET', url: job })).json<Job>();
  assert.ok(['completed', 'failed'].includes(ended.status), `${about} ${JSON.stringify(ended)}`);
  const errors = await populated.ask(owner, { method: 'GET', url: `${job}/errors` });
  assert.equal(errors.statusCode, 200);
  assert.match(errors.body, /^line,email,error\r\n/);
  assert.ok(errors.body.isWellFormed());
  return ended;
}

test('there are files to send', () => {
  assert.ok(files.length >= 2);
});

const HEADING = 'email,first name,reason,plan\r\n';
const ODD: readonly (string | Buffer)[] = [
  ...[
    '',
    '\0',
    '\r\n',
    ',',
    '"',
    '"""',
    'x',
    '\ufeff',
    'email',
    'email\r\n',
    'email,email\r\na@b.example,c@d.example',
  ],
  ...[
    '__proto__,email\r\nx,a@b.example\r\n',
    'email,constructor\r\na@b.example,x\r\n',
    'email,\r\na@b.example,\r\n',
  ],
  ...[
    'email;plan\r\na@b.example;x',
    'email\tplan\na@b.example\tx',
    'email\ra@b.example\r',
    'EMAIL,E-Mail\r\na,b',
  ],
  ...[
    'email,topics.x\r\na@b.example,yes',
    'email,topics.__proto__\r\na@b.example,1',
    'email,topics.\r\na@b.example,1',
  ],
  ...[
    'email,properties.\r\na@b.example,1',
    'email,properties.%\r\na@b.example,1',
    'email,a b\r\na@b.example,1',
  ],
  `${HEADING}a@b.example,"unclosed\r\nc@d.example,x\r\n`,
  `${HEADING}a@b.example,a\0b,manual,x\r\n`,
  `${HEADING}=cmd|'/c calc'!A1,=1+1,@SUM(1),-1\r\n`,
  `${HEADING}a@b.example,x,y,z,more,cells,than,headings\r\n`,
  `${HEADING}"a@b.example"x,y\r\n`,
  `${HEADING}a@b.example,${'x'.repeat(1_000_000)},manual,x\r\n`,
  `${'x,'.repeat(100_000)}email\r\n`,
  `email,${Array.from({ length: 150 }, (_, index) => `p${index}`)}\r\na@b.example${',1'.repeat(150)}\r\n`,
  Buffer.from(`${HEADING}a@b.example,\xff\xfe,manual,x\r\n`, 'latin1'),
  Buffer.from(`${HEADING}a@b.example,\ud800,manual,x\r\n`, 'utf16le'),
  Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`${HEADING}a@b.example,\ud800,x,y\r\n`, 'utf16le')]),
  Buffer.from([0xff, 0xfe, 0x65]),
  Buffer.from([0xfe, 0xff, 0, 0x65, 0]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0x1f, 0x8b, 8, 0]),
];

for (const { path, query, ids } of files) {
  const url = pathOf({ path, ids }, owner);

  test(`POST ${path} bears files of any shape`, async () => {
    for (const file of ODD) await sendAndRun(url, file);
  });

  test(`POST ${path} bears random bytes`, async () => {
    await run(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
        await sendAndRun(url, Buffer.from(bytes));
      }),
      50,
    );
  });

  test(`POST ${path} takes in rows of anything after a sound heading`, async () => {
    const cell = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 30 }),
      fc.constantFrom('"', '""', ',', '\r', '\n', '\0', 'a@b.example', 'true', '\u2028', '=1', '__proto__'),
    );
    const rows = fc.array(
      fc.array(cell, { maxLength: 6 }).map((cells) => cells.join(',')),
      { maxLength: 30 },
    );
    let taken = 0;
    await run(
      fc.asyncProperty(rows, async (lines) => {
        if (await sendAndRun(url, HEADING + lines.join('\r\n'))) taken += 1;
      }),
      50,
    );
    assert.ok(taken > 10, `${taken} were taken in`);
  });

  test(`POST ${path} takes CSV alone, and no more than it says`, async () => {
    for (const type of ['application/json', 'text/plain', 'text/csvx', '', 'x']) {
      const { statusCode, body } = await send(url, HEADING, type);
      assert.equal(statusCode, 415, `${type} ${body}`);
    }
    const { statusCode } = await send(url, Buffer.alloc(51 * MIB, 'a'));
    assert.equal(statusCode, 413);
    for (const { name } of query) {
      const refused = await send(`${url}?${name}=%00`, HEADING);
      assert.deepEqual([refused.statusCode, refused.json().error.param], [400, name]);
    }
  });

  test(`POST ${path} holds nobody up with a file that is all of one thing`, () =>
    withoutStall(path, async () => {
      for (const filler of CELLS)
        await sendAndRun(url, HEADING + filler.repeat(ALL_CELLS_BYTES / filler.length));
      for (const filler of LINES)
        await sendAndRun(url, HEADING + filler.repeat(ALL_LINES_BYTES / filler.length));
      await sendAndRun(url, `email\r\n"${'x'.repeat(8 * MIB)}`);
    }));
}
