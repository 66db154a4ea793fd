import assert from 'node:assert/strict';
import { connect, createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import type { SmtpFailure, SmtpPhase } from '../../../../src/mail/smtp/client/failure.ts';
import { openSmtp } from '../../../../src/mail/smtp/client/open.ts';
import type { SmtpOptions } from '../../../../src/mail/smtp/client/options.ts';
import { withTimeout } from '../../../../src/system/clock.ts';
import type { DialTarget } from '../../../../src/system/dial.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { listenOnLoopback } from '../../../support/loopback.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { type Answer, type Script, type ScriptPhase, startScriptedPeer } from './scripted-peer.ts';
import {
  DISTINCT,
  endsAfter,
  envelope,
  inline,
  meet,
  optionsFor,
  peerFor,
  send,
  sessionWith,
  settleSockets,
  summary,
  worldWith,
} from './session-fixture.ts';

async function failureOf(
  port: number,
  more: Partial<SmtpOptions> = {},
  world = worldWith(),
): Promise<SmtpFailure> {
  const opened = await openSmtp(world, optionsFor(port, more));
  assert.ok(!opened.ok);
  return opened.failure;
}

type Taken = { from: string; to: string[]; raw: string; secure: boolean };

async function startRealServer(t: TestContext, disabled: string[]) {
  const taken: Taken[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ['AUTH', ...disabled],
    hidePIPELINING: disabled.includes('PIPELINING'),
    logger: false,
    closeTimeout: 100,
    onRcptTo(address, _session, callback) {
      const refusal = Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 });
      callback(address.address.startsWith('no') ? refusal : null);
    },
    onData(stream, session, callback) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        taken.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map((recipient) => recipient.address),
          raw: Buffer.concat(parts).toString('latin1'),
          secure: session.secure,
        });
        callback(null, 'queued');
      });
    },
  });
  server.on('error', () => {});
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: await listenOnLoopback(server.server as Server), taken };
}

for (const disabled of [[], ['STARTTLS'], ['PIPELINING'], ['STARTTLS', 'PIPELINING']]) {
  const missing = disabled.length === 0 ? 'every extension' : `no ${disabled.join(', no ')}`;
  test(`an independent server with ${missing} takes message after message`, async (t) => {
    const { port, taken } = await startRealServer(t, disabled);
    const phases: SmtpPhase[] = [];
    const session = await sessionWith(t, port, { onPhase: (phase) => phases.push(phase) });
    const secure = !disabled.includes('STARTTLS');
    assert.deepEqual(phases, ['connect', 'banner', 'ehlo', ...(secure ? ['starttls', 'ehlo'] : [])]);
    assert.equal(session.extensions.has('PIPELINING'), !disabled.includes('PIPELINING'));
    assert.equal(session.tls?.authorized, secure ? false : undefined);
    if (secure) assert.match(session.tls?.version ?? '', /^TLSv1\.[23]$/);
    const recipients = ['ada@example.net', 'no@example.net', 'bob@example.net'];
    for (let round = 1; round <= 3; round++) {
      const phasesOfMessage: SmtpPhase[] = [];
      const result = await send(
        session,
        envelope({ recipients, onPhase: (phase) => phasesOfMessage.push(phase) }),
      );
      assert.deepEqual(summary(result), ['accepted 250', 'refused rcpt 550', 'accepted 250']);
      assert.equal(result.usable, true);
      assert.deepEqual([...new Set(phasesOfMessage)], ['mail', 'rcpt', 'data', 'body', 'dot']);
      assert.equal(taken.length, round);
    }
    const nobody = await send(session, envelope({ recipients: ['no@example.net'] }));
    assert.deepEqual(summary(nobody), ['refused rcpt 550']);
    assert.equal(nobody.usable, true);
    const last = await send(session, envelope({ mailFrom: '' }));
    assert.deepEqual(summary(last), ['accepted 250']);
    assert.deepEqual(taken[0], {
      from: 'b+token@bounce.example.com',
      to: ['ada@example.net', 'bob@example.net'],
      raw: 'DKIM-Signature: v=1\r\nSubject: Hello\r\n\r\n.dot\r\nbody\r\n',
      secure,
    });
    assert.equal(taken.length, 4);
    await session.quit();
    assert.equal(session.isOpen(), false);
  });
}

