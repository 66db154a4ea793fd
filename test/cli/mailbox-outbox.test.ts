/** `postrider mailbox outbox`: the operator sees the mail of people that waits, and cancels it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { MESSAGE, openSubmissionWorld, submit } from '../submission/submission-world.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';

const world = await openSubmissionWorld({
  system: { dial: () => Promise.reject(new Error('nobody answers')) },
});
const control = await openControlSocket(world.app);
after(() => control.close());
world.addZone('receiver.example MX 10 mx.receiver.example\nmx.receiver.example A 192.0.2.9');

async function outbox(...args: string[]) {
  const env = { POSTRIDER_DATA_DIR: world.dataDir, POSTRIDER_HOSTNAME: world.app.config.hostname };
  const terminal = fakeTerminal(env, { input: '' });
  const code = await runProgram(['mailbox', 'outbox', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

/** Sends a message from a mailbox, and returns its id. */
async function send(from: string, parameters = ' HOLDFOR=3600'): Promise<string> {
  const client = await world.logIn(from);
  const message = MESSAGE.replace('ann@people.example', from);
  const to = ['bob@receiver.example', 'cid@receiver.example'];
  const reply = await submit(client, { from, to, message, parameters });
  client.socket.destroy();
  return (await world.queued(reply)).id;
}

const statesOf = async (id: string) => (await world.recipients(id)).map(({ state }) => state);

test('what a mailbox holds and what is retried is listed, and what has ended is not', async () => {
  const { address } = await addMailbox(world, { address: 'ann.lister@people.example' });
  assert.equal((await outbox(address)).output, 'No mail waits to be sent.\n');
  const held = await send(address);
  const retried = await send(address, '');
  await world.deliverDue();
  await send('ann@people.example');
  const { output } = await outbox(address);
  assert.match(output, /^EMAIL +FROM +TO +STATUS +LEAVES AT +HANDED IN +WITH +SIZE\n/);
  const lines = output.trim().split('\n').slice(1);
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/).slice(0, 4)),
    [
      [retried, address, 'bob@receiver.example', 'deferred'],
      [retried, address, 'cid@receiver.example', 'deferred'],
      [held, address, 'bob@receiver.example', 'queued'],
      [held, address, 'cid@receiver.example', 'queued'],
    ],
  );
  const [, second] = JSON.parse((await outbox(address, '--json')).output).emails;
  assert.deepEqual(
    [second.heldUntil, second.recipients[0].nextAttemptAt, second.handedInWith],
    [
      second.recipients[0].nextAttemptAt,
      new Date(Date.parse(second.createdAt) + 3_600_000).toISOString(),
      'password',
    ],
  );
});

test('the operator cancels one email, or all of a mailbox', async () => {
  const { address } = await addMailbox(world, { address: 'ann.canceler@people.example' });
  const [first, second, third] = [await send(address), await send(address), await send(address)];
  const other = await send('ann@people.example');
  assert.equal((await outbox(address, '--cancel', first)).output, 'Canceled 1 email\n');
  assert.deepEqual(await statesOf(first), ['canceled', 'canceled']);
  assert.deepEqual(await statesOf(second), ['ready', 'ready']);
  const again = await outbox(address, '--cancel', first);
  assert.match(again.errors, /can no longer be canceled/);
  assert.match((await outbox(address, '--cancel', other)).errors, /not found/i, 'another mailbox');
  assert.equal((await outbox(address, '--cancel-all')).output, 'Canceled 2 emails\n');
  assert.deepEqual(
    [await statesOf(second), await statesOf(third)],
    [
      ['canceled', 'canceled'],
      ['canceled', 'canceled'],
    ],
  );
  assert.deepEqual(await statesOf(other), ['ready', 'ready']);
  assert.equal((await outbox(address)).output, 'No mail waits to be sent.\n');
  assert.equal((await outbox(address, '--cancel', second, '--cancel-all')).code, 2);
});
