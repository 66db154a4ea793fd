/** Which conversations are stored, what they say, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { decodeLines } from '../../../src/queue/conversation/lines.ts';
import {
  CONVERSATION_DAYS,
  expireConversations,
  listConversations,
} from '../../../src/queue/conversation/store.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { firstKeptId } from '../../../src/system/ids.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { startCommandServer } from '../../support/command-server.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import type { Hosts } from '../../support/loopback.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
let commands: string[] = [];
let domains = 0;

/** Adds a domain whose server offers PIPELINING, and answers to RCPT as `rcpt` says. Returns its name. */
async function addDomain(
  rcpt: (line: string) => string | undefined,
  rest = '250 taken',
  other = '250 ok',
): Promise<string> {
  const server = closing(
    await startCommandServer((line) => {
      commands.push(line);
      if (line.startsWith('EHLO')) return '250-mx.example\r\n250 PIPELINING';
      if (line.startsWith('RCPT')) return rcpt(line);
      if (line === 'DATA') return '354 go on';
      if (line === '.') return rest;
      return /^(MAIL|RSET|QUIT)/.test(line) ? other : '';
    }),
  );
  domains += 1;
  const address = `192.0.2.${domains}`;
  hosts[address] = server.port;
  spool.addZone(`rcpt${domains}.example MX 10 mx${domains}.example\nmx${domains}.example A ${address}`);
  return `rcpt${domains}.example`;
}

async function conversationsOf(id: string, tenantId = spool.tenantId) {
  const rows = await listConversations(spool.app.db.read, tenantId, id);
  return rows.map((row) => ({ ...row, lines: decodeLines(row.lines) }));
}

const textOf = ({ lines }: Awaited<ReturnType<typeof conversationsOf>>[number]) =>
  lines.map(({ direction, text }) => `${direction} ${text}`).join('\n');

test('an attempt that did not deliver leaves its conversation, without content, for its tenant alone', async () => {
  const domain = await addDomain(() => '550 5.1.1 no such user');
  const id = await spool.accept(`bob@${domain}`, { subject: 'A secret', text: 'A secret' });
  await spool.deliverDue();
  const [conversation, ...others] = await conversationsOf(id);
  assert.ok(conversation);
  assert.equal(others.length, 0);
  assert.equal(conversation.at, spool.clock.now());
  assert.match(
    textOf(conversation),
    /^note connecting to mx1\.example \[192\.0\.2\.1\], port 25\nnote connected\nreceived 220 mx\.example ESMTP\nsent EHLO .*received 250-mx\.example\nreceived 250 PIPELINING\nsent MAIL FROM:<b\+.*sent RCPT TO:<bob@.*received 550 5\.1\.1 no such user/s,
  );
  assert.doesNotMatch(textOf(conversation), /secret/i);
  const other = await spool.addTenant('other');
  assert.deepEqual(await conversationsOf(id, other.tenantId), []);
});

test('an attempt that delivered leaves none', async () => {
  const domain = await addDomain(() => '250 ok');
  const id = await spool.accept(`bob@${domain}`);
  await spool.deliverDue();
  assert.equal((await spool.recipient(id)).status, 'delivered');
  assert.deepEqual(await conversationsOf(id), []);
});

test('the conversation of mail in an open session has the opening, and no other mail of the session', async () => {
  const domain = await addDomain((line) => (line.includes('<bad') ? '550 5.1.1 no such user' : '250 ok'));
  commands = [];
  const good = await spool.accept([`ann@${domain}`]);
  await spool.clock.advance(1);
  const bad = await spool.accept([`bad@${domain}`]);
  await spool.clock.advance(1);
  const worse = await spool.accept([`bad2@${domain}`]);
  await spool.deliverDue();
  assert.deepEqual(await conversationsOf(good), []);
  for (const id of [bad, worse]) {
    const [conversation] = await conversationsOf(id);
    assert.ok(conversation);
    const text = textOf(conversation);
    assert.equal(text.match(/^note connecting/gm)?.length, 1, text);
    assert.equal(text.match(/^sent RCPT/gm)?.length, 1, text);
    assert.match(text, /received 550 5\.1\.1 no such user/);
    assert.doesNotMatch(text, /ann@/);
  }
});