test('MAIL, every RCPT and DATA share one packet where PIPELINING is offered', async (t) => {
  const { peer, session } = await meet(t);
  const recipients = ['a@example.net', 'b@example.net'];
  await send(session, envelope({ recipients }));
  const size = envelope().prefix.length + envelope().message.sizeBytes;
  assert.deepEqual(peer.packets.slice(1, 2), [
    `MAIL FROM:<b+token@bounce.example.com> SIZE=${size}\r\nRCPT TO:<a@example.net>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n`,
  ]);
  assert.deepEqual(peer.messages, ['DKIM-Signature: v=1\r\nSubject: Hello\r\n\r\n..dot\r\nbody\r\n.\r\n']);
});

test('without PIPELINING nothing is sent before its answer, and DATA only when somebody is left', async (t) => {
  const { peer, session } = await meet(t, { ehlo: '250 peer.test\r\n', rcpt: '550 5.1.1 no\r\n' });
  const result = await send(session, envelope({ recipients: ['a@example.net', 'b@example.net'] }));
  assert.deepEqual(summary(result), ['refused rcpt 550', 'refused rcpt 550']);
  assert.equal(result.usable, true);
  assert.deepEqual(peer.commands.slice(1), [
    'MAIL FROM:<b+token@bounce.example.com>',
    'RCPT TO:<a@example.net>',
    'RCPT TO:<b@example.net>',
  ]);
  assert.equal(peer.packets.length, peer.commands.length);
});

test('BODY=8BITMIME is declared for eight-bit messages only', async (t) => {
  const { peer, session } = await meet(t);
  await send(session, envelope());
  await send(session, envelope({ message: inline('Subject: é\r\n\r\n') }));
  const mails = peer.commands.filter((line) => line.startsWith('MAIL'));
  assert.deepEqual(
    mails.map((line) => line.includes(' BODY=8BITMIME')),
    [false, true],
  );
});

test('a message over the declared size is refused without being sent', async (t) => {
  const { peer, session } = await meet(t, { ehlo: '250-peer.test\r\n250-PIPELINING\r\n250 SIZE 40\r\n' });
  const result = await send(session, envelope());
  assert.deepEqual(summary(result), ['refused mail 552']);
  assert.equal(result.usable, true);
  assert.deepEqual(peer.commands, ['EHLO mail.example.com']);
});

test('a refused sender refuses every recipient', async (t) => {
  for (const ehlo of ['250 peer.test\r\n', undefined]) {
    const answers: Script = {
      mail: '550 5.7.1 not you\r\n',
      rcpt: '503 5.5.1 MAIL first\r\n',
      data: '503 5.5.1 no\r\n',
    };
    const { session } = await meet(t, ehlo === undefined ? answers : { ...answers, ehlo });
    const result = await send(session, envelope({ recipients: ['a@example.net', 'b@example.net'] }));
    assert.deepEqual(summary(result), ['refused mail 550', 'refused mail 550']);
    assert.equal(result.usable, true);
  }
});

test('DATA that is accepted although every recipient was refused gets a bare dot', async (t) => {
  const { peer, session } = await meet(t, {
    rcpt: (line) => (line.includes('no') ? '550 5.1.1 no\r\n' : '250 ok\r\n'),
  });
  const first = await send(session, envelope({ recipients: ['no@example.net'] }));
  assert.deepEqual(summary(first), ['refused rcpt 550']);
  assert.equal(first.usable, true);
  assert.deepEqual(peer.messages, ['.\r\n']);
  assert.deepEqual(summary(await send(session, envelope())), ['accepted 250']);
  assert.equal(peer.messages.length, 2);
});

test('RSET goes before the next transaction only where one ended early', async (t) => {
  const answers: Answer[] = ['354 go\r\n', '451 4.3.0 later\r\n', '354 go\r\n', '354 go\r\n'];
  const { peer, session } = await meet(t, {
    ehlo: '250 peer.test\r\n',
    data: () => answers.shift() ?? 'close',
  });
  const outcomes: string[] = [];
  for (let round = 0; round < 4; round++) outcomes.push(...summary(await send(session, envelope())));
  assert.deepEqual(outcomes, ['accepted 250', 'refused data 451', 'accepted 250', 'accepted 250']);
  const verbs = peer.commands.map((line) => line.split(' ')[0]).join(' ');
  assert.equal(verbs, `EHLO${' MAIL RCPT DATA'.repeat(2)} RSET${' MAIL RCPT DATA'.repeat(2)}`);
});

