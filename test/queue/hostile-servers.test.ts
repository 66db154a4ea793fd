/** Diagnostics for the sender when a mail server breaks the protocol. One spool serves all servers. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { Claim } from '../../src/queue/claim.ts';
import type { Outcome } from '../../src/queue/outcome/outcome.ts';
import { Addresses } from '../../src/queue/sessions/addresses.ts';
import { connect } from '../../src/queue/sessions/connect.ts';
import { transact } from '../../src/queue/sessions/transact.ts';
import { type Script, type ScriptPhase, startScriptedPeer } from '../mail/smtp/client/scripted-peer.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { type Hosts, listenOnLoopback } from '../support/loopback.ts';
import { deliveryAppOf } from '../support/spool.ts';
import { openRoutedSpool } from './routed-spool.ts';

const WITH_STARTTLS = '250-peer.test\r\n250 STARTTLS\r\n';
const WITHOUT_PIPELINING = '250 peer.test\r\n';
/** RFC 8446 section 6: a fatal alert, handshake_failure. */
const TLS_ALERT = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);
const VERBOSE = `${`550-5.1.1 ${'x'.repeat(1_000)}\r\n`.repeat(238)}550 5.1.1 no such user\r\n`;

/** A server that answers a handshake with these bytes, and then hangs up. */
type HandshakeAnswer = { handshake: Buffer };
type Host = Script | HandshakeAnswer | 'refuses';

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

/** Hosts in order of preference, and the diagnostic with `mx1` and `mx2` as their names. */
const SERVERS: Record<string, [hosts: Host[], diagnostic: string | RegExp]> = {
  'closes without a word': [[{ banner: 'close' }], 'mx1 (greeting): the peer closed the connection'],
  'greets with something else': [
    [{ banner: 'HTTP/1.1 400 Bad Request\r\n' }],
    'mx1 (greeting): not an SMTP reply: "HTTP/1.1 400 Bad Request"',
  ],
  'greets with 421': [[{ banner: '421 4.3.2 too busy\r\n' }], '421 4.3.2 too busy'],
  'ends the handshake with an alert': [
    [{ handshake: TLS_ALERT }],
    /^mx1 \(STARTTLS\): (?:ERR_\S+ )?ssl\/tls alert handshake failure \(SSL alert number 40\)$/,
  ],
  'refuses STARTTLS': [
    [{ ehlo: WITH_STARTTLS, starttls: '454 4.7.0 not now\r\n' }],
    'mx1 (STARTTLS): STARTTLS refused: 454 4.7.0 not now',
  ],
  'closes at RCPT': [[{ rcpt: 'close' }], 'mx1 (RCPT TO): the peer closed the connection'],
  'closes after the message': [[{ dot: 'close' }], 'mx1 (end of message): the peer closed the connection'],
  'resets at RCPT': [
    [{ ehlo: WITHOUT_PIPELINING, rcpt: 'reset' }],
    'mx1 (RCPT TO): the host reset the connection (ECONNRESET)',
  ],
  'answers MAIL out of turn': [
    [{ mail: '354 go\r\n' }],
    'mx1 (MAIL FROM): the peer answered 354 out of turn',
  ],
  'answers with lines without end': [
    [{ rcpt: `250-${'x'.repeat(1_000)}\r\n`.repeat(300) }],
    'mx1 (RCPT TO): a reply is longer than 262144 bytes',
  ],
  'colours and turns its words': [
    [{ rcpt: utf8('450 4.2.1 \x1b[31mred\u202e and\u200b back\u0085\r\n') }],
    '450 4.2.1 [31mred and back',
  ],
  'writes more than anybody reads': [[{ rcpt: VERBOSE }], /^550 5\.1\.1 x{900,985} ?x*…?$/],
  'cannot be reached': [['refuses'], 'mx1 (connecting): the host refused the connection (ECONNREFUSED)'],
  'talks nonsense, and the next cannot be reached': [
    [{ banner: 'hello\r\n' }, 'refuses'],
    'mx1 (greeting): not an SMTP reply: "hello"',
  ],
  'cannot be reached, and the next is busy': [
    ['refuses', { banner: '421 4.3.2 too busy\r\n' }],
    '421 4.3.2 too busy',
  ],
  'breaks off, and the next cannot be reached': [
    [{ rcpt: 'close' }, 'refuses'],
    'mx1 (RCPT TO): the peer closed the connection',
  ],
  'breaks off, and the next does so elsewhere': [
    [{ rcpt: 'close' }, { ehlo: 'close' }],
    'mx2 (EHLO): the peer closed the connection',
  ],
  'refuses the handshake, and then the connection': [
    [{ handshake: TLS_ALERT }, 'refuses'],
    /^mx1 \(STARTTLS\): .*SSL alert number 40/,
  ],
};

/** The scripts of servers that stop answering, and the diagnostic after the host's name. */
const SILENT: [script: Script, diagnostic: string][] = [
  [{ banner: 'hang' }, '(greeting): the answer took longer than 60000 ms'],
  [{ ehlo: 'hang' }, '(EHLO): the answer took longer than 60000 ms'],
  [{ ehlo: WITH_STARTTLS, starttls: 'hang' }, '(STARTTLS): the answer took longer than 30000 ms'],
  [{ ehlo: WITH_STARTTLS }, '(STARTTLS): TLS handshake took longer than 30000 ms'],
  [{ mail: 'hang' }, '(MAIL FROM): the answer took longer than 300000 ms'],
  [{ rcpt: 'hang' }, '(RCPT TO): the answer took longer than 300000 ms'],
  [{ data: 'hang' }, '(DATA): the answer took longer than 120000 ms'],
  [{ dot: 'hang' }, '(end of message): the answer took longer than 600000 ms'],
];

