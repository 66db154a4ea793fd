import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { SmtpPhase } from '../../../../src/mail/smtp/client/failure.ts';
import { openSmtp, type SmtpSession } from '../../../../src/mail/smtp/client/open.ts';
import type { Transaction } from '../../../../src/mail/smtp/client/transaction.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import type { Answer, Script, ScriptedPeer, ScriptPhase } from './scripted-peer.ts';
import {
  countTimers,
  DISTINCT,
  endsAfter,
  envelope,
  inline,
  meet,
  optionsFor,
  peerFor,
  sessionWith,
  settleSockets,
  summary,
  worldWith,
} from './session-fixture.ts';

const WITHOUT_PIPELINING = '250 peer.test\r\n';

/** Begins a transaction for each address as soon as the previous one is ready. */
async function transactAll(session: SmtpSession, addresses: readonly string[]): Promise<Transaction[]> {
  const transactions: Transaction[] = [];
  for (const address of addresses) {
    const transaction = session.transact(envelope({ recipients: [address] }));
    transactions.push(transaction);
    await transaction.ready;
  }
  return transactions;
}

async function outcomes(transactions: readonly Transaction[]): Promise<string[]> {
  const results = await Promise.all(transactions.map((transaction) => transaction.result));
  return results.flatMap(summary);
}

/** Returns a function that answers with these texts in order, and accepts everything afterwards. */
function inTurn(...answers: Answer[]): () => Answer {
  return () => answers.shift() ?? '250 ok\r\n';
}

test('the commands of the next message share the packet of the final dot', async (t) => {
  const { peer, session } = await meet(t);
  const transactions = await transactAll(session, ['a@example.net', 'b@example.net', 'c@example.net']);
  assert.deepEqual(await outcomes(transactions), ['accepted 250', 'accepted 250', 'accepted 250']);
  const shared = peer.reads.filter((read) =>
    /\r\n\.\r\nMAIL FROM:.*\r\nRCPT TO:<[bc]@example\.net>\r\nDATA\r\n$/.test(read),
  );
  assert.equal(shared.length, 2);
  assert.equal(peer.reads.length, 1 + 4);
  assert.equal(peer.commands.includes('RSET'), false);
});

test('a message is sent up to its dot, which waits until it may end', async (t) => {
  const { peer, session } = await meet(t);
  const allowed = Promise.withResolvers<void>();
  const mayEnd = () => allowed.promise;
  const { result } = session.transact({ ...envelope({ recipients: ['a@example.net'] }), mayEnd });
  await settleSockets();
  assert.ok(peer.commands.includes('DATA'));
  assert.ok(!peer.reads.some((read) => read.endsWith('\r\n.\r\n')), peer.reads.join());
  allowed.resolve();
  assert.deepEqual(summary(await result), ['accepted 250']);
});

test('with PIPELINING a session is ready at the dot, without at the result', async (t) => {
  for (const pipelines of [true, false]) {
    const script: Script = pipelines ? { dot: 'hang' } : { ehlo: WITHOUT_PIPELINING, dot: 'hang' };
    const { peer, session } = await meet(t, script);
    const seen: string[] = [];
    const { ready, result } = session.transact(envelope());
    void ready.then(() => seen.push('ready'));
    void result.then(() => seen.push('result'));
    await peer.reached('dot');
    await waitUntil(() => seen.length > 0 || !pipelines);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(seen, pipelines ? ['ready'] : []);
    peer.say('250 ok\r\n');
    assert.deepEqual(summary(await result), ['accepted 250']);
    await ready;
    assert.deepEqual(seen.sort(), ['ready', 'result']);
  }
});

test('each message gets its own replies, in order', async (t) => {
  for (const more of [{}, { ehlo: WITHOUT_PIPELINING }]) {
    let recipient = '';
    const { session } = await meet(t, {
      ...more,
      rcpt: (line) => {
        recipient = line;
        return line.includes('no') ? '550 5.1.1 no\r\n' : '250 ok\r\n';
      },
      data: () => (recipient.includes('no') ? '503 5.5.1 nobody\r\n' : '354 go\r\n'),
      dot: () => {
        if (recipient.includes('spam')) return '554 5.7.1 spam\r\n';
        return recipient.includes('later') ? '451 later\r\n' : '250 ok\r\n';
      },
    });
    const names = ['a', 'spam', 'no', 'b', 'later', 'no', 'no', 'c'];
    const addresses = names.map((name) => `${name}@example.net`);
    assert.deepEqual(await outcomes(await transactAll(session, addresses)), [
      'accepted 250',
      'refused dot 554',
      'refused rcpt 550',
      'accepted 250',
      'refused dot 451',
      'refused rcpt 550',
      'refused rcpt 550',
      'accepted 250',
    ]);
    assert.equal(session.isOpen(), true);
  }
});