test('a refused message refuses those whom RCPT accepted', async (t) => {
  const { session } = await meet(t, {
    rcpt: (line) => (line.includes('no') ? '550 5.1.1 no\r\n' : '250 ok\r\n'),
    dot: '554 5.7.1 spam\r\n',
  });
  const result = await send(session, envelope({ recipients: ['a@example.net', 'no@example.net'] }));
  assert.deepEqual(summary(result), ['refused dot 554', 'refused rcpt 550']);
  assert.equal(result.usable, true);
});

test('421 ends the session in any phase, and is the answer for whoever has none', async (t) => {
  const goodbye = '421 4.3.2 closing\r\n';
  const cases: [ScriptPhase, string[]][] = [
    ['mail', ['refused mail 421', 'refused mail 421']],
    ['rcpt', ['refused rcpt 421', 'refused rcpt 421']],
    ['data', ['refused data 421', 'refused data 421']],
    ['dot', ['refused dot 421', 'refused dot 421']],
  ];
  for (const ehlo of ['250 peer.test\r\n', '250-peer.test\r\n250 PIPELINING\r\n']) {
    for (const [phase, expected] of cases) {
      const { session } = await meet(t, { ehlo, [phase]: goodbye });
      const result = await send(session, envelope({ recipients: ['a@example.net', 'b@example.net'] }));
      assert.deepEqual(summary(result), expected, phase);
      assert.equal(result.usable, false);
      assert.equal(session.isOpen(), false);
    }
  }
});

test('a server without EHLO is greeted with HELO', async (t) => {
  const { peer, session } = await meet(t, { ehlo: '502 5.5.1 what?\r\n' });
  assert.equal(session.extensions.size, 0);
  assert.deepEqual(summary(await send(session, envelope())), ['accepted 250']);
  assert.deepEqual(peer.commands.slice(0, 3), [
    'EHLO mail.example.com',
    'HELO mail.example.com',
    'MAIL FROM:<b+token@bounce.example.com>',
  ]);
});

test('a session that is refused says with which words, and is left with QUIT', async (t) => {
  const peer = await peerFor(t, { banner: '554-5.7.1 You are\r\n554 5.7.1 on a list\r\n' });
  const failure = await failureOf(peer.port);
  assert.deepEqual(failure, {
    phase: 'banner',
    kind: 'reply',
    reply: { code: 554, enhanced: '5.7.1', lines: ['5.7.1 You are', '5.7.1 on a list'] },
  });
  await peer.reached('quit');
  assert.deepEqual(peer.commands, ['QUIT']);
});

test('plaintext behind the answer to STARTTLS ends the session', async (t) => {
  const injected = ['250 x\r\n', '250', '250-a\r\n', '220 go\r\n250 mx\r\n'];
  for (const text of injected) {
    const peer = await peerFor(t, {
      ehlo: '250-peer.test\r\n250 STARTTLS\r\n',
      starttls: `220 go ahead\r\n${text}`,
    });
    const failure = await failureOf(peer.port);
    assert.equal(failure.phase, 'starttls');
    assert.equal(failure.kind, 'protocol');
    assert.deepEqual(peer.commands, ['EHLO mail.example.com', 'STARTTLS']);
  }
});

test('a refused or failed handshake is a failure of TLS, and nothing follows in plaintext', async (t) => {
  for (const starttls of ['454 4.7.0 not now\r\n', '220 go\r\n', '501 no\r\n']) {
    const peer = await peerFor(t, { ehlo: '250-peer.test\r\n250 STARTTLS\r\n', starttls });
    const opening = failureOf(peer.port);
    await peer.reached('starttls');
    if (starttls.startsWith('220')) peer.say('this is not TLS\r\n');
    const failure = await opening;
    assert.equal(failure.phase, 'starttls');
    assert.equal(failure.kind, 'tls');
    assert.deepEqual(peer.commands.slice(0, 2), ['EHLO mail.example.com', 'STARTTLS']);
    assert.ok(!peer.commands.some((line) => line.startsWith('MAIL')));
  }
});

