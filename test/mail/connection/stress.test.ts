/** A listener that is full, or nearly full, expects more of its clients, and says what is wrong in the words of its protocol. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Dialogue, PROTOCOLS, type Step, startListener } from './listeners.ts';

const GREETING: Step = ['', /\r\n$/];
/** Number of connections of a listener that never comes under stress in a test. */
const ROOMY = 100;

/** Connects, and reads the greeting. */
async function greeted({ connect }: { connect(): Promise<Dialogue> }): Promise<Dialogue> {
  const client = await connect();
  await client.run(GREETING);
  return client;
}

for (const protocol of PROTOCOLS) {
  const { name, mode, honest, idle, refusal, eviction } = protocol;

  test(`${name}: when nobody can be ended, a newcomer is told so, by TLS ten times and then once in 100 ms`, async (t) => {
    const listener = await startListener(t, protocol, { connections: 2 });
    for (let client = 0; client < 2; client++) {
      const dialogue = await listener.connect();
      for (const step of honest) await dialogue.run(step);
    }
    const answer = async () => await (await listener.connect()).rest();
    for (let newcomer = 0; newcomer < 10; newcomer++) assert.match(await answer(), refusal);
    if (mode === 'immediate') assert.equal(await answer(), '');
    await listener.clock.advance(100);
    assert.match(await answer(), refusal);
    if (mode === 'immediate') assert.equal(await answer(), '');
    assert.equal(await listener.metric('connections_evicted_total'), 0);
  });

  test(`${name}: a client that is ended for a newcomer is told so`, async (t) => {
    const listener = await startListener(t, protocol, { connections: 1 });
    const first = await greeted(listener);
    const second = await greeted(listener);
    assert.match(await first.rest(), eviction);
    await second.run(idle);
    assert.equal(await listener.metric('connections_evicted_total'), 1);
    assert.equal(await listener.metric(`${name}_connections`), 1);
  });

  for (const [connections, maxCommands] of [
    [ROOMY, 100],
    [1, 10],
  ] as const)
    test(`${name}: a client without a login and a message has ${maxCommands} commands at ${connections} connections`, async (t) => {
      const client = await greeted(await startListener(t, protocol, { connections }));
      for (let command = 1; command < maxCommands; command++) await client.run(idle);
      client.send(idle[0]);
      assert.match(await client.rest(), /Too many commands without a (?:login|message)/);
    });

  test(`${name}: a client that says nothing has 10 s under stress`, async (t) => {
    const listener = await startListener(t, protocol, { connections: 1 });
    const client = await greeted(listener);
    await client.run(idle);
    await listener.clock.advance(9_999);
    assert.equal(client.isClosed, false);
    await listener.clock.advance(1);
    await client.rest();
  });

  test(`${name}: an address with too many new connections is told so, by TLS where connections begin with it`, async (t) => {
    const listener = await startListener(t, protocol, { connections: ROOMY, connectionsPerMinute: 1 });
    await greeted(listener);
    assert.match(await (await listener.connect()).rest(), /Your address has too many new connections/);
  });

  if (name.startsWith('smtp') || name.startsWith('submission')) continue;

  test(`${name}: a client without a login sends at most 1 MiB, even in one line`, async (t) => {
    const client = await greeted(await startListener(t, protocol, { connections: ROOMY }));
    client.send('x'.repeat(1024 * 1024 + 10_000));
    assert.match(await client.rest(), /Too much input without a login/);
  });
}
