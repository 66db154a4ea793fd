/** Mail that leaves through real proxies: Dante as the SOCKS5 server, and HAProxy for the PROXY protocol. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ConfiguredSource } from '../../src/config/sources.ts';
import { probeSources } from '../../src/queue/sources/recover.ts';
import { listSuspensions } from '../../src/queue/sources/store.ts';
import { startDelivering } from '../../src/queue/worker.ts';
import { realClock } from '../../src/system/clock.ts';
import { createDial } from '../../src/system/dial.ts';
import { acceptEverything, type CommandServer, startCommandServer } from '../support/command-server.ts';
import { temporaryDirectory } from '../support/daemon.ts';
import { freePort, LOOPBACK_GUARD, listens } from '../support/loopback.ts';
import { noReceiver, openSpool, type Spool } from '../support/spool.ts';
import { until } from './until.ts';

/** Address from which HAProxy connects, which is not the one that the system would choose. */
const BEHIND_HAPROXY = '127.0.0.31';

const folder = temporaryDirectory('sources');
const arrived: { from: string; ehlo: string }[] = [];
let host: CommandServer;
let spool: Spool;

before(async () => {
  const names = new WeakMap<object, string>();
  host = await startCommandServer((line, socket) => {
    if (line.startsWith('EHLO ')) names.set(socket, line.slice(5));
    if (line === '.') arrived.push({ from: socket.remoteAddress ?? '', ehlo: names.get(socket) ?? '' });
    return acceptEverything(line);
  });
  spool = await openSpool({
    smtpPort: host.port,
    system: { dial: createDial(LOOPBACK_GUARD, realClock), targets: LOOPBACK_GUARD },
  });
  spool.addZone('receiver.example A 127.0.0.1');
});

after(async () => {
  host.close();
  await spool.close();
});

/** Starts a proxy, and returns the function that stops it. */
async function startProxy(
  program: string,
  args: readonly string[],
  port: number,
): Promise<() => Promise<void>> {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.on('data', (data) => {
    said += data;
  });
  const ended = once(child, 'exit');
  await until(`${program} listens`, async () => {
    assert.equal(child.exitCode, null, said);
    return listens(port);
  });
  return async () => {
    child.kill();
    await ended;
  };
}

async function startDante(port: number): Promise<() => Promise<void>> {
  const file = join(folder, 'danted.conf');
  await writeFile(
    file,
    `logoutput: stderr
internal: 127.0.0.1 port = ${port}
external: 127.0.0.1
clientmethod: none
socksmethod: none
user.privileged: root
user.unprivileged: nobody
client pass {
    from: 127.0.0.0/8 to: 0.0.0.0/0
}
socks pass {
    from: 127.0.0.0/8 to: 0.0.0.0/0 port = ${host.port}
    protocol: tcp
    command: connect
}
`,
  );
  return startProxy('/usr/sbin/danted', ['-f', file], port);
}

async function startHaproxy(port: number): Promise<() => Promise<void>> {
  const file = join(folder, 'haproxy.cfg');
  await writeFile(
    file,
    `defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen smtp-out
    bind 127.0.0.1:${port} accept-proxy
    source 0.0.0.0 usesrc clientip
    server any 0.0.0.0
`,
  );
  return startProxy('/usr/sbin/haproxy', ['-db', '-f', file], port);
}

/** Delivers what is due from one source. */
async function deliverFrom(source: ConfiguredSource) {
  const { config } = spool.app;
  const app = { ...spool.app, config: { ...config, outbound: { ...config.outbound, sources: [source] } } };
  const dispatcher = startDelivering(app, noReceiver);
  await spool.settled();
  const stopped = dispatcher.stop(0);
  await spool.clock.advance(0);
  await stopped;
  return app;
}

test('mail leaves through Dante, and waits for it while it is down', async () => {
  const port = await freePort();
  const source = { name: 'vm', addresses: ['127.0.0.1'], ehlo: 'vm.example', socks5: `127.0.0.1:${port}` };
  const id = await spool.accept('one@receiver.example');
  const app = await deliverFrom(source);
  const [suspension] = await listSuspensions(app.db.read);
  assert.match(suspension?.reason ?? '', /^the proxy cannot be reached \(ECONNREFUSED\)$/);
  assert.equal(arrived.length, 0);
  const stop = await startDante(port);
  await spool.clock.advance(60_000);
  await probeSources(app);
  assert.deepEqual(await listSuspensions(app.db.read), []);
  await deliverFrom(source);
  assert.equal((await spool.email(id)).status, 'delivered');
  assert.deepEqual(arrived.splice(0), [{ from: '127.0.0.1', ehlo: 'vm.example' }]);
  await stop();
});

test('a host that Dante may not connect to does not suspend the source at once', async () => {
  const port = await freePort();
  const stop = await startDante(port);
  const dial = createDial(LOOPBACK_GUARD, realClock);
  const source = { kind: 'socks5', proxy: { address: '127.0.0.1', port }, login: null } as const;
  const target = { address: '127.0.0.1', timeoutMs: 30_000, source };
  await assert.rejects(dial({ ...target, port: 9 }), { name: 'SourceError', fault: 'refused' });
  await stop();
});

test('mail leaves through HAProxy from the address that the header names', async () => {
  const port = await freePort();
  const stop = await startHaproxy(port);
  const source = {
    name: 'edge',
    addresses: [BEHIND_HAPROXY],
    ehlo: 'edge.example',
    proxyProtocol: `127.0.0.1:${port}`,
  };
  const id = await spool.accept('two@receiver.example');
  await deliverFrom(source);
  assert.equal((await spool.email(id)).status, 'delivered');
  assert.deepEqual(arrived.splice(0), [{ from: BEHIND_HAPROXY, ehlo: 'edge.example' }]);
  await stop();
});