test('hosts that break off one after another leave all of their sessions in one conversation', async () => {
  const domain = await addDomain(() => undefined);
  const [, index] = /(\d+)/.exec(domain) ?? [];
  hosts['192.0.2.100'] = hosts[`192.0.2.${index}`] ?? 0;
  spool.addZone(`mx${index}.example A 192.0.2.100`);
  const id = await spool.accept(`bob@${domain}`);
  await spool.deliverDue();
  const [conversation, ...others] = await conversationsOf(id);
  assert.ok(conversation);
  assert.equal(others.length, 0);
  const text = textOf(conversation);
  assert.equal(text.match(/^note connecting/gm)?.length, 2, text);
  assert.equal(text.match(/^note the (host|peer) (closed|reset) the connection/gm)?.length, 2, text);
});

test('the operator sees the conversation with the email', async () => {
  const domain = await addDomain(() => '550 5.1.1 no \u001b[31msuch user');
  const id = await spool.accept(`bob@${domain}`);
  await spool.deliverDue();
  const control = closing(await openControlSocket(spool.app));
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  assert.equal(await runProgram(['email', 'show', id], terminal), 0);
  await control.close();
  assert.match(
    terminal.output,
    /^Sessions of the attempt that ended at 2026-.*Z with mx\d+\.example:\n +0 ms \* connecting to .*\n.*^ +\d+ ms > RCPT TO:<bob@.*\n.*^ +\d+ ms < 550 5\.1\.1 no \[31msuch user$/ms,
  );
  const shown = await spool.request('GET', `/v1/emails/${id}`, { key: spool.liveKey });
  assert.doesNotMatch(JSON.stringify(shown.body), /connecting to/, 'tenants see the last reply alone');
});

test('a host that refuses connections is named', async () => {
  spool.addZone('closed.example MX 10 mx.closed.example\nmx.closed.example A 192.0.2.200');
  const id = await spool.accept('bob@closed.example');
  await spool.deliverDue();
  const [conversation] = await conversationsOf(id);
  assert.match(
    conversation ? textOf(conversation) : '',
    /^note connecting to mx\.closed\.example .*\nnote .*refused/,
  );
});

test('what a server says to all attempts of a message has a limit, beyond which the oldest conversations go', async () => {
  const long = (code: number) => `${`${code}-${'x'.repeat(500)}\r\n`.repeat(7)}${code} end`;
  const domain = await addDomain(() => long(250), long(450), long(250));
  const id = await spool.accept(`bob@${domain}`);
  const attemptedAt: number[] = [];
  for (let attempt = 0; attempt < 16; attempt++) {
    await spool.deliverDue();
    attemptedAt.push(spool.clock.now());
    await spool.clock.advance((attempt < 6 ? 1.2 : 4.5) * 3_600_000);
  }
  const kept = await listConversations(spool.app.db.read, spool.tenantId, id);
  const characters = kept.reduce((sum, { lines }) => sum + lines.length, 0);
  assert.ok(characters > 48 * 1024 && characters <= 64 * 1024, String(characters));
  assert.ok(kept.length < attemptedAt.length);
  assert.deepEqual(
    kept.map(({ at }) => at),
    attemptedAt.slice(-kept.length),
  );
});

test('conversations are deleted after seven days, and not earlier', async () => {
  const domain = await addDomain(() => '450 4.2.0 later');
  const id = await spool.accept(`bob@${domain}`);
  await spool.deliverDue();
  const [conversation] = await conversationsOf(id);
  assert.ok(conversation);
  const { db } = spool.app;
  const keptAt = (now: number) => ({
    after: '',
    before: firstKeptId('cnv', now, CONVERSATION_DAYS),
    rows: 500,
  });
  await db.commit(expireConversations, keptAt(conversation.at + 7 * DAY_MS - 1));
  assert.equal((await conversationsOf(id)).length, 1);
  await db.commit(expireConversations, keptAt(conversation.at + 7 * DAY_MS));
  assert.deepEqual(await conversationsOf(id), []);
});