test('RSET begins the next group where a transaction ended before its message, and only there', async (t) => {
  const { peer, session } = await meet(t, {
    rcpt: (line) => (line.includes('no') ? '550 5.1.1 no\r\n' : '250 ok\r\n'),
    data: inTurn('354 go\r\n', '554 no recipients\r\n', '354 go\r\n', '354 go\r\n'),
    dot: inTurn('250 ok\r\n', '554 spam\r\n'),
  });
  await outcomes(await transactAll(session, ['a@x.example', 'no@x.example', 'b@x.example', 'c@x.example']));
  const verbs = peer.commands.map((line) => line.split(' ')[0]).join(' ');
  const group = 'MAIL RCPT DATA';
  assert.equal(verbs, `EHLO ${group} ${group} RSET ${group} ${group}`);
});

test('transactions begun too early wait for their turn', async (t) => {
  for (const more of [{}, { ehlo: WITHOUT_PIPELINING }]) {
    const { peer, session } = await meet(t, more);
    const body = `${'x'.repeat(76)}\r\n`.repeat(3_000);
    const transactions = ['1', '2', '3', '4', '5'].map((name) =>
      session.transact(envelope({ message: inline(`Subject: ${name}\r\n\r\n${body}`) })),
    );
    assert.deepEqual(await outcomes(transactions), Array(5).fill('accepted 250'));
    assert.deepEqual(peer.messages.map((message) => /Subject: (.)/.exec(message)?.[1]).join(''), '12345');
    assert.ok(peer.messages.every((message) => message.endsWith(`\r\n\r\n${body}.\r\n`)));
  }
});

test('a message we refuse ourselves harms neither the one before nor the one after', async (t) => {
  const { peer, session } = await meet(t);
  const transactions = await transactAll(session, ['a@x.example', 'a b@x.example', 'c@x.example']);
  assert.deepEqual(await outcomes(transactions), ['accepted 250', 'failed mail protocol', 'accepted 250']);
  assert.equal(peer.messages.length, 2);
  session.close();
  const late = await session.transact(envelope({ recipients: ['a b@x.example'] })).result;
  assert.equal(late.usable, false);
});

type Pair = { session: SmtpSession; first: Transaction; second: Transaction };

/** Sends two messages and begins the second before the first has its verdict. */
async function pair(t: TestContext, port: number, clock = createFakeClock(0)): Promise<Pair> {
  const session = await sessionWith(t, port, { timeouts: DISTINCT }, clock);
  const [first, second] = await transactAll(session, ['first@example.net']).then((begun) => [
    begun[0],
    session.transact(envelope({ recipients: ['second@example.net'] })),
  ]);
  assert.ok(first && second);
  return { session, first, second };
}

/** Returns a script that accepts the first message and answers the second with this text. */
function toSecond(phase: ScriptPhase, answer: Answer): Script {
  if (phase === 'rcpt') return { rcpt: (line) => (line.includes('second') ? answer : '250 ok\r\n') };
  return { [phase]: inTurn(phase === 'data' ? '354 go\r\n' : '250 ok\r\n', answer) };
}

async function expectEnd(peer: ScriptedPeer, session: SmtpSession): Promise<void> {
  assert.equal(session.isOpen(), false);
  await waitUntil(() => peer.closedConnections() === peer.connections());
}

const FLOOD = `${'250-x\r\n'.repeat(100_000)}`;

test('a session that ends at the verdict of one message leaves the next untried', async (t) => {
  const cases: [Answer, string][] = [
    ['421 4.3.2 closing\r\n', 'refused dot 421'],
    ['close', 'failed dot connection after the dot'],
    ['reset', 'failed dot connection after the dot'],
    ['what?\r\n', 'failed dot protocol after the dot'],
    ['354 more\r\n', 'failed dot protocol after the dot'],
    [FLOOD, 'failed dot protocol after the dot'],
    // The answers to the commands of the next message have already arrived and must be ignored.
    ['421 closing\r\n250 ok\r\n250 ok\r\n354 go\r\n', 'refused dot 421'],
  ];
  for (const [answer, expected] of cases) {
    const peer = await peerFor(t, { dot: answer });
    const { session, first, second } = await pair(t, peer.port);
    assert.deepEqual(await outcomes([first, second]), [expected, 'failed mail connection untried']);
    assert.equal((await second.result).usable, false);
    const third = await session.transact(envelope()).result;
    assert.deepEqual(summary(third), ['failed mail connection untried']);
    await expectEnd(peer, session);
    assert.equal(peer.messages.length, 1);
  }
});

