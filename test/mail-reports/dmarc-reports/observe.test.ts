import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { App } from '../../../src/app.ts';
import type { AuthenticationResult, DkimOutcome } from '../../../src/mail/auth/result.ts';
import type { Observation } from '../../../src/mail/dmarc/aggregate-report.ts';
import { observe } from '../../../src/mail-reports/dmarc-reports/observe.ts';
import { PASS } from '../../inbound/mail-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

type Treatment = { isRefused?: boolean; isFlagged?: boolean };

type Written = { observation: string; isProven: boolean };

/** Returns the observation of a message with these results, which the author's policy covers. */
async function observed(change: Partial<AuthenticationResult>, treatment?: Treatment): Promise<Observation> {
  return JSON.parse((await written(change, treatment)).observation);
}

/** Returns what is written about such a message. */
async function written(
  change: Partial<AuthenticationResult>,
  { isRefused = false, isFlagged = false }: Treatment = {},
): Promise<Written> {
  const seen = Promise.withResolvers<Written>();
  const app = {
    db: { commitInBackground: (_write: unknown, input: Written) => seen.resolve(input) },
    clock: createFakeClock(0),
    random: () => 0.5,
    config: { inbound: { dmarcReports: true } },
  } as unknown as App;
  const result = { ...PASS, ...change };
  result.dmarc = { ...result.dmarc, policyDomain: 'sender.example' };
  observe(app, { result, sender: 'a@Sender.example', recipients: [{ kind: 'post' }], isRefused, isFlagged });
  return seen.promise;
}

const dmarc = (change: Partial<AuthenticationResult['dmarc']>) => ({ dmarc: { ...PASS.dmarc, ...change } });
const shown = ({ disposition, reason }: Observation) => [disposition, reason];

test('mail that passes an enforced policy is told from mail for which nothing is asked', async () => {
  assert.deepEqual(shown(await observed(dmarc({ policy: 'reject' }))), ['pass', undefined]);
  assert.deepEqual(shown(await observed(dmarc({ policy: 'none' }))), ['none', undefined]);
  assert.deepEqual(shown(await observed(dmarc({ policy: undefined }))), ['none', undefined]);
});

test('mail that fails has the reason for which the policy was not applied', async () => {
  const fail = (policy: 'none' | 'quarantine' | 'reject', more = {}) =>
    dmarc({ result: 'fail', policy, ...more });
  const arc = { result: 'pass', sets: [], reason: '' } as const;
  assert.deepEqual(shown(await observed(fail('reject'), { isRefused: true })), ['reject', undefined]);
  assert.deepEqual(shown(await observed(fail('quarantine'), { isFlagged: true })), ['quarantine', undefined]);
  assert.deepEqual(shown(await observed(fail('none'))), ['none', undefined]);
  assert.deepEqual(shown(await observed(fail('reject'))), ['none', 'local_policy']);
  assert.deepEqual(shown(await observed({ ...fail('reject'), arc })), ['none', 'trusted_forwarder']);
  assert.deepEqual(shown(await observed(fail('none', { isTest: true }))), ['none', 'policy_test_mode']);
  assert.deepEqual(shown(await observed(fail('quarantine', { isTest: true }), { isFlagged: true })), [
    'quarantine',
    'policy_test_mode',
  ]);
});

test('only mail that passes counts as proven', async () => {
  for (const result of ['pass', 'fail'] as const)
    assert.equal((await written(dmarc({ result }))).isProven, result === 'pass');
});

test('signatures stand in the order in which they matter', async () => {
  const signature = (result: DkimOutcome['result'], domain: string, isAligned: boolean): DkimOutcome => ({
    ...{ result, domain, isAligned, selector: 's', algorithm: '', reason: '' },
  });
  const { dkimResults } = await observed({
    dkim: [
      signature('fail', 'sender.example', false),
      signature('pass', 'other.example', false),
      signature('pass', 'mail.sender.example', true),
      signature('pass', 'sender.example', true),
    ],
  });
  assert.deepEqual(
    dkimResults.map(({ domain, result }) => `${domain} ${result}`),
    ['sender.example pass', 'mail.sender.example pass', 'other.example pass', 'sender.example fail'],
  );
});
