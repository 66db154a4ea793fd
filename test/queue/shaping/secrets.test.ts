/** The reasons of rests are words of another server, which may repeat what it was sent: no secret and no control character gets out by them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspectCertificates } from '../../../src/certificates/certificates.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { openWriting } from '../../../src/db/connection.ts';
import { saveOutboundRoute } from '../../../src/outbound-routes/save.ts';
import { Censuses } from '../../../src/queue/control/census.ts';
import { watchQueue } from '../../../src/queue/control/queue-metrics.ts';
import { parseRules } from '../../../src/queue/shaping/parse.ts';
import { RuleTable } from '../../../src/queue/shaping/rule-table.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { PASSWORD, startRelay, USER } from '../../outbound-routes/relay-server.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import type { Hosts } from '../../support/loopback.ts';
import { recordLog } from '../../support/record-log.ts';
import { noReceiver, PACKAGED } from '../../support/spool.ts';
import { TRUSTED_HOST } from '../../support/trusted-certificate.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const ENCODED = Buffer.from(`\0${USER}\0${PASSWORD}`).toString('base64');
/** Replies that repeat the login, and that try to control whatever shows them. */
const WITH_SECRETS = `421 4.7.0 too fast, ${USER} ${PASSWORD} ${ENCODED}`;
const WITH_CONTROLS = '421 4.7.0 too fast \u001b[2J\u202e\u0007for us';
const RULES = new RuleTable(
  parseRules(`rules:
  - { id: slower, text: too fast, matches: 1, within: 1h, on: site, lower: { connections: 1 }, for: 2h, source: a test }`),
);

test('a reply that repeats the login and has control characters gives neither away as the reason of a rest', async () => {
  const hosts: Hosts = {};
  const { log, lines } = recordLog('debug');
  const spool = closing(await openRoutedSpool(hosts, undefined, {}, { log }));
  const { app } = spool;
  const replies = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`user${n}@rcpt.example`, WITH_SECRETS]),
  );
  const relay = closing(await startRelay({ replies }));
  hosts['192.0.2.50'] = relay.port;
  const other = closing(
    await startCommandServer((line) => (line.startsWith('RCPT') ? WITH_CONTROLS : acceptEverything(line))),
  );
  hosts['192.0.2.51'] = other.port;
  spool.addZone(
    `${TRUSTED_HOST} A 192.0.2.50\nother.example MX 1 mx.other.example\nmx.other.example A 192.0.2.51`,
  );
  const route = { hosts: [TRUSTED_HOST], user: USER, password: PASSWORD, domain: 'rcpt.example' };
  await saveOutboundRoute(app, 'main', route);
  const dispatcher = startDelivering(app, noReceiver, { replies: PACKAGED, rules: { table: RULES } });
  const { sites } = dispatcher;
  const control = closing(await openControlSocket(app, { certificates: inspectCertificates(app), sites }));
  await spool.acceptMany(20, 'rcpt.example');
  await spool.acceptMany(20, 'other.example');
  const listed = async () => (await sites.listKept()).kept;
  await waitUntil(
    async () => (await listed()).length === 4,
    'both sites rest, and a rule is in force at each',
  );
  assert.ok(relay.logins.length > 0);

  const kept = await listed();
  const reasons = new Set(kept.map(({ reason }) => reason?.replace(/^.*Last: /, '')));
  assert.deepEqual(reasons, new Set(['421 4.7.0 too fast, *** *** ***', '421 4.7.0 too fast [2Jfor us']));
  watchQueue(app, new Censuses(app));
  const { text: metrics } = await app.metrics.show();
  assert.match(metrics, /postrider_delivery_restrictions\{provider="other",effect="lower"\} 2/);
  const reported = lines.filter(({ msg }) => /back-off rule slows/.test(msg)).map(({ reply }) => reply);
  assert.deepEqual(new Set(reported), reasons);
  const places = new Set(kept.map(({ place }) => place));
  const explained = [...places].map((name) => sites.explainSites({ name, siteOfDomain: undefined }));
  const shown = [
    JSON.stringify([kept, await Promise.all(explained)]),
    await commandsOf(spool.dataDir, [...places]),
    metrics,
    JSON.stringify(lines),
  ];
  await dispatcher.stop(0);
  shown.push(stored(spool.dataDir));
  for (const text of shown)
    for (const secret of [PASSWORD, ENCODED, Buffer.from(PASSWORD).toString('base64'), ...CONTROLS])
      assert.ok(!text.includes(secret), `${JSON.stringify(secret)} in ${text.slice(0, 200)}`);
  await control.close();
});

/** The control characters of the reply, as they are and as JSON has them. */
const CONTROLS = ['\u001b', '\u202e', '\u0007', '\\u001b', '\\u202e', '\\u0007'];

/** Returns what commands say of the sites. */
async function commandsOf(dataDir: string, places: readonly string[]): Promise<string> {
  let output = '';
  for (const args of [['sites'], ...places.map((place) => ['site', place])]) {
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: dataDir });
    assert.equal(await runProgram(['queue', ...args], terminal), 0, terminal.errors);
    assert.match(terminal.output, /too fast/);
    output += terminal.output;
  }
  return output;
}

/** Returns the rows of restrictions and of matches. */
function stored(dataDir: string): string {
  const database = openWriting(join(dataDir, 'postrider.db'), 'NORMAL');
  const rows = ['siteRestrictions', 'ruleMatches'].flatMap((table) =>
    database.prepare<[], unknown>(`SELECT * FROM ${table}`).all(),
  );
  database.close();
  return JSON.stringify(rows);
}
