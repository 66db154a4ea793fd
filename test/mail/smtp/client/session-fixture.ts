/** Fixtures for tests of an SMTP session: a world on loopback, a peer, an envelope, results as short text. */
import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import type { TestContext } from 'node:test';
import type { Envelope, MessageContent } from '../../../../src/mail/smtp/client/envelope.ts';
import { openSmtp, type SmtpSession } from '../../../../src/mail/smtp/client/open.ts';
import type { SmtpOptions } from '../../../../src/mail/smtp/client/options.ts';
import { DEFAULT_SMTP_TIMEOUTS, type SmtpTimeouts } from '../../../../src/mail/smtp/client/timeouts.ts';
import type { TransactionResult } from '../../../../src/mail/smtp/client/transaction.ts';
import { type Clock, realClock, type Timer } from '../../../../src/system/clock.ts';
import { createDial } from '../../../../src/system/dial.ts';
import type { FakeClock } from '../../../support/fake-clock.ts';
import { LOOPBACK_GUARD } from '../../../support/loopback.ts';
import { type Script, type ScriptedPeer, startScriptedPeer } from './scripted-peer.ts';

export function worldWith(clock: Clock = realClock) {
  return { clock, dial: createDial(LOOPBACK_GUARD, clock) };
}

export function optionsFor(port: number, more: Partial<SmtpOptions> = {}): SmtpOptions {
  return {
    address: '127.0.0.1',
    port,
    serverName: 'mx.example.net',
    heloName: 'mail.example.com',
    tls: 'opportunistic',
    timeouts: DEFAULT_SMTP_TIMEOUTS,
    ...more,
  };
}

export async function peerFor(t: TestContext, script: Script = {}): Promise<ScriptedPeer> {
  const peer = await startScriptedPeer(script);
  t.after(() => peer.close());
  return peer;
}

export async function sessionWith(
  t: TestContext,
  port: number,
  more: Partial<SmtpOptions> = {},
  clock?: Clock,
): Promise<SmtpSession> {
  const opened = await openSmtp(worldWith(clock), optionsFor(port, more));
  assert.ok(opened.ok, JSON.stringify(opened));
  t.after(() => opened.session.close());
  return opened.session;
}

/** A peer that follows the script, and a session with it. */
export async function meet(
  t: TestContext,
  script: Script = {},
  { clock, ...more }: Partial<SmtpOptions> & { clock?: Clock } = {},
): Promise<{ peer: ScriptedPeer; session: SmtpSession }> {
  const peer = await peerFor(t, script);
  return { peer, session: await sessionWith(t, peer.port, more, clock) };
}

export const MESSAGE = 'Subject: Hello\r\n\r\n.dot\r\nbody\r\n';

export function inline(text: string | Buffer): MessageContent {
  const bytes = Buffer.from(text as string);
  const chunks = () => assert.fail('a message at hand is not streamed');
  return { sizeBytes: bytes.length, isEightBit: !isAscii(bytes), inline: bytes, chunks };
}

export function envelope(parts: Partial<Envelope> = {}): Envelope {
  return {
    mailFrom: 'b+token@bounce.example.com',
    recipients: ['ada@example.net'],
    prefix: Buffer.from('DKIM-Signature: v=1\r\n'),
    message: inline(MESSAGE),
    ...parts,
  };
}

export function send(session: SmtpSession, message: Envelope): Promise<TransactionResult> {
  return session.transact(message).result;
}

export function summary(result: TransactionResult): string[] {
  return result.recipients.map((recipient) => {
    if (recipient.kind === 'accepted') return `accepted ${recipient.reply.code}`;
    if (recipient.kind === 'refused') return `refused ${recipient.phase} ${recipient.reply.code}`;
    const { phase, kind } = recipient.failure;
    const dot = recipient.dotSent ? ' after the dot' : '';
    return `failed ${phase} ${kind}${dot}${recipient.untried ? ' untried' : ''}`;
  });
}

/** Timeouts that all differ, so that a test notices when a phase uses the wrong one. */
export const DISTINCT: SmtpTimeouts = {
  connectMs: 11_000,
  bannerMs: 12_000,
  ehloMs: 13_000,
  authMs: 30_000,
  startTlsMs: 14_000,
  mailMs: 15_000,
  rcptMs: 16_000,
  dataMs: 17_000,
  blockMs: 18_000,
  dotMs: 19_000,
  resetMs: 20_000,
  quitMs: 21_000,
};

/** Returns the result of what ends after this time, and not a millisecond earlier. */
export async function endsAfter<Result>(
  clock: FakeClock,
  timeoutMs: number,
  ending: Promise<Result>,
): Promise<Result> {
  let isSettled = false;
  const settled = ending.finally(() => {
    isSettled = true;
  });
  await clock.advance(timeoutMs - 1);
  assert.equal(isSettled, false);
  await clock.advance(1);
  return settled;
}

/** Counts the timers set on a clock, and those that have neither run nor been cancelled. */
export function countTimers(clock: FakeClock): {
  clock: FakeClock;
  timers(): number;
  live(): number;
} {
  const live = new Set<Timer>();
  let timers = 0;
  const after = (delayMs: number, run: () => void): Timer => {
    timers += 1;
    const inner = clock.after(delayMs, () => {
      live.delete(timer);
      run();
    });
    const timer = {
      cancel() {
        live.delete(timer);
        inner.cancel();
      },
    };
    live.add(timer);
    return timer;
  };
  return { clock: { ...clock, after }, timers: () => timers, live: () => live.size };
}

/** Runs the event loop a few times, so that bytes on loopback arrive. */
export async function settleSockets(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