test('garbage in the packet that ends the handshake is a failure, not the end of the process', async (t) => {
  const { port } = await startRealServer(t, []);
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far);
    far.on('data', (chunk) =>
      near.write(chunk[0] === 0x16 ? Buffer.concat([chunk, Buffer.from('garbage')]) : chunk),
    );
  });
  t.after(() => proxy.close());
  const failure = await failureOf(await listenOnLoopback(proxy));
  assert.ok(['starttls', 'ehlo'].includes(failure.phase), failure.phase);
  assert.ok(['tls', 'connection'].includes(failure.kind), failure.kind);
});

test('STARTTLS is not asked for where the caller wants none', async (t) => {
  const { peer, session } = await meet(t, { ehlo: '250-peer.test\r\n250 STARTTLS\r\n' }, { tls: 'none' });
  assert.equal(session.tls, undefined);
  assert.deepEqual(peer.commands, ['EHLO mail.example.com']);
});

test('nothing that could end a command line reaches the wire', async (t) => {
  const peer = await peerFor(t);
  const evil = [
    'a@b.example>\r\nRCPT TO:<e@evil.example',
    'a@b.example\n',
    'a\0@b.example',
    'a b@c.example',
    'a@b.example SIZE=1',
    '<a@b.example>',
    'a@b.example\u2028',
    'é@b.example',
    'a',
    '',
  ];
  const session = await sessionWith(t, peer.port);
  for (const address of evil) {
    const result = await send(session, envelope({ recipients: ['ok@example.net', address] }));
    assert.deepEqual(summary(result), ['failed mail protocol', 'failed mail protocol'], address);
    assert.equal(result.usable, true);
    if (address === '') continue;
    assert.deepEqual(summary(await send(session, envelope({ mailFrom: address }))), ['failed mail protocol']);
  }
  for (const count of [0, 101]) {
    const recipients = Array<string>(count).fill('ok@example.net');
    assert.deepEqual(
      new Set(summary(await send(session, envelope({ recipients })))).size,
      count === 0 ? 0 : 1,
    );
  }
  for (const heloName of ['a\r\nMAIL FROM:<>', 'a b', '', 'é', 'a\0']) {
    assert.deepEqual((await failureOf(peer.port, { heloName })).kind, 'protocol');
  }
  assert.equal(peer.connections(), 1);
  assert.deepEqual(peer.commands, ['EHLO mail.example.com']);
  const quoted = await send(session, envelope({ recipients: ['"a b>"@c.example', 'x@[192.0.2.1]'] }));
  assert.deepEqual(summary(quoted), ['accepted 250', 'accepted 250']);
  assert.ok(peer.commands.includes('RCPT TO:<"a b>"@c.example>'));
});

test('a message with a CR or LF outside CRLF is not sent', async (t) => {
  const { peer, session } = await meet(t);
  const endings = ['\n.\n', '\n.\r\n', '\r.\r\n', '\r\n.\n', '\r\n.\r', '\r.\r', '\r\r\n.\r\n', '\n\n.\r\n'];
  for (const ending of endings) {
    const message = Buffer.from(`Subject: x\r\n\r\nbody${ending}MAIL FROM:<e@evil.example>\r\n`);
    assert.deepEqual(
      summary(await send(session, envelope({ message: inline(message) }))),
      ['failed mail protocol'],
      JSON.stringify(ending),
    );
    assert.deepEqual(summary(await send(session, envelope({ prefix: message }))), ['failed mail protocol']);
  }
  assert.deepEqual(peer.commands, ['EHLO mail.example.com']);
});

const GARBAGE = [
  'hello\r\n',
  '\r\n',
  '\0\0\0\r\n',
  '999 no\r\n',
  '250-a\r\n550 b\r\n',
  `${'x'.repeat(10_000)}`,
  '\x16\x03\x01\r\n',
];