test('a verdict stands whatever the peer does with the next message', async (t) => {
  const what: [Answer, string][] = [
    ['close', 'connection'],
    ['what?\r\n', 'protocol'],
    ['354 go\r\n', 'protocol'],
    [FLOOD, 'protocol'],
  ];
  for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
    for (const [answer, kind] of what) {
      if (phase === 'data' && answer.startsWith('354')) continue;
      const peer = await peerFor(t, toSecond(phase, answer));
      const { session, first, second } = await pair(t, peer.port);
      const after = phase === 'dot' ? ' after the dot' : '';
      const untried = phase === 'mail' && !answer.startsWith('354') ? ' untried' : '';
      assert.deepEqual(await outcomes([first, second]), [
        'accepted 250',
        `failed ${phase} ${kind}${after}${untried}`,
      ]);
      await expectEnd(peer, session);
    }
  }
});

test('421 to the next message is its answer, and a refusal says nothing of the session', async (t) => {
  for (const phase of ['mail', 'rcpt', 'data', 'dot'] as const) {
    for (const code of [421, 550]) {
      const peer = await peerFor(t, {
        // A server answers so to commands that follow a refused one.
        data: inTurn('354 go\r\n', phase === 'dot' ? '354 go\r\n' : '503 5.5.1 no\r\n'),
        ...toSecond(phase, `${code} no\r\n`),
      });
      const { session, first, second } = await pair(t, peer.port);
      assert.deepEqual(await outcomes([first, second]), ['accepted 250', `refused ${phase} ${code}`]);
      assert.equal((await second.result).usable, code === 550);
      if (code === 421) await expectEnd(peer, session);
    }
  }
});

test('a peer that closes between two messages leaves the second untried', async (t) => {
  for (const how of ['end', 'destroy'] as const) {
    const sockets: Socket[] = [];
    const peer = await peerFor(t, { dot: inTurn('hang'), stall: (socket) => sockets.push(socket.resume()) });
    const { session, first, second } = await pair(t, peer.port);
    await peer.reached('dot');
    const [socket] = sockets;
    assert.ok(socket);
    socket.write('250 2.0.0 taken\r\n', () => (how === 'end' ? socket.end() : socket.destroy()));
    const [verdict, next] = await outcomes([first, second]);
    assert.equal(next, 'failed mail connection untried');
    assert.equal(verdict, 'accepted 250');
    await expectEnd(peer, session);
  }
});

test('silence is bounded for each phase of a pipelined message, from the verdict before it', async (t) => {
  const cases: [ScriptPhase, number, string][] = [
    ['mail', DISTINCT.mailMs, 'failed mail timeout untried'],
    ['rcpt', DISTINCT.rcptMs, 'failed rcpt timeout'],
    ['data', DISTINCT.dataMs, 'failed data timeout'],
    ['dot', DISTINCT.dotMs, 'failed dot timeout after the dot'],
  ];
  for (const [phase, timeoutMs, expected] of cases) {
    const clock = createFakeClock(0);
    const peer = await peerFor(t, toSecond(phase, 'hang'));
    const { session, first, second } = await pair(t, peer.port, clock);
    assert.deepEqual(summary(await first.result), ['accepted 250']);
    if (phase === 'dot') await second.ready;
    await settleSockets();
    assert.deepEqual(summary(await endsAfter(clock, timeoutMs, second.result)), [expected]);
    await expectEnd(peer, session);
  }
});

test('a verdict that never comes ends both messages at its time', async (t) => {
  const clock = createFakeClock(0);
  const peer = await peerFor(t, { dot: 'hang' });
  const { session, first, second } = await pair(t, peer.port, clock);
  await peer.reached('dot');
  const both = await endsAfter(clock, DISTINCT.dotMs, outcomes([first, second]));
  assert.deepEqual(both, ['failed dot timeout after the dot', 'failed mail connection untried']);
  await expectEnd(peer, session);
});

test('a peer that drips its verdict gains no time, be it bytes or lines', async (t) => {
  for (const drop of ['2', '250-wait\r\n']) {
    const clock = createFakeClock(0);
    const peer = await peerFor(t, { dot: 'hang' });
    const { session, first, second } = await pair(t, peer.port, clock);
    await peer.reached('dot');
    let isSettled = false;
    const both = outcomes([first, second]).finally(() => {
      isSettled = true;
    });
    for (let leftMs = DISTINCT.dotMs; leftMs > 0; leftMs -= 1_000) {
      assert.equal(isSettled, false);
      if (drop.length > 1 || leftMs === DISTINCT.dotMs) peer.say(drop);
      await settleSockets();
      assert.equal(session.isOpen(), true);
      await clock.advance(1_000);
    }
    assert.deepEqual(await both, ['failed dot timeout after the dot', 'failed mail connection untried']);
    await expectEnd(peer, session);
  }
});

