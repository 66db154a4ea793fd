import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagePort } from 'node:worker_threads';
import { createLinks } from '../../src/mailbox-access/service.ts';

/** Returns a thread that notes its links. */
function threadOf() {
  const ports = new Map<string, MessagePort>();
  let failure: Error | undefined;
  return {
    ports,
    fail(error: Error | undefined) {
      failure = error;
    },
    calls: {
      async connect({ link, port }: { link: string; port: MessagePort }) {
        if (failure) throw failure;
        ports.set(link, port);
      },
    },
  };
}

test('two threads are connected once, with both ends of a channel', async (t) => {
  const [access, first, second] = [threadOf(), threadOf(), threadOf()];
  const links = createLinks(access, [first, second]);
  const [a, b] = await Promise.all([links.get(0), links.get(0)]);
  assert.equal(a, b);
  assert.notEqual(await links.get(1), a);
  const [near, far] = [access.ports.get(a), first.ports.get(a)];
  assert.ok(near && far);
  t.after(() => near.close());
  const received = new Promise((resolve) => void far.once('message', resolve));
  near.postMessage('hello');
  assert.equal(await received, 'hello');
});

test('threads that could not be connected, or have started again, are connected anew', async () => {
  const [access, accounts] = [threadOf(), threadOf()];
  const links = createLinks(access, [accounts]);
  accounts.fail(new Error('it starts'));
  await assert.rejects(links.get(0), /it starts/);
  accounts.fail(undefined);
  const first = await links.get(0);
  links.forget(0);
  assert.notEqual(await links.get(0), first);
});
