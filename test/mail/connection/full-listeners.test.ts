/** Strangers cannot keep honest clients out of a listener by filling it, whichever protocol it speaks. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { waitUntil } from '../../support/wait-until.ts';
import { PROTOCOLS, type ProtocolCase, startListener } from './listeners.ts';

/** Several times as many as the listener takes, four from each network. */
const STRANGERS = 300;
/** Number of strangers that connect at the same time, fewer than the kernel keeps for a listener that is busy. */
const WAVE = 100;
/** Number of connections up to which a listener only grows, while all of them are fresh. */
const CONNECTIONS = 40;
/** Number of networks (/24) of the strangers. */
const NETWORKS = 75;

/** Returns a loopback address in one of `NETWORKS` networks. */
function strangerAddress(index: number): string {
  return `127.77.${index % NETWORKS}.${1 + Math.floor((index % STRANGERS) / NETWORKS)}`;
}

async function attack(t: TestContext, protocol: ProtocolCase, address: string) {
  const listener = await startListener(t, protocol, { connections: CONNECTIONS, address });
  let dialled = 0;
  let open = 0;
  /** Connects strangers, who send a command that leads to nothing, and waits until the listener has seen all of them. */
  async function flood(count: number): Promise<void> {
    for (let more = 0; more < count; more++) {
      const socket = listener.dial(strangerAddress(dialled++));
      open++;
      socket.resume().once('close', () => void open--);
      if (protocol.mode === 'starttls') socket.write(protocol.idle[0]);
    }
    await waitUntil(() => open <= CONNECTIONS, 'the listener has ended as many connections as came');
  }
  return { ...listener, flood };
}

/** One listener begins with TLS, the other does not. What all others do is in stress.test.ts. */
const ATTACKED = PROTOCOLS.filter(({ name }) => name === 'smtp' || name === 'imap');

for (const [index, protocol] of ATTACKED.entries())
  test(`${protocol.name}: an honest client gets in among hundreds of strangers, while more of them come`, async (t) => {
    // Half of the listeners see addresses of IPv4 in their IPv6 form.
    const { flood, connect, metric } = await attack(
      t,
      protocol,
      index % 2 === 0 ? '127.0.0.1' : '::ffff:127.0.0.1',
    );
    for (let count = 0; count < STRANGERS; count += WAVE) await flood(WAVE);
    // The clock stands still, so no time limit helps the client.
    const client = await connect('127.0.0.2');
    for (const step of protocol.honest) {
      await client.run(step);
      await flood(5);
    }
    await client.run(protocol.idle);
    const ended = STRANGERS + 5 * protocol.honest.length + 1 - CONNECTIONS;
    assert.ok((await metric('connections_evicted_total')) >= ended - 1);
    assert.equal(await metric('connections_refused_total'), 0);
  });
