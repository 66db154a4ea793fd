/** Mail of people on its way: its signature and its envelope, the parameters that are passed on, and UTF-8. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { addMailbox } from '../mailboxes/fixtures.ts';
import type { Hosts } from '../support/loopback.ts';
import { dialHosts } from '../support/loopback.ts';
import { nodeResolver } from '../support/node-resolver.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';
import { openSubmissionWorld, submit } from './submission-world.ts';

const MODERN = '192.0.2.1';
const OLD = '192.0.2.2';
const hosts: Hosts = {};
/** Lines that the servers have read since the test began. */
const lines: string[] = [];
const servers = await Promise.all([
  startServer(['PIPELINING', '8BITMIME', 'SMTPUTF8', 'DSN']),
  startServer([]),
]);
const world = await openSubmissionWorld({ system: { dial: dialHosts(hosts) } });
const ANN = `ann@${SENDER_DOMAIN}`;
const ZOË = `zoë@${SENDER_DOMAIN}`;
const MESSAGE = `From: Ann <${ANN}>\r\nSubject: Hi\r\nDate: Sun, 01 Mar 2026 11:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 8bit\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrüße\r\n..dot\r\n`;

Object.assign(hosts, { [MODERN]: servers[0]?.port, [OLD]: servers[1]?.port });
const domains = await world.request('GET', '/v1/domains', { key: world.liveKey });
const { id } = domains.body.data.find(({ name }: { name: string }) => name === SENDER_DOMAIN);
await world.request('PATCH', `/v1/domains/${id}`, { key: world.liveKey, body: { productType: 'both' } });
await addMailbox(world, { address: ANN });
await addMailbox(world, { address: ZOË });
world.addZone(
  `new.example A ${MODERN}\nold.example A ${OLD}\nboth.example MX 10 old.example\nboth.example MX 20 new.example`,
);
after(() => {
  for (const { close } of servers) close();
});
beforeEach(() => {
  lines.length = 0;
});

