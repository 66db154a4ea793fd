import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runProgram } from '../../src/cli/program.ts';
import { openStore } from '../../src/objects/open-store.ts';
import { realClock } from '../../src/system/clock.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openStandbyPrimary } from '../support/standby-primary.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { zoneDns } from '../support/zone-dns.ts';

const GENERATION = '20261130T100000Z-00000001';

const primary = await openStandbyPrimary();
after(() => primary[Symbol.asyncDispose]());

const url = pathToFileURL(temporaryDirectory('store')).href;
const store = openStore({ clock: realClock, dns: zoneDns('') }, { url });
const identity = join(temporaryDirectory('keys'), 'key.txt');
writeFileSync(identity, `${primary.identity}\n`);

const folder = join(temporaryDirectory('second-host'), 'copies');
const dataDir = join(temporaryDirectory('second-host'), 'data');
const options = ['--identity', identity, '--folder', folder, '--store', url];
const env = { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_LOG_LEVEL: 'silent' };

async function run(...args: string[]) {
  const terminal = fakeTerminal(env);
  const code = await runProgram(['standby', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('a question makes no data, which would keep a host from being promoted', async () => {
  const { code, errors } = await run('status');
  assert.equal(code, 1);
  assert.match(errors, /has no installation, so this host sends nothing: --folder shows the copy/);
  assert.equal(existsSync(dataDir), false);
  assert.match((await run('status', '--folder', folder)).errors, /has no copy whose base is complete/);
  const inside = await run('follow', ...options.slice(0, 2), '--store', url, '--folder', dataDir);
  assert.deepEqual([inside.code, /--folder is a folder of its own/.test(inside.errors)], [2, true]);
});

test('a host follows until it is stopped, and is promoted by a command that says what may have left', async () => {
  const empty = await run('promote', ...options);
  assert.deepEqual(
    [empty.code, empty.errors],
    [1, 'error: the store is empty: no primary has sent anything to it\n'],
  );
  await primary.sendBase(store, GENERATION);
  await primary.send('delivered@simulator.mx.postrider.example');
  const takenAt = Date.now() + 60_000;
  await primary.sendSegment(store, takenAt);

  const terminal = fakeTerminal(env);
  const following = runProgram(['standby', 'follow', ...options], terminal);
  const position = join(folder, GENERATION, 'position.json');
  await waitUntil(
    () => existsSync(position) && readFileSync(position, 'utf8').includes('"sequence":1,"sha256"'),
  );
  const { code, errors } = await run('promote', ...options);
  assert.equal(code, 1);
  assert.match(errors, /another Postrider process is using/);
  const shown = await run('status', '--folder', folder);
  assert.match(shown.output, /has the state of .*, 0 s ago\.\nCut: 1 of 20261130T100000Z-00000001\n/);
  terminal.interrupt();
  assert.equal(await following, 0);

  const wrong = await run('promote', ...options, '--at', 'yesterday');
  assert.deepEqual([wrong.code, /--at is a time with its zone/.test(wrong.errors)], [2, true]);
  const promoted = await run('promote', ...options);
  assert.equal(promoted.code, 0, promoted.errors);
  assert.ok(promoted.output.includes(`has the state of ${new Date(takenAt).toISOString()} (cut 1 of`));
  assert.match(
    promoted.output,
    /Mail to 1 recipient may have left after that: 0 in flight, 1 ready, and 0 that/,
  );
  assert.match(promoted.output, /rcp_\w+ delivered@simulator\.mx\.postrider\.example \w+ ready/);
  assert.match(promoted.output, /until "postrider restore release"/);
  assert.ok(existsSync(join(dataDir, 'postrider.db')));
  const again = await run('promote', ...options);
  assert.match(again.errors, /has content/);
});
