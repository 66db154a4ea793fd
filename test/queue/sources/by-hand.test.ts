/** The operator suspends, resumes and probes sources, by functions, commands and the dashboard. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { Censuses } from '../../../src/queue/control/census.ts';
import { watchQueue } from '../../../src/queue/control/queue-metrics.ts';
import { listSources } from '../../../src/queue/sources/list.ts';
import { probeByHand, resumeByHand, suspendByHand } from '../../../src/queue/sources/operate.ts';
import { probeSources } from '../../../src/queue/sources/recover.ts';
import { listSuspensions, resumeSource } from '../../../src/queue/sources/store.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { SourceError } from '../../../src/system/dial/source-failure.ts';
import { logIn } from '../../support/browser.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { OUTBOUND } from '../../support/dashboard/delivery.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { noReceiver } from '../../support/spool.ts';
import { openTestApp } from '../../support/test-app.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openWorld } from './world.ts';

const closing = closeAfterTests();
const world = await openWorld(closing);
const A = { name: 'a', addresses: ['127.0.0.11'], ehlo: 'a.mx.example' };
const B = { name: 'b', addresses: ['127.0.0.12'], ehlo: 'b.mx.example' };
const { config } = world.app;
const app = { ...world.app, config: { ...config, outbound: { ...config.outbound, sources: [A, B] } } };

beforeEach(async () => {
  world.arrived.length = 0;
  for (const source of ['a', 'b']) await world.app.db.commit(resumeSource, { source });
});

const from = () => new Set(world.arrived.map((one) => one.from));
const domains = ['a.example', 'b.example', 'c.example'];
const acceptAll = async () => {
  for (const domain of domains) await world.accept([1, 2, 3, 4].map((n) => `x${n}@${domain}`));
};

test('no mail leaves from a suspended source, also after a restart and with other settings, until it is resumed', async () => {
  await suspendByHand(app, 'a', 'it is on a \u001blist');
  for (const source of [A, { ...A, ehlo: 'other.mx.example' }]) {
    await acceptAll();
    await world.deliverFrom([source, B]);
    assert.deepEqual(from(), new Set(['127.0.0.12']));
  }
  const [a, b] = await listSources(app);
  assert.deepEqual(a?.suspendedByHand, { reason: 'it is on a list', since: world.clock.now() });
  assert.equal(b?.suspendedByHand, null);
  await resumeByHand(app, 'a');
  world.arrived.length = 0;
  const only = { name: 'only-a', sources: ['a'] };
  await acceptAll();
  await world.deliverFrom([A, B], [only]);
  assert.deepEqual(from(), new Set(['127.0.0.11']));
});

test('mail whose only source is suspended waits without an attempt, says so, and leaves once it is resumed', async () => {
  await suspendByHand(app, 'a', null);
  await suspendByHand(app, 'b', 'both');
  const id = await world.accept('y@a.example');
  const dispatcher = startDelivering(app, noReceiver);
  const { queue } = await world.app.db.read
    .selectFrom('recipients')
    .select('queue')
    .where('messageId', '=', id as `em_${string}`)
    .executeTakeFirstOrThrow();
  await waitUntil(
    async () => (await dispatcher.explainWaiting([queue])).get(queue)?.firstAttempts?.reason === 'rest',
  );
  assert.equal((await world.recipient(id)).attempts, 0);
  await resumeByHand(app, 'b');
  await waitUntil(async () => (await world.recipient(id)).status === 'delivered', 'it leaves at once');
  assert.deepEqual(from(), new Set(['127.0.0.12']));
  const stopped = dispatcher.stop(0);
  await world.clock.advance(0);
  await stopped;
});

test('a source that is not there, or that is not suspended, is refused', async () => {
  await assert.rejects(suspendByHand(app, 'none', null), { code: 'not_found' });
  await assert.rejects(probeByHand(app, 'none'), { code: 'not_found' });
  await assert.rejects(resumeByHand(app, 'a'), { code: 'invalid_state' });
});

test('a probe suspends an address that fails, ends its suspension once it answers, and changes no word of the operator', async () => {
  let isBroken = true;
  const probeOne = async () => {
    if (isBroken) throw new SourceError('unusable', 'it is not there');
  };
  const routed: unknown[] = [];
  const unsubscribe = world.app.wakeups.listen('outbound-routes', () => routed.push(1));
  assert.deepEqual(await probeByHand(app, 'a', probeOne), [
    { address: '127.0.0.11', fault: 'it is not there' },
  ]);
  const [suspension] = await listSuspensions(app.db.read);
  assert.deepEqual([suspension?.source, suspension?.reason], ['a', 'it is not there']);
  await suspendByHand(app, 'a', null);
  isBroken = false;
  assert.deepEqual(await probeByHand(app, 'a', probeOne), [{ address: '127.0.0.11', fault: null }]);
  assert.deepEqual(await listSuspensions(app.db.read), []);
  assert.ok((await listSources(app))[0]?.suspendedByHand);
  assert.equal(routed.length, 3);
  await probeByHand(app, 'a', probeOne);
  assert.equal(routed.length, 3, 'nothing has changed');
  await world.clock.advance(120_000);
  await probeSources(app, probeOne);
  assert.ok((await listSources(app))[0]?.suspendedByHand, 'the probe of each minute does not resume it');
  await assert.rejects(
    probeByHand({ ...app, egress: { ...app.egress, isHeld: true } as typeof app.egress }, 'a', probeOne),
    { code: 'invalid_state' },
  );
  const broken = async () => {
    throw new RangeError('a bug');
  };
  await assert.rejects(probeByHand(app, 'a', broken), RangeError);
  unsubscribe();
});

const shown = await openTestApp({ outbound: OUTBOUND });
const control = await openControlSocket(shown.app);
after(async () => {
  await control.close();
  await shown.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: shown.dataDir });
  const code = await runProgram(['source', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('commands suspend, show, probe and resume a source, and doctor and metrics know it', async () => {
  const reason = 'moved\u202e away';
  const suspended = await run('suspend', 'two', '--reason', reason);
  assert.match(suspended.output, /^Suspended the source two\./, suspended.errors);
  assert.match((await run('list')).output, /^two .* suspended by the operator since \S+Z: moved away$/m);
  const probed = await run('probe', 'two');
  assert.match(
    probed.output,
    /^45\.33\.32\.2: this machine does not have the address of the source\n2606:2800::1: this machine does not have/,
  );
  watchQueue(shown.app, new Censuses(shown.app));
  const { text } = await shown.app.metrics.show();
  assert.match(text, /postrider_delivery_suspended_addresses\{source="two"\} 2/);
  assert.equal((await run('resume', 'two')).output, 'Resumed the source two\n');
  const again = await run('resume', 'two');
  assert.deepEqual([again.code, again.errors.includes('The source two is not suspended')], [1, true]);
  assert.match((await run('list')).output, /^two .* in use$/m);
  assert.match((await run('suspend', 'none')).errors, /Source/);
});

test('the page suspends, probes and resumes a source, and the audit log has each', async () => {
  const operator = await logIn(shown, { isOperator: true, tenantId: null });
  await operator.open('/operator/sources');
  await operator.submit('suspend', { source: 'one', reason: '<b>blocked</b>' });
  assert.match(
    operator.page.html,
    /status warning">suspended by the operator<\/span> since <time.*&lt;b>blocked&lt;\/b>/s,
  );
  assert.doesNotMatch(operator.page.html, /<b>blocked/);
  const probed = await operator.submit('probe', { source: 'one' });
  assert.match(probed.html, /Probe of one.*status bad">fails<\/span>.*does not have the address/s);
  await operator.open('/operator/sources');
  await operator.submit('resume');
  assert.doesNotMatch(operator.page.html, /suspended by the operator/);
  const lines = await shown.app.db.read
    .selectFrom('auditEntries')
    .select(['action', 'details'])
    .where('action', 'like', 'operator/sources %')
    .orderBy('id')
    .execute();
  assert.deepEqual(
    lines.map(({ action }) => action),
    ['operator/sources suspend', 'operator/sources probe', 'operator/sources resume'],
  );
  assert.match(lines[0]?.details ?? '', /one.*blocked/);
});
