/** The relay of a set-up: a route for all mail, to a real SMTP server on loopback. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectToDaemon } from '../../../src/cli/control-client.ts';
import { readAnswers, type SetupOptions } from '../../../src/cli/setup/answers.ts';
import { setRelay } from '../../../src/cli/setup/relay.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { PASSWORD, startRelay, USER } from '../../outbound-routes/relay-server.ts';
import { openRoutedSpool } from '../../queue/routed-spool.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import type { Hosts } from '../../support/loopback.ts';
import { TRUSTED_HOST } from '../../support/trusted-certificate.ts';

const RELAY = '192.0.2.50';
const hosts: Hosts = {};
const spool = await openRoutedSpool(hosts);
const listener = await openControlSocket(spool.app);
const control = (await connectToDaemon(spool.dataDir)) ?? assert.fail('no daemon answers');
after(async () => {
  await control.close();
  await listener.close();
  await spool.close();
});
spool.addZone(`${TRUSTED_HOST} A ${RELAY}\nrcpt.example MX 10 mx.rcpt.example\nmx.rcpt.example A 192.0.2.60`);

/** Sets the relay, with a password on standard input. */
async function set(options: SetupOptions, input: string) {
  const terminal = fakeTerminal({}, { input });
  const answers = readAnswers('you@example.com', { yes: true, ...options }, terminal);
  const findings = await setRelay({ control, terminal }, answers);
  return findings.map(
    ({ level, subject, says, advice }) => `${level} ${subject}: ${says}${advice && ` -> ${advice}`}`,
  );
}

test('without a relay nothing is set', async () => {
  assert.deepEqual(await set({}, ''), []);
  const { routes } = await control.request<{ routes: object[] }>('GET', '/outbound-routes');
  assert.deepEqual(routes, []);
});

for (const { scheme, isImplicit, port } of [
  { scheme: 'smtp', isImplicit: false, port: 587 },
  { scheme: 'smtps', isImplicit: true, port: 465 },
])
  test(`${scheme}: all mail goes through the relay once the log-in was tried with the password that was read`, async (t) => {
    const relay = await startRelay({ isImplicit });
    t.after(() => relay.close());
    hosts[RELAY] = relay.port;
    const url = `${scheme}://${USER}@${TRUSTED_HOST}`;
    const wrong = await set({ relay: url }, 'not the secret');
    assert.match(
      wrong.join(),
      /^fail good\.example:\d+: it cannot be used: auth: 535 .* -> run this again with the right --relay$/,
    );
    assert.deepEqual(await set({ relay: url }, PASSWORD), [
      `ok ${TRUSTED_HOST}:${port}: all mail goes through it`,
    ]);
    assert.deepEqual(relay.logins, [`PLAIN ${USER} not the secret`, `PLAIN ${USER} ${PASSWORD}`]);
    const id = await spool.accept('bob@rcpt.example');
    await spool.deliverDue();
    assert.equal((await spool.recipient(id)).status, 'delivered');
    assert.deepEqual(relay.messages, [{ user: USER, recipients: ['bob@rcpt.example'] }]);
  });
