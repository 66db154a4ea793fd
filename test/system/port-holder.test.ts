import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPortHolder } from '../../src/system/port-holder.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('the process that listens on a port is found', async (t) => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  t.after(() => server.close());
  assert.equal(findPortHolder(port)?.pid, process.pid);
});

test('a service is named with its unit, and a connection holds no port', () => {
  const proc = temporaryDirectory('proc');
  mkdirSync(join(proc, 'net'));
  mkdirSync(join(proc, '812/fd'), { recursive: true });
  mkdirSync(join(proc, 'sys'));
  writeFileSync(
    join(proc, 'net/tcp'),
    [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 00000000:0019 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1',
      '   1: 0100007F:0050 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4712 1',
    ].join('\n'),
  );
  writeFileSync(join(proc, '812/comm'), 'exim4\n');
  writeFileSync(join(proc, '812/cgroup'), '0::/system.slice/exim4.service\n');
  symlinkSync('socket:[4711]', join(proc, '812/fd/3'));
  symlinkSync('socket:[4712]', join(proc, '812/fd/4'));
  assert.deepEqual(findPortHolder(25, proc), { pid: 812, name: 'exim4', unit: 'exim4.service' });
  assert.equal(findPortHolder(80, proc), undefined);
});
