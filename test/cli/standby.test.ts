import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openStore } from '../../src/objects/open-store.ts';
import { realClock } from '../../src/system/clock.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { zoneDns } from '../support/zone-dns.ts';

/** Runs `standby serve` until the test ends, and returns what it has printed. */
async function serve(context: TestContext, ...args: string[]): Promise<string> {
  const terminal = fakeTerminal();
  const ended = runProgram(['standby', 'serve', ...args], terminal);
  context.after(async () => {
    terminal.interrupt();
    assert.equal(await ended, 0);
  });
  await waitUntil(() => terminal.output !== '' || terminal.errors !== '');
  assert.equal(terminal.errors, '');
  return terminal.output;
}

async function fail(...args: string[]): Promise<string> {
  const terminal = fakeTerminal();
  const code = await runProgram(['standby', 'serve', ...args], terminal);
  return `${code} ${terminal.errors}`;
}

test('serve prints what the primary needs, and a store that is opened with it works', async (context) => {
  const folder = temporaryDirectory('standby');
  const output = await serve(
    context,
    '--folder',
    folder,
    '--listen',
    '127.0.0.1:0',
    '--hostname',
    'localhost',
  );
  const [, url = ''] = /^URL: (.*)$/m.exec(output) ?? [];
  const [, pin = ''] = /^Pin of its key: (.*)$/m.exec(output) ?? [];
  const [, tokenFile = ''] = /^Token: in (.*)$/m.exec(output) ?? [];
  assert.match(url, /^https:\/\/localhost:\d+$/);
  const token = readFileSync(tokenFile, 'utf8').trim();
  const store = openStore({ clock: realClock, dns: zoneDns('') }, { url, pin, token });
  context.after(() => store.close());
  await store.put('a1/b', { bytes: Buffer.from('x') });
  assert.equal(readFileSync(join(folder, 'objects/a1/b'), 'utf8'), 'x');
  const files = ['--certificate', join(folder, 'certificate.pem'), '--key', join(folder, 'certificate.key')];
  const other = ['--folder', temporaryDirectory('standby'), '--listen', '127.0.0.1:0', ...files];
  const again = JSON.parse(await serve(context, ...other, '--json')) as { pin: string };
  assert.equal(again.pin, pin, 'a certificate of the operator is used as it is');
  const [, port = ''] = /:(\d+)$/.exec(url) ?? [];
  assert.match(
    await fail('--folder', folder, '--listen', `127.0.0.1:${port}`),
    /^1 error: port \d+ of 127.0.0.1 is in use/,
  );
});

test('serve refuses what it cannot use', async () => {
  const folder = temporaryDirectory('standby');
  for (const [args, message] of [
    [[], /required option '--folder/],
    [['--folder', join(folder, 'none')], /^1 error: .*none is not there: make the folder/],
    [['--folder', folder, '--listen', 'here:there'], /^2 error: --listen is an address with a port/],
    [['--folder', folder, '--listen', '127.0.0.1:70000'], /^2 error: --listen/],
    [['--folder', folder, '--certificate', 'x'], /^2 error: --certificate and --key need each other/],
    [['--folder', folder, '--certificate', 'x', '--key', 'y'], /^1 error: x cannot be read/],
    [['--folder', folder, '--token-file', join(folder, 'none')], /^1 error: .*none cannot be read/],
    [['--folder', folder, '--reserve-megabytes', 'all'], /^2 error: --reserve-megabytes/],
  ] as const)
    assert.match(await fail(...args), message);
});
