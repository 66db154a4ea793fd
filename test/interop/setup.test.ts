/**
 * A set-up that is killed in every step, and goes on each time. The world is on loopback, and the daemon listens on ports without
 * privilege. The tests follow each other.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryDirectory } from '../support/daemon.ts';
import { startSetupWorld } from '../support/setup-world.ts';
import { until } from './until.ts';

const world = await startSetupWorld(undefined, { replyDelayMs: 1_000 });
after(() => world[Symbol.asyncDispose]());
const config = ['--config', join(temporaryDirectory('setup'), 'postrider.yaml')];

/** Text that the output has once a step has ended. */
const STEPS = [
  ...[
    'configuration',
    'ports',
    'reverse-dns',
    'service',
    'outbound-port',
    'accounts       tenant',
    'accounts       domain',
  ],
  ...['live key', 'test key', 'needed records are published', 'dns  ', 'accounts       mailbox'],
];
/** Steps once the message is on its way. */
const LAST_STEPS = ['certificate', 'message  '];

function testKillAfter(step: string): void {
  test(`a set-up is killed after "${step}"`, async () => {
    const { signal, output, errors } = await world.run(config, step);
    assert.equal(signal, 'SIGKILL', `${output}${errors}`);
  });
}

for (const step of STEPS) testKillAfter(step);

test('a set-up is killed while the receiver has the message, and has not answered yet', async () => {
  assert.equal(world.sink.messages.length, 0);
  const isTaken = until('the receiver has the message', async () => world.sink.messages.length > 0);
  const { signal, output, errors } = await world.run(config, isTaken);
  assert.equal(signal, 'SIGKILL', `${output}${errors}`);
  assert.doesNotMatch(output, /message {2}/);
});

for (const step of LAST_STEPS) testKillAfter(step);

test('the last set-up completes one installation, with one message', async () => {
  const { code, output, errors } = await world.run([...config, '--json']);
  assert.equal(code, 0, `${output}${errors}`);
  const { domain, findings } = JSON.parse(output) as {
    domain: { status: string };
    findings: { check: string; level: string }[];
  };
  assert.equal(domain.status, 'verified');
  assert.deepEqual(
    findings.filter(({ level }) => level === 'fail'),
    [],
  );
  assert.equal(world.sink.messages.length, 1);
});
