/**
 * `postrider setup` as root in a fresh Debian without systemd, from the Debian package, against a DNS, a receiver and an authority on
 * loopback. The tests follow each other.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type SetupWorld, startSetupWorld } from '../../support/setup-world.ts';
import { buildPackage } from './build.ts';
import { freshDebian, programIn, runIn } from './debian-root.ts';

const root = freshDebian();
let world: SetupWorld | undefined;
after(() => world?.[Symbol.asyncDispose]());

test('root sets up the installation of the package, which then belongs to the account of the service', async () => {
  copyFileSync(buildPackage({ arch: 'x64', kind: 'deb' }), join(root, 'tmp/postrider.deb'));
  const printed = await runIn(
    root,
    ...['apt-get', '-qq', '-y', 'install', '--no-install-recommends', '/tmp/postrider.deb'],
  );
  assert.match(printed, /postrider setup you@example\.com/);
  world = await startSetupWorld(programIn(root, '/usr/bin/postrider'));

  const { code, output, errors } = await world.run([]);
  assert.equal(code, 0, `${output}${errors}`);
  assert.match(output, /^OK {4}configuration +\/etc\/postrider\/config\.yaml: written$/m);
  assert.match(output, /^WARN {2}service .*because systemd does not manage it here$/m);
  assert.match(output, /^OK {4}certificate +mail\.setup\.example: its certificate is valid until /m);
  assert.match(output, /^OK {4}message +me@receiver\.example: a message was accepted by /m);
  assert.equal(world.sink.messages.length, 1);

  const ownerOf = async (path: string) => (await runIn(root, 'stat', '--format=%U:%G %a', path)).trim();
  assert.equal(await ownerOf('/etc/postrider/config.yaml'), 'root:postrider 640');
  for (const file of ['postrider.db', 'setup.log', 'master.key'])
    assert.equal(await ownerOf(`/var/lib/postrider/${file}`), 'postrider:postrider 600');
});

test('a second set-up only checks and reports', async () => {
  const config = join(root, 'etc/postrider/config.yaml');
  const before = { text: readFileSync(config, 'utf8'), at: statSync(config).mtimeMs };
  const { code, output, errors } = await (world ?? assert.fail()).run([]);
  assert.equal(code, 0, `${output}${errors}`);
  assert.doesNotMatch(output, /created|added|shown only once/);
  assert.deepEqual({ text: readFileSync(config, 'utf8'), at: statSync(config).mtimeMs }, before);
  assert.equal(world?.sink.messages.length, 1);
});