test('garbage is a protocol failure in every phase', async (t) => {
  for (const garbage of GARBAGE) {
    for (const phase of ['banner', 'ehlo'] as const) {
      const peer = await peerFor(t, { [phase]: garbage });
      const failure = await failureOf(peer.port);
      assert.equal(`${failure.phase} ${failure.kind}`, `${phase} protocol`, garbage);
    }
    for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
      const { session } = await meet(t, { [phase]: garbage });
      const result = await send(session, envelope());
      assert.deepEqual(summary(result), [
        `failed ${phase} protocol${phase === 'dot' ? ' after the dot' : ''}`,
      ]);
      assert.equal(result.usable, false);
    }
  }
});

test('an answer of the wrong kind is no acceptance', async (t) => {
  const cases: [ScriptPhase, string][] = [
    ['mail', '354 go\r\n'],
    ['rcpt', '354 go\r\n'],
    ['data', '250 ok\r\n'],
    ['dot', '354 more\r\n'],
  ];
  for (const [phase, answer] of cases) {
    const { session } = await meet(t, { [phase]: answer });
    const result = await send(session, envelope());
    assert.match(summary(result)[0] ?? '', new RegExp(`^failed ${phase} protocol`));
    assert.equal(result.usable, false);
  }
});

test('a connection that closes or is reset is a failure of its phase', async (t) => {
  for (const how of ['close', 'reset'] as const) {
    for (const phase of ['banner', 'ehlo', 'starttls'] as const) {
      const ehlo = phase === 'starttls' ? { ehlo: '250-peer.test\r\n250 STARTTLS\r\n' } : {};
      const peer = await peerFor(t, { ...ehlo, [phase]: how });
      const failure = await failureOf(peer.port);
      // A reset may overtake what the peer sent or took before it; a close may not.
      if (how === 'close') assert.equal(failure.phase, phase);
      assert.equal(failure.kind, 'connection');
    }
    for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
      for (const ehlo of ['250 peer.test\r\n', '250-peer.test\r\n250 PIPELINING\r\n']) {
        const { session } = await meet(t, { ehlo, [phase]: how });
        const result = await send(session, envelope());
        const [text = ''] = summary(result);
        if (how === 'close')
          assert.equal(text, `failed ${phase} connection${phase === 'dot' ? ' after the dot' : ''}`);
        assert.match(text, /^failed \w+ connection/);
        assert.equal(result.usable, false);
      }
    }
  }
});

test('a socket that died before the session had it is a failure with its own reason', async (t) => {
  const peer = await peerFor(t);
  const world = worldWith();
  const dial = async (target: DialTarget) => {
    const socket = await world.dial(target);
    socket.destroy(new Error('gone at once'));
    await new Promise((resolve) => socket.once('close', resolve));
    return socket;
  };
  const opened = await openSmtp({ ...world, dial }, optionsFor(peer.port));
  assert.deepEqual(opened, {
    ok: false,
    failure: { phase: 'banner', kind: 'connection', message: 'gone at once' },
    localAddress: undefined,
  });
});

test('a reduced hello ends in TLS 1.2, and in plaintext where the peer offers nothing else', async (t) => {
  const { port } = await startRealServer(t, []);
  const session = await sessionWith(t, port, { tls: 'reduced' });
  assert.equal(session.tls?.version, 'TLSv1.2');
  assert.deepEqual(summary(await send(session, envelope())), ['accepted 250']);
  const plain = await peerFor(t);
  assert.equal((await sessionWith(t, plain.port, { tls: 'reduced' })).tls, undefined);
});

test('a closed port is a failure to connect', async () => {
  const peer = await startScriptedPeer();
  await peer.close();
  const failure = await failureOf(peer.port);
  assert.ok(failure.phase === 'connect' && failure.kind === 'connection');
  assert.match(failure.message, /ECONNREFUSED/);
  const refused = await openSmtp(worldWith(), optionsFor(peer.port, { address: '10.0.0.1' }));
  assert.ok(!refused.ok && refused.failure.kind === 'connection');
});