const closing = closeAfterTests();
const addresses: Hosts = {};
// biome-ignore lint/suspicious/noExplicitAny: what an API answered is what the test is about to find out.
const emails = new Map<string, any>();

const spool = closing(await openRoutedSpool(addresses));
const ids = new Map<string, string>();
for (const [index, [name, [hosts]]] of Object.entries(SERVERS).entries()) {
  for (const [rank, host] of hosts.entries()) {
    const address = `192.0.2.${2 * index + rank + 1}`;
    spool.addZone(`d${index}.example MX ${rank} mx${rank + 1}.d${index}.example`);
    spool.addZone(`mx${rank + 1}.d${index}.example A ${address}`);
    if (host !== 'refuses') addresses[address] = await startHost(host);
  }
  ids.set(name, await spool.accept(`bob@d${index}.example`));
}
await spool.deliverDue();
for (const [name, id] of ids) emails.set(name, await spool.email(id));
async function startHost(host: Exclude<Host, 'refuses'>): Promise<number> {
  if ('handshake' in host) return startHandshaker(host);
  return closing(await startScriptedPeer(host)).port;
}

async function startHandshaker({ handshake }: HandshakeAnswer): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 peer.test ESMTP\r\n');
    socket.on('data', (bytes) => {
      const line = bytes.toString('latin1');
      if (line.startsWith('EHLO')) socket.write(WITH_STARTTLS);
      else if (line.startsWith('STARTTLS')) socket.write('220 go ahead\r\n');
      else socket.end(handshake);
    });
  });
  return listenOnLoopback(closing(server));
}

for (const [name, [, expected]] of Object.entries(SERVERS)) {
  test(`the diagnostic names what happened, the host and the phase: a host ${name}`, () => {
    const [{ diagnostic, mx }] = emails.get(name).recipients;
    const shown = diagnostic.replace(/\.d\d+\.example/, '');
    if (typeof expected === 'string') assert.equal(shown, expected);
    else assert.match(shown, expected);
    if (/^mx/.test(shown)) assert.ok(diagnostic.startsWith(`${mx} (`), `${mx}: ${diagnostic}`);
  });
}

test('at most 1,000 characters of a reply of 240 KB are kept, wherever it is stored', async () => {
  const { id } = emails.get('writes more than anybody reads');
  const { read } = spool.app.db;
  const attempts = await read.selectFrom('attempts').select('reply').where('messageId', '=', id).execute();
  const recipients = await read
    .selectFrom('recipients')
    .select('diagnostic')
    .where('messageId', '=', id)
    .execute();
  const suppressions = await read
    .selectFrom('suppressions')
    .select('diagnostic')
    .where('sourceEmailId', '=', id)
    .execute();
  const events = await read.selectFrom('events').select('data').where('emailId', '=', id).execute();
  assert.equal(suppressions.length, 1);
  const texts = [
    ...attempts.map(({ reply }) => reply),
    ...[...recipients, ...suppressions].map((row) => row.diagnostic),
  ];
  assert.equal(texts.length, 3);
  for (const text of texts) assert.ok(text !== null && text.length > 900 && text.length <= 1_000);
  for (const { data } of events) assert.ok(data.length < 2_000, `${data.length} characters`);
});

/** Returns the outcome that the dispatcher sees when the only host broke off in the middle. */
async function outcomeOf(claim: Claim, address: string, addresses = new Addresses()): Promise<Outcome> {
  const hosts = [{ name: 'mx.example', addresses: [address] }];
  const deadline = Number.POSITIVE_INFINITY;
  const isPressed = () => false;
  const opening = { claim, addresses, deadline, isPressed };
  const connected = await connect(deliveryAppOf(spool.app), { hosts, relay: null, source: null }, opening);
  if (connected.kind === 'closed') return connected.outcome;
  const app = deliveryAppOf(spool.app);
  const transaction = { claim, isFirst: true, onReady: () => {}, isPressed };
  const { verdicts, brokeOff } = await transact(app, connected.session, transaction);
  const [verdict] = verdicts.values();
  if (verdict) return verdict.outcome;
  addresses.avoid(address, spool.clock.elapsed());
  const brokenOff = brokeOff && { outcome: brokeOff, addresses: [address] };
  return outcomeOf({ ...claim, brokenOff }, address, addresses);
}

/** Returns the phase after which the server of a script says nothing more. */
function silentPhase(script: Script): ScriptPhase {
  const phases = Object.keys(script) as ScriptPhase[];
  return phases.find((phase) => script[phase] === 'hang') ?? 'starttls';
}

for (const [index, [script, expected]] of SILENT.entries()) {
  test(`the diagnostic names what happened, the host and the phase: silence, ${expected}`, async () => {
    const address = `198.51.100.${index}`;
    const peer = closing(await startScriptedPeer(script));
    addresses[address] = peer.port;
    spool.addZone(`silent${index}.example A ${address}`);
    await spool.accept(`bob@silent${index}.example`);
    const all = await spool.claim();
    const claimed = all.find(({ recipients }) => recipients[0]?.domain === `silent${index}.example`);
    assert.ok(claimed);
    let isDone = false;
    const outcome = outcomeOf(claimed, address).finally(() => {
      isDone = true;
    });
    // Signing and connecting take real time, in which the clock must not reach a limit of an earlier phase.
    await peer.reached(silentPhase(script));
    while (!isDone) await spool.clock.advance(1_000);
    assert.equal((await outcome).report.text, `mx.example ${expected}`);
  });
}
