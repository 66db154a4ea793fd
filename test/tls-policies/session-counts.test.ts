import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportedPolicy } from '../../src/mail/tls-policy/reported-session.ts';
import { TlsSessionCounts } from '../../src/tls-policies/session-counts.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';

const NO_POLICY: ReportedPolicy = { type: 'no-policy-found', lines: [], mx: [] };
const WANTED = { kind: 'found', records: ['v=TLSRPTv1; rua=mailto:tls@one.test'], ttlMs: 60_000 };

type Written = { domain: string; sessions: number };

/** Returns counts whose questions of DNS wait for `answer`, and what they have written. */
function openCounts() {
  const clock = createFakeClock(Date.UTC(2030, 0, 1));
  const { log, lines } = recordLog();
  const asked: string[] = [];
  const written: Written[] = [];
  const answered = Promise.withResolvers<void>();
  let lost = 0;
  const counts = new TlsSessionCounts({
    clock,
    log,
    random: () => 0.5,
    config: { outbound: { tlsReports: true } },
    dns: {
      fresh: {
        async txt(name: string) {
          asked.push(name);
          await answered.promise;
          return WANTED;
        },
      },
    },
    db: {
      async commit(_write: unknown, { counted }: { counted: Written[] }) {
        written.push(...counted.map(({ domain, sessions }) => ({ domain, sessions })));
        return lost;
      },
    },
  } as never);
  const count = (domain: string) => counts.count({ domain, policy: NO_POLICY, failure: null });
  return { counts, count, clock, asked, written, lines, answer: answered.resolve, lose: () => void lost++ };
}

test('while DNS does not answer, no other write begins, and what is counted meanwhile is written with the rest', async () => {
  const { counts, count, clock, asked, written, answer } = openCounts();
  count('one.test');
  await clock.advance(60_000);
  for (let minute = 0; minute < 10; minute++) {
    count('one.test');
    count('two.test');
    await clock.advance(60_000);
  }
  assert.deepEqual(asked, ['_smtp._tls.one.test']);
  answer();
  await counts.flush();
  assert.deepEqual(written, [
    { domain: 'one.test', sessions: 11 },
    { domain: 'two.test', sessions: 10 },
  ]);
});

test('sessions for which no report has room are logged with their number', async () => {
  const { counts, count, lines, answer, lose } = openCounts();
  answer();
  lose();
  count('one.test');
  await counts.flush();
  await counts.flush();
  assert.deepEqual(
    lines.map(({ msg, sessions }) => [msg, sessions]),
    [['sessions with too many domains are in no report about TLS', 1]],
  );
});