test('a connection that does not come about is given up in time', async () => {
  const clock = createFakeClock(0);
  // A dial like the real one towards a host that drops packets.
  const dial = ({ timeoutMs }: DialTarget) =>
    withTimeout(clock, new Promise<never>(() => {}), { timeoutMs, what: 'connect' });
  const opening = failureOf(25, { timeouts: DISTINCT }, { clock, dial });
  const failure = await endsAfter(clock, DISTINCT.connectMs, opening);
  assert.equal(`${failure.phase} ${failure.kind}`, 'connect timeout');
});

test('a peer that says nothing is given up in every phase, at its time', async (t) => {
  const cases: [ScriptPhase, SmtpPhase, number][] = [
    ['banner', 'connect', DISTINCT.bannerMs],
    ['ehlo', 'banner', DISTINCT.ehloMs],
    ['starttls', 'ehlo', DISTINCT.startTlsMs],
  ];
  for (const [phase, reachedBefore, timeoutMs] of cases) {
    const clock = createFakeClock(0);
    const peer = await peerFor(t, { ehlo: '250-peer.test\r\n250 STARTTLS\r\n', [phase]: 'hang' });
    const before = Promise.withResolvers<void>();
    const onPhase = (reached: SmtpPhase) => reached === reachedBefore && before.resolve();
    const opening = failureOf(peer.port, { timeouts: DISTINCT, onPhase }, worldWith(clock));
    await Promise.all([before.promise, peer.reached(phase)]);
    const failure = await endsAfter(clock, timeoutMs, opening);
    assert.equal(`${failure.phase} ${failure.kind}`, `${phase} timeout`);
  }
});

test('a peer that falls silent in a transaction is given up at the time of its phase', async (t) => {
  const times = { mail: DISTINCT.mailMs, rcpt: DISTINCT.rcptMs, data: DISTINCT.dataMs, dot: DISTINCT.dotMs };
  for (const ehlo of ['250 peer.test\r\n', '250-peer.test\r\n250 PIPELINING\r\n']) {
    for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
      const clock = createFakeClock(0);
      const { peer, session } = await meet(
        t,
        {
          ehlo,
          [phase]: 'hang',
          data: phase === 'dot' ? '354 go\r\n' : phase === 'data' ? 'hang' : '503 no\r\n',
        },
        { timeouts: DISTINCT, clock },
      );
      const transacting = send(session, envelope());
      await peer.reached(phase);
      const result = await endsAfter(clock, times[phase], transacting);
      assert.deepEqual(summary(result), [
        `failed ${phase} timeout${phase === 'dot' ? ' after the dot' : ''}`,
      ]);
      assert.equal(result.usable, false);
    }
  }
});

test('silence after RSET, and in the goodbye, is bounded too', async (t) => {
  const clock = createFakeClock(0);
  const { peer, session } = await meet(
    t,
    { data: '451 later\r\n', reset: 'hang' },
    { timeouts: DISTINCT, clock },
  );
  await send(session, envelope());
  const transacting = send(session, envelope());
  await peer.reached('reset');
  const result = await endsAfter(clock, DISTINCT.resetMs, transacting);
  assert.deepEqual(summary(result), ['failed mail timeout untried']);

  const { peer: silent, session: leaving } = await meet(t, { quit: 'hang' }, { timeouts: DISTINCT, clock });
  const quitting = leaving.quit();
  await silent.reached('quit');
  await endsAfter(clock, DISTINCT.quitMs, quitting);
  assert.equal(leaving.isOpen(), false);
});

test('a refusal in the middle of the message ends the sending', async (t) => {
  for (const [answer, expected] of [
    ['552 5.3.4 too big\r\n', 'refused body 552'],
    ['421 4.3.2 closing\r\n', 'refused body 421'],
    ['250 2.0.0 taken\r\n', 'failed body protocol'],
  ] as const) {
    const { peer, session } = await meet(t, { stall: (socket) => void socket.write(answer) });
    const message = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(200_000));
    const result = await send(session, envelope({ message: inline(message) }));
    assert.deepEqual(summary(result), [expected]);
    assert.equal(result.usable, false);
    assert.deepEqual(peer.messages, []);
  }
});

test('an acceptance that nobody asked for is taken for nothing', async (t) => {
  const { session } = await meet(t, { dot: '250 2.0.0 taken\r\n250 2.0.0 and the next one too\r\n' });
  const first = await send(session, envelope());
  assert.deepEqual(summary(first), ['accepted 250']);
  assert.equal(first.usable, false);
});

