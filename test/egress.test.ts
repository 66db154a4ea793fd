/** Everything that leaves this machine: which files open connections, and which kinds of background work wait at the gate. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../src/', import.meta.url));
const sources = globSync('**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(`${root}${path}`, 'utf8'),
}));

/** Files outside `system/` that open connections to other hosts, and why none changes anything there while the gate is held. */
const CONNECTING: Readonly<Record<string, string>> = {
  'certificates/acme/authority.ts': 'the tasks of orders wait',
  'control-socket.ts': 'looks whether another daemon answers on its own socket',
  'dashboard/people/openid-client.ts': 'a person logs in at its own provider, and nothing is changed there',
  'emails/download.ts': 'reads a file with GET, for an email that is sent to the API',
  'links/check-origin.ts': 'reads a page of this installation with GET',
  'mail-reports/tls-reports/work.ts': 'sends no reports',
  'mail/smtp/client/open.ts': 'the dispatcher starts no session, and probes of relays and ports are refused',
  'mail/tls-policy/sts-fetch.ts': 'reads a file with GET',
  'mailbox-imports/source/dial.ts': 'the tasks of imports wait',
  'objects/server-requests.ts':
    'reaches the store of the operator, which a promoted host must tell that it is the owner now',
  'queue/delivery-test/run.ts':
    'ends its dial when the operator leaves; connections are refused as those of sessions are',
  'queue/sources/probe.ts': 'probes of sources wait, and those of the operator are refused',
  'queue/sources/recover.ts': 'probes of sources wait',
  'queue/sources/sources.ts': 'connects for sessions, of which the dispatcher starts none',
  'receiving/rspamd.ts': 'asks a program of the operator',
  'webhooks/posting/post.ts': 'the tasks of posts wait, and tests of endpoints are refused',
};

/** Kinds of tasks that leave. Rotations of DKIM keys open no connection, but other hosts see which keys are published and sign. */
const LEAVING = [
  'certificates/acme/kind.ts',
  'domains/rotation/kind.ts',
  'mailbox-imports/worker.ts',
  'webhooks/posting/kind.ts',
];

test('every file that opens connections is known to keep still while the gate is held', () => {
  const opens =
    /\b(?:app|world|system)\.(?:dial|fetch)\(|await dial\(|^\s*\.fetch\(\{|from '[./]*system\/(?:download|http-client|dial\/probe-source)\.ts'|from 'node:(?:dgram|https|http2)'|\{[^}]*\b(?:connect|request)\b[^}]*\} from '(?:node:(?:net|tls|http)|undici)'/m;
  const found = sources
    .filter(({ path }) => !/^(?:system|cli)\//.test(path))
    .filter(({ text }) => opens.test(text))
    .map(({ path }) => path);
  assert.deepEqual(found.filter((path) => !/^http\//.test(path)).sort(), Object.keys(CONNECTING).sort());
});

test('the kinds of tasks that leave are those that open connections or change keys', () => {
  const leaving = sources.filter(({ text }) => /\bleavesHost: true\b/.test(text)).map(({ path }) => path);
  assert.deepEqual(leaving.sort(), LEAVING);
});

test('a connection is made while the gate is held only where it is known to change nothing', () => {
  const exempt = sources
    .filter(({ path, text }) => !path.startsWith('system/') && /\bchangesNothing: true\b/.test(text))
    .map(({ path }) => path);
  assert.deepEqual(exempt.sort(), ['dashboard/people/openid-client.ts', 'receiving/rspamd.ts']);
});