/** Starts a server that takes every message and offers these extensions. */
async function startServer(extensions: readonly string[]) {
  const server = createServer((socket) => {
    let text = '';
    let isData = false;
    socket.on('error', () => {});
    socket.write('220 test\r\n');
    socket.on('data', (part) => {
      text += part.toString();
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        lines.push(line);
        if (isData && line !== '.') continue;
        const hasEnded = isData;
        isData = line === 'DATA';
        if (line.startsWith('EHLO'))
          socket.write(
            `${['250-test', ...extensions.map((one) => `250-${one}`), '250 HELP'].join('\r\n')}\r\n`,
          );
        else socket.write(isData ? '354 go on\r\n' : hasEnded ? '250 taken\r\n' : '250 ok\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, close: () => server.close() };
}

/** Returns the message that the servers have read, without dot-stuffing. */
function message(): string {
  const start = lines.indexOf('DATA') + 1;
  return lines
    .slice(start, lines.indexOf('.', start))
    .map((line) => `${line.replace(/^\./, '')}\r\n`)
    .join('');
}

async function send(to: string, parameters = '', from = ANN, subject = 'Hi'): Promise<string> {
  const client = await world.logIn(from);
  const message = MESSAGE.replace(ANN, from).replace('Subject: Hi', `Subject: ${subject}`);
  const reply = await submit(client, { from, to, message, parameters });
  client.socket.destroy();
  await world.deliverDue();
  return reply;
}

test('a message leaves with the address of its writer and a signature of its domain', async () => {
  assert.match(await send('bob@new.example'), /^250/);
  assert.ok(
    lines.some((line) => line.startsWith(`MAIL FROM:<${ANN}>`)),
    lines.join('\n'),
  );
  const raw = message();
  assert.match(raw, /^DKIM-Signature: /);
  assert.equal(raw.match(/^Date: /gm)?.length, 1);
  assert.match(raw, /Gr=C3=BC=C3=9Fe\r\n\.dot\r\n$/);
  const { results } = await dkimVerify(Buffer.from(raw), { resolver: nodeResolver(world.dns) });
  assert.deepEqual(
    results.map(({ status, signingDomain }) => [status.result, signingDomain]),
    [['pass', SENDER_DOMAIN]],
  );
});

test('a server that offers DSN is told what the writer wants to know', async () => {
  const client = await world.logIn(ANN);
  for (const [line, code] of [
    [`MAIL FROM:<${ANN}> RET=HDRS ENVID=abc`, /^250/],
    ['RCPT TO:<bob@new.example> NOTIFY=FAILURE,SUCCESS ORCPT=rfc822;bob@new.example', /^250/],
    ['RCPT TO:<bob@old.example> NOTIFY=SUCCESS', /^250/],
    ['RCPT TO:<eve@new.example> NOTIFY=NEVER,SUCCESS', /^501 5\.5\.4/],
    ['RCPT TO:<eve@new.example> NOTIFY=NEVER NOTIFY=NEVER', /^501 5\.5\.4/],
    ['RCPT TO:<eve@new.example> ORCPT=rfc822;a b', /^555|^501/],
    ['DATA', /^354/],
  ] as const)
    assert.match(await client.ask(`${line}\r\n`), code, line);
  const reply = await client.ask(`${MESSAGE}.\r\n`);
  await world.deliverDue();
  assert.ok(
    lines.some((line) => /^MAIL FROM:<ann@sender\.example>.* RET=HDRS ENVID=abc$/.test(line)),
    lines.join('\n'),
  );
  assert.ok(lines.includes('RCPT TO:<bob@new.example> NOTIFY=FAILURE,SUCCESS ORCPT=rfc822;bob@new.example'));
  assert.ok(lines.includes('RCPT TO:<bob@old.example>'));
  // The server with DSN reports to the writer itself, and this one reports for the other.
  const { id } = await world.queued(reply);
  const dsns = (await world.recipients(id)).map(({ dsn }) => dsn);
  assert.deepEqual(dsns, [null, 'NOTIFY=SUCCESS']);
});

test('a server that offers DSN is told that the writer wants the whole message back', async () => {
  assert.match(await send('bob@new.example', ' RET=FULL'), /^250/);
  assert.ok(
    lines.some((line) => /^MAIL FROM:<ann@sender\.example>.* RET=FULL$/.test(line)),
    lines.join('\n'),
  );
  lines.length = 0;
  assert.match(await send('bob@old.example', ' RET=FULL'), /^250/);
  assert.ok(lines.length > 0 && !lines.some((line) => line.includes('RET=')));
});

test('mail in UTF-8 goes to servers that take it, and fails with 5.6.7 where there is none', async () => {
  assert.match(await send('bob@both.example', ' SMTPUTF8'), /^250/);
  assert.ok(!lines.some((line) => line.includes('SMTPUTF8')), 'nothing in it is UTF-8');
  lines.length = 0;
  const reply = await send('büb@both.example', ' SMTPUTF8');
  const { id } = await world.queued(reply);
  assert.equal((await world.recipients(id))[0]?.state, 'delivered');
  assert.ok(lines.some((line) => / SMTPUTF8$/.test(line)));
  assert.ok(lines.includes('RCPT TO:<büb@both.example>'));
  const failed = await world.queued(await send('büb@old.example', ' SMTPUTF8'));
  const [recipient] = await world.recipients(failed.id);
  assert.deepEqual([recipient?.state, recipient?.enhancedCode], ['bounced', '5.6.7']);
  assert.match(await send('büb@new.example'), /^553 5\.6\.7/);
  lines.length = 0;
  assert.match(await send('bob@both.example', ' SMTPUTF8', ANN, 'Grüße'), /^250/);
  assert.ok(
    lines.some((line) => / SMTPUTF8$/.test(line)),
    'the header is in UTF-8',
  );
});

test('a writer with an address in UTF-8 sends through servers that take it, with a signature over the header as it is', async () => {
  assert.match(await send('bob@both.example', ' SMTPUTF8', ZOË), /^250/);
  assert.ok(lines.some((line) => line.startsWith(`MAIL FROM:<${ZOË}> `) && / SMTPUTF8$/.test(line)));
  const raw = message();
  assert.match(raw, new RegExp(`^From: Ann <${ZOË}>\r$`, 'm'));
  const { results } = await dkimVerify(Buffer.from(raw), { resolver: nodeResolver(world.dns) });
  assert.deepEqual(
    results.map(({ status }) => status.result),
    ['pass'],
  );
  const failed = await world.queued(await send('bob@old.example', ' SMTPUTF8', ZOË));
  const [recipient] = await world.recipients(failed.id);
  assert.deepEqual([recipient?.state, recipient?.enhancedCode], ['bounced', '5.6.7']);
});

test('an email of the API with an address in UTF-8 needs SMTPUTF8, and one with a name in UTF-8 does not', async () => {
  const post = async (body: object) => {
    lines.length = 0;
    const answer = await world.request('POST', '/v1/emails', {
      key: world.liveKey,
      body: {
        from: ANN,
        to: 'bob@new.example',
        subject: 'Grüße',
        text: 'Hi',
        type: 'transactional',
        ...body,
      },
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    await world.deliverDue();
    return answer.body.id as string;
  };
  await post({ from: `Zoë <${ANN}>` });
  assert.ok(!lines.some((line) => line.includes('SMTPUTF8')));
  await post({ from: `Zoë <${ZOË}>`, to: 'büb@new.example', cc: 'Bob <bob@new.example>' });
  assert.ok(
    lines.some((line) => /^MAIL FROM:<b\+.*> .*SMTPUTF8$/.test(line)),
    lines.join('\n'),
  );
  assert.ok(lines.includes('RCPT TO:<büb@new.example>'));
  assert.ok(lines.includes(`From: =?UTF-8?Q?Zo=C3=AB?= <${ZOË}>`));
  assert.ok(lines.includes('To: büb@new.example'));
  const { results } = await dkimVerify(Buffer.from(message()), { resolver: nodeResolver(world.dns) });
  assert.deepEqual([results[0]?.status.result], ['pass']);
  for (const fields of [{ replyTo: ZOË }, { bcc: 'büb@new.example' }]) {
    await post(fields);
    assert.ok(
      lines.some((line) => / SMTPUTF8$/.test(line)),
      JSON.stringify(fields),
    );
  }
  const [recipient] = await world.recipients(await post({ to: 'büb@old.example' }));
  assert.deepEqual([recipient?.state, recipient?.enhancedCode], ['bounced', '5.6.7']);
  const { data } = (await world.request('GET', '/v1/suppressions', { key: world.liveKey })).body;
  assert.deepEqual(data, [], 'the address may exist: another route to it takes UTF-8');
});

/** Hands over a message whose header has raw octets, and returns what the server has read. */
async function sendRaw(head: string, parameters = ''): Promise<string> {
  const client = await world.logIn(ANN);
  await client.ask(`MAIL FROM:<${ANN}>${parameters}\r\n`);
  await client.ask('RCPT TO:<bob@new.example>\r\n');
  await client.ask('DATA\r\n');
  client.socket.write(Buffer.from(`${head}\r\n\r\n${'long line '.repeat(200)}\r\n.\r\n`, 'latin1'));
  assert.match(await client.reply(), /^250/);
  client.socket.destroy();
  await world.deliverDue();
  return message();
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1');

test('raw octets of a header are encoded, long lines are folded or quoted, and the signature holds', async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `<${index}@mail.example>`).join('');
  const raw = await sendRaw(
    `From: ${utf8('Jörg')} <${ANN}>\r\nSubject: caf\xe9\r\nReferences: ${ids}\r\nDate: Sun, 01 Mar 2026 11:00:00 +0000`,
  );
  assert.match(raw, /^From: =\?UTF-8\?B\?SsO2cmc=\?= <ann@sender\.example>\r$/m);
  assert.match(raw, /^Subject: =\?UTF-8\?B\?Y2Fmw6k=\?=\r$/m);
  assert.match(raw, /^Content-Transfer-Encoding: quoted-printable\r$/m);
  for (const line of raw.split('\r\n')) assert.ok(line.length <= 998 && /^[\t -~]*$/.test(line), line);
  const { results } = await dkimVerify(Buffer.from(raw), { resolver: nodeResolver(world.dns) });
  assert.deepEqual(
    results.map(({ status }) => status.result),
    ['pass'],
  );
  const row = (await world.messages()).at(-1);
  assert.equal(row?.utf8, 0);
});

test('a header in UTF-8 stays when its client asked for SMTPUTF8', async () => {
  const raw = await sendRaw(`From: ${ANN}\r\nSubject: ${utf8('Grüße')}`, ' SMTPUTF8');
  assert.match(raw, /^Subject: Grüße\r$/m);
  assert.ok(lines.some((line) => line.startsWith('MAIL FROM') && line.includes('SMTPUTF8')));
});

test('a field that nothing can fold is refused, with its name', async () => {
  const client = await world.logIn(ANN);
  const message = MESSAGE.replace(
    'Subject: Hi',
    `Subject: Hi\r\nIn-Reply-To: <${'x'.repeat(1_000)}@a.example>`,
  );
  assert.match(
    await submit(client, { from: ANN, to: 'bob@new.example', message }),
    /^550 5\.6\.0 The field `in-reply-to` has a line of more than 998 octets/,
  );
});

test('a header that grows too large by its encoding is refused', async () => {
  const client = await world.logIn(ANN);
  const message = MESSAGE.replace('Subject: Hi', `Subject: ${'日本'.repeat(35_000)}`);
  assert.match(
    await submit(client, { from: ANN, to: 'bob@new.example', message }),
    /^550 5\.6\.0 The header of the message is too large once its text is encoded/,
  );
});