test('the first message of a session is never untried, so that trying again comes to an end', async (t) => {
  const cases: [Answer, string][] = [
    ['close', 'failed mail connection'],
    ['what?\r\n', 'failed mail protocol'],
    ['hang', 'failed mail timeout'],
  ];
  for (const [answer, expected] of cases) {
    const clock = createFakeClock(0);
    const { peer, session } = await meet(t, { mail: answer }, { clock });
    const { result } = session.transact(envelope());
    await peer.reached('mail');
    if (answer === 'hang') await clock.advance(300_000);
    assert.deepEqual(summary(await result), [expected]);
  }
});

test('a session at rest has no deadline', async (t) => {
  const clock = createFakeClock(0);
  const { session } = await meet(t, {}, { timeouts: DISTINCT, clock });
  assert.deepEqual(await outcomes(await transactAll(session, ['a@example.net'])), ['accepted 250']);
  await clock.advance(24 * 3_600_000);
  assert.equal(session.isOpen(), true);
  assert.deepEqual(await outcomes(await transactAll(session, ['b@example.net'])), ['accepted 250']);
});

test('half a verdict does not disturb the message that is begun behind it', async (t) => {
  const { peer, session } = await meet(t, { dot: inTurn('hang') });
  const first = session.transact(envelope());
  await peer.reached('dot');
  peer.say('250-2.0.0 ');
  await settleSockets();
  const second = session.transact(envelope());
  await waitUntil(() => peer.reads.join('').split('DATA\r\n').length === 3);
  peer.say('ok\r\n250 2.0.0 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n');
  await second.ready;
  peer.say('250 ok\r\n');
  assert.deepEqual(await outcomes([first, second]), ['accepted 250', 'accepted 250']);
});

test('an answer to RSET is no answer to the message behind it', async (t) => {
  const { peer, session } = await meet(t, {
    mail: inTurn('250 ok\r\n', 'close'),
    rcpt: '450 4.2.1 later\r\n',
    data: '503 no\r\n',
  });
  const transactions = await transactAll(session, ['a@example.net', 'b@example.net']);
  assert.deepEqual(await outcomes(transactions), ['refused rcpt 450', 'failed mail connection untried']);
  assert.ok(peer.commands.includes('RSET'));
});

test('closing a session ends what is under way, and so does a goodbye', async (t) => {
  for (const leave of ['close', 'quit'] as const) {
    const peer = await peerFor(t, { dot: 'hang' });
    const { session, first, second } = await pair(t, peer.port);
    await peer.reached('dot');
    await session[leave]();
    assert.deepEqual(await outcomes([first, second]), [
      'failed dot connection after the dot',
      'failed mail connection untried',
    ]);
    assert.equal(peer.commands.includes('QUIT'), false);
    await expectEnd(peer, session);
  }
});

test('hundreds of messages leave no listeners behind, and one timer', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const { clock, timers } = countTimers(createFakeClock(0));
  const world = worldWith(clock);
  const sockets: Socket[] = [];
  const dial: typeof world.dial = async (target) => {
    const socket = await world.dial(target);
    sockets.push(socket);
    return socket;
  };
  const peer = await peerFor(t);
  const opened = await openSmtp({ clock, dial }, optionsFor(peer.port));
  assert.ok(opened.ok);
  const { session } = opened;
  t.after(() => session.close());
  const listeners = () => sockets[0]?.eventNames().map((name) => sockets[0]?.listenerCount(name));
  await outcomes(await transactAll(session, ['a@example.net']));
  const [before, timersBefore] = [listeners(), timers()];
  const rest = await transactAll(session, Array<string>(300).fill('a@example.net'));
  assert.deepEqual(new Set(await outcomes(rest)), new Set(['accepted 250']));
  await settleSockets();
  assert.deepEqual(listeners(), before);
  assert.ok(timers() - timersBefore <= 2, `${timers() - timersBefore} timers`);
  assert.deepEqual(warnings, []);
});

test('a fault of ours that nobody waits for yet is not uncaught, and ends the message behind it too', async (t) => {
  const { peer, session } = await meet(t);
  const first = session.transact(envelope());
  await first.ready;
  const phases: SmtpPhase[] = [];
  const onPhase = (phase: SmtpPhase) => {
    phases.push(phase);
    if (phase === 'body') throw new RangeError('a bug');
  };
  const second = session.transact(envelope({ onPhase }));
  await second.ready;
  await settleSockets();
  const third = session.transact(envelope());
  assert.deepEqual(await outcomes([first, third]), ['accepted 250', 'failed mail connection untried']);
  await assert.rejects(second.result, RangeError);
  assert.deepEqual(phases, ['mail', 'rcpt', 'data', 'body']);
  await expectEnd(peer, session);
});
