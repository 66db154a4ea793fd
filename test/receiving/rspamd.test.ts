import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { type CheckedMessage, createRspamd, MAX_ANSWER_BYTES } from '../../src/receiving/rspamd.ts';
import { createFetch } from '../../src/system/fetch.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { PASS } from '../inbound/mail-world.ts';
import { ANY_TARGET } from '../support/any-target.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';
import { zoneDns } from '../support/zone-dns.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let handler: Handler = () => {};
const server = createServer((request, response) => handler(request, response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});

const clock = createFakeClock(0);
const { log, lines } = recordLog('warn');
const metrics = createMetrics(clock);
const app = { clock, log, metrics, fetch: createFetch(ANY_TARGET, zoneDns('')) };
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const rspamd = createRspamd(app, { url, timeoutMs: 60_000 });

const TEXT = 'Subject: Hello\r\n\r\nHi\r\n';
const MESSAGE: CheckedMessage = {
  sizeBytes: TEXT.length,
  async *chunks() {
    yield Buffer.from(TEXT.slice(0, 5));
    yield Buffer.from(TEXT.slice(5));
  },
  client: {
    address: '192.0.2.1',
    helo: 'mail.sender.example',
    tls: { version: 'TLSv1.3', cipher: 'TLS_AES_128_GCM_SHA256' },
  },
  sender: 'ann@sender.example',
  recipients: ['info@shop.example', '"a,b"@shop.example'],
  hostname: 'mx.postrider.example',
  result: PASS,
};

/** Answers the next checks with this status and body, after the whole message was read. */
function answer(body: string | Buffer, status = 200): void {
  handler = async (request, response) => {
    for await (const _ of request);
    response.writeHead(status).end(body);
  };
}

test('rspamd gets the message with its envelope and our results, and its score and symbols come back', async () => {
  let seen: Record<string, unknown> = {};
  let body = '';
  handler = async (request, response) => {
    for await (const part of request) body += part;
    seen = { ...request.headers, path: `${request.method} ${request.url}` };
    const symbols = {
      R_SPF_ALLOW: { name: 'R_SPF_ALLOW', score: -0.2, options: ['a'] },
      BAYES_SPAM: { score: 5.1 },
      DMARC_NA: { score: 0 },
      'bad name': { score: 1 },
      NO_SCORE: {},
    };
    response.end(JSON.stringify({ score: 4.9, required_score: 15, action: 'add header', symbols }));
  };
  const dkim = [
    {
      result: 'pass',
      domain: 'sender.example',
      selector: 's',
      algorithm: 'rsa-sha256',
      reason: '',
      isAligned: true,
    },
  ] as const;
  assert.deepEqual(
    await rspamd.check({ ...MESSAGE, sender: 'bü\r\nx@sender.example', result: { ...PASS, dkim } }),
    {
      score: 4.9,
      reasons: [
        { name: 'rspamd:BAYES_SPAM', points: 5.1 },
        { name: 'rspamd:R_SPF_ALLOW', points: -0.2 },
      ],
    },
  );
  assert.equal(body, TEXT);
  const expected = {
    path: 'POST /checkv2',
    'content-length': String(TEXT.length),
    ip: '192.0.2.1',
    helo: 'mail.sender.example',
    hostname: 'mail.sender.example',
    rcpt: 'info@shop.example,"a,b"@shop.example',
    'mta-name': 'mx.postrider.example',
    'tls-version': 'TLSv1.3',
    'tls-cipher': 'TLS_AES_128_GCM_SHA256',
    spf: '{"result":"pass"}',
    dkim: '{"results":[{"result":"pass","domain":"sender.example"}]}',
    dmarc: '{"result":"pass"}',
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(seen[name], value, name);
  // The sender is UTF-8, without what could begin another header.
  assert.equal(Buffer.from(String(seen['from']), 'latin1').toString(), 'büx@sender.example');
});

test('our results are told in the words of rspamd', async () => {
  let seen: IncomingMessage['headers'] = {};
  handler = async (request, response) => {
    for await (const _ of request);
    seen = request.headers;
    response.end('{"score":0}');
  };
  const spf = { ...PASS.spf, result: 'none' } as const;
  for (const [dmarc, said] of [
    [{ result: 'fail', policy: 'none' }, 'softfail'],
    [{ result: 'fail', policy: 'quarantine' }, 'quarantine'],
    [{ result: 'fail', policy: 'reject' }, 'reject'],
    [{ result: 'none', policy: undefined }, 'na'],
    [{ result: 'permerror', policy: undefined }, 'permfail'],
    [{ result: 'temperror', policy: undefined }, 'tempfail'],
  ] as const) {
    await rspamd.check({ ...MESSAGE, result: { ...PASS, spf, dmarc: { ...PASS.dmarc, ...dmarc } } });
    assert.equal(seen['dmarc'], JSON.stringify({ result: said }));
    assert.equal(seen['spf'], '{"result":"na"}');
    assert.equal(seen['dkim'], '{"results":[{"result":"na"}]}');
  }
});

test('whatever goes wrong with rspamd, there is no verdict, and the log says so once a minute', async () => {
  lines.length = 0;
  for (const [body, status] of [
    ['{"score":1}', 500],
    ['{"score":1}', 302],
    ['{"score":1', 200],
    ['', 200],
    ['null', 200],
    ['{"score":"1"}', 200],
    ['{"score":1e999}', 200],
    [`{"score":1,"x":"${'y'.repeat(MAX_ANSWER_BYTES)}"}`, 200],
    // The part of it that is read is an answer of its own.
    [`{"score":1}${' '.repeat(MAX_ANSWER_BYTES)}`, 200],
    ['['.repeat(100_000), 200],
  ] as const) {
    answer(body, status);
    assert.equal(await rspamd.check(MESSAGE), undefined, body.slice(0, 20));
  }
  handler = (request) => request.socket.destroy();
  assert.equal(await rspamd.check(MESSAGE), undefined);
  assert.equal(lines.length, 1);
  await clock.advance(60_000);
  const nobody = createRspamd(app, { url: 'http://127.0.0.1:1' });
  assert.equal(await nobody.check(MESSAGE), undefined);
  assert.equal((await metrics.show()).text.includes('inbound_rspamd_total{result="failed"} 12'), true);
});

test('rspamd that hangs before, within or after its answer is given up in time, and the message is closed', async () => {
  let closed = 0;
  const large: CheckedMessage = {
    ...MESSAGE,
    sizeBytes: 64 * 1024 * 1024,
    async *chunks() {
      try {
        for (let piece = 0; piece < 1024; piece++) yield Buffer.alloc(64 * 1024);
      } finally {
        closed += 1;
      }
    },
  };
  const hangs: Handler[] = [
    () => {},
    (_request, response) => response.writeHead(200).write('{"score"'),
    async (request) => {
      for await (const _ of request);
    },
  ];
  const hurried = createRspamd(app, { url, timeoutMs: 500 });
  for (const hang of hangs) {
    handler = hang;
    assert.equal(await hurried.check(hang === hangs[2] ? MESSAGE : large), undefined);
  }
  assert.equal(closed, 2);
});

test('scores are limited, and an answer with many symbols keeps the weightiest', async () => {
  const symbols = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`S${index}`, { score: index }]),
  );
  answer(JSON.stringify({ score: -5_000, symbols }).replace('"S1":', '"__proto__":{"score":99},"S1":'));
  const verdict = await rspamd.check(MESSAGE);
  assert.equal(verdict?.score, -1_000);
  assert.equal(verdict?.reasons.length, 20);
  assert.deepEqual(verdict?.reasons.slice(0, 2), [
    { name: 'rspamd:__proto__', points: 99 },
    { name: 'rspamd:S49', points: 49 },
  ]);
});

