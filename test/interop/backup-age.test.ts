/** An encrypted backup opens with Debian's age and tar alone, and Postrider opens it with the key of age-keygen. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';

const run = promisify(execFile);
const home = temporaryDirectory('backup-age');
let daemon: DaemonProcess | undefined;
after(() => daemon?.stop());

test('age and tar open an encrypted backup without Postrider, and Postrider restores it with the key', async () => {
  const keyFile = join(home, 'key.txt');
  await run('age-keygen', ['--output', keyFile]);
  const recipient = /public key: (age1\w+)/.exec(await readFile(keyFile, 'utf8'))?.[1] ?? '';
  const dataDir = join(home, 'data');
  daemon = await startDaemonProcess({ dataDir, env: { POSTRIDER_BACKUP_RECIPIENTS: recipient } });
  const { status } = await daemon.request('POST', '/v1/emails', daemon.testKey ?? '', {
    ...{ from: 'hello@sandbox.localhost', to: 'delivered@simulator.localhost', subject: 'Hi', text: 'Hi' },
    ...{ type: 'transactional' },
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(600_000, 'x').toString('base64') }],
  });
  assert.equal(status, 200);
  const { path } = (await daemon.cli(['backup', 'create'])) as { path: string };
  assert.deepEqual((await readdir(path)).sort(), ['SHA256SUMS', 'backup.json', 'backup.tar.age']);

  const opened = join(home, 'opened');
  await mkdir(opened);
  const archive = join(path, 'backup.tar.age');
  await run('sh', ['-ec', 'age --decrypt --identity "$1" "$2" | tar --extract', 'sh', keyFile, archive], {
    cwd: opened,
  });
  const plain = join(opened, basename(path));
  assert.deepEqual(await readdir(opened), [basename(path)]);
  const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: plain });
  assert.match(stdout, /^master\.key: OK$/m);
  assert.match(stdout, /^blobs\/.*: OK$/m);
  await daemon.cli(['backup', 'verify', plain]);

  await daemon.cli(['backup', 'verify', path, '--identity', keyFile]);
  const restored = join(home, 'restored');
  await daemon.cli(['backup', 'restore', path, '--to', restored, '--identity', keyFile]);
  assert.ok((await readdir(restored)).includes('master.key'));
  assert.deepEqual(
    (await readdir(restored)).filter((name) => /^(?:scratch|restore)/.test(name)),
    ['restored.json'],
    'only what the page about restores shows stays',
  );
});

test('an archive that tar and age have made is opened and verified', async () => {
  const keyFile = join(home, 'key.txt');
  const [backup = ''] = await readdir(join(home, 'opened'));
  const again = join(home, 'again');
  await mkdir(again);
  const recipient = /public key: (age1\w+)/.exec(await readFile(keyFile, 'utf8'))?.[1] ?? '';
  const script =
    'tar --create --format=ustar $(find "$1" -type f) | age --recipient "$2" > "$3/backup.tar.age"';
  await run('sh', ['-ec', script, 'sh', backup, recipient, again], { cwd: join(home, 'opened') });
  const sums = await run('sha256sum', ['backup.tar.age'], { cwd: again });
  await writeFile(join(again, 'SHA256SUMS'), sums.stdout);
  const facts = JSON.parse(await readFile(join(home, 'opened', backup, 'backup.json'), 'utf8')) as object;
  const [hash = ''] = (await run('sha256sum', ['SHA256SUMS'], { cwd: again })).stdout.split(' ');
  await writeFile(join(again, 'backup.json'), JSON.stringify({ ...facts, format: 2, sums: hash }));
  const verified = await daemon?.cli(['backup', 'verify', again, '--identity', keyFile]);
  assert.partialDeepStrictEqual(verified, { isOpened: true });
});