test('a goodbye to an idle session is told apart from a verdict on the message', async (t) => {
  const { peer, session } = await meet(t);
  assert.deepEqual(summary(await send(session, envelope())), ['accepted 250']);
  assert.equal(session.isOpen(), true);
  peer.say('421 4.4.2 idle too long\r\n');
  await waitUntil(() => !session.isOpen());
  const result = await send(session, envelope());
  assert.deepEqual(summary(result), ['failed mail reply untried']);
  assert.equal(result.usable, false);
  assert.equal(peer.commands.filter((line) => line.startsWith('MAIL')).length, 1);
});

test('a message is refused when the server refuses it early and reads the rest of it as commands', async (t) => {
  const answers = `552 5.3.4 too big\r\n${'500 5.5.1 unknown command\r\n'.repeat(100)}`;
  const { promise: stalled, resolve: stall } = Promise.withResolvers<void>();
  const { peer, session } = await meet(t, { stall: () => stall() });
  const message = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(200_000));
  const sending = send(session, envelope({ message: inline(message) }));
  await stalled;
  // The client fills the window of the peer and then waits for it.
  for (let round = 0; round < 20; round++) await settleSockets();
  peer.say(answers);
  assert.deepEqual(summary(await sending), ['refused body 552']);
});

test('an idle session whose peer sends two replies unasked is closed at once', async (t) => {
  const peer = await peerFor(t);
  const clock = createFakeClock(0);
  const session = await sessionWith(t, peer.port, {}, clock);
  assert.deepEqual(summary(await send(session, envelope())), ['accepted 250']);
  peer.say('250\r\n250\r\n');
  await waitUntil(() => !session.isOpen());
  await settleSockets();
  assert.equal(peer.closedConnections(), 1);
});

test('a flood of replies ends the session', async (t) => {
  const peer = await peerFor(t, { ehlo: '250-peer.test\r\n'.repeat(100_000) });
  assert.equal((await failureOf(peer.port)).kind, 'protocol');
  const idle = await peerFor(t);
  const session = await sessionWith(t, idle.port);
  idle.say('250 ok\r\n'.repeat(100_000));
  await waitUntil(() => !session.isOpen() && idle.closedConnections() > 0);
});

test('an error that onPhase throws reaches the caller and closes the session', async (t) => {
  const { session } = await meet(t);
  const onPhase = () => {
    throw new RangeError('a bug');
  };
  await assert.rejects(send(session, envelope({ onPhase })), RangeError);
  assert.equal(session.isOpen(), false);
});

test('while connections are scarce no wait is long, except the one after the final dot', async (t) => {
  for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
    const clock = createFakeClock(0);
    const peer = await peerFor(t, {
      [phase]: 'hang',
      data: phase === 'dot' ? '354 go\r\n' : phase === 'data' ? 'hang' : '503 no\r\n',
    });
    let isPressed = false;
    const session = await sessionWith(t, peer.port, { isPressed: () => isPressed }, clock);
    const transacting = send(session, envelope());
    await peer.reached(phase);
    await clock.advance(100_000);
    // Nothing was pressed yet, and nothing has ended.
    isPressed = true;
    const result = await endsAfter(clock, phase === 'dot' ? 500_000 : 1_000, transacting);
    const [failed] = result.recipients;
    assert.ok(failed?.kind === 'failed' && failed.failure.kind === 'timeout');
    const limit = phase === 'dot' ? '600000 ms' : '30000 ms while connections were scarce';
    assert.equal(failed.failure.message, `the answer took longer than ${limit}`);
  }
});

test('while connections are scarce a host that drops packets is given up after ten seconds', async () => {
  const timeouts: number[] = [];
  const dial = ({ timeoutMs }: DialTarget) => {
    timeouts.push(timeoutMs);
    return Promise.reject(new Error('ECONNREFUSED'));
  };
  const world = { clock: createFakeClock(0), dial };
  for (const isPressed of [() => true, () => false]) await openSmtp(world, optionsFor(25, { isPressed }));
  assert.deepEqual(timeouts, [10_000, 30_000]);
});