test('a message that rspamd rejects whatever its score has at least 15 points, and its own limits do not matter', async () => {
  const verdictOn = async (fields: object) => {
    answer(
      JSON.stringify({ score: 4, required_score: 10, symbols: { CLAM_VIRUS: { score: 4 } }, ...fields }),
    );
    return rspamd.check(MESSAGE);
  };
  const virus = { name: 'rspamd:CLAM_VIRUS', points: 4 };
  assert.deepEqual(await verdictOn({ action: 'reject' }), {
    score: 15,
    reasons: [{ name: 'rspamd:reject', points: 11 }, virus],
  });
  // The answer to GTUBE, the test message for filters of spam.
  assert.deepEqual(
    await verdictOn({ action: 'reject', score: 0, required_score: null, symbols: { GTUBE: { score: 0 } } }),
    {
      score: 15,
      reasons: [{ name: 'rspamd:reject', points: 15 }],
    },
  );
  const unchanged = { score: 4, reasons: [virus] };
  assert.deepEqual(await verdictOn({ action: 'reject', required_score: 4 }), unchanged);
  for (const action of ['add header', 'soft reject', 'no action', undefined])
    assert.deepEqual(await verdictOn({ action }), unchanged);
  assert.equal((await verdictOn({ action: 'reject', score: 20, required_score: null }))?.score, 20);
});

test('checks are few at a time, and one network leaves some for others', async () => {
  const waiting: ServerResponse[] = [];
  handler = async (request, response) => {
    for await (const _ of request);
    waiting.push(response);
    if (waiting.length === 25) for (const one of waiting) one.end('{"score":1}');
  };
  const checks = Array.from({ length: 40 }, () => rspamd.check(MESSAGE));
  const other = rspamd.check({ ...MESSAGE, client: { ...MESSAGE.client, address: '198.51.100.1' } });
  const done = (await Promise.all(checks)).filter((verdict) => verdict !== undefined);
  assert.equal(done.length, 24);
  assert.deepEqual(await other, { score: 1, reasons: [] });
});
