import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/daemon.ts';

const UNIT_FOLDER = fileURLToPath(new URL('../../systemd/', import.meta.url));
const UNIT = join(UNIT_FOLDER, 'postrider.service');
/** The units, each of which is verified beside the others. */
const UNITS = ['postrider.service', 'postrider-standby-serve.service', 'postrider-standby-follow.service'];
/** Maximum exposure, as `systemd-analyze security` counts it, of 100: it shows this as 1.5 of 10. */
const MAX_EXPOSURE = 15;

const run = promisify(execFile);

test('systemd reads the units without a complaint', async () => {
  const root = await rootWithUnit(await readFile(UNIT, 'utf8'));
  assert.equal(await complaints(root), '');
});

test('systemd complains about a setting it does not know', async () => {
  const root = await rootWithUnit((await readFile(UNIT, 'utf8')).replace('ProtectClock=', 'ProtectClok='));
  assert.match(await complaints(root), /ProtectClok/);
});

test('the sandbox leaves no more exposed than it must', async () => {
  for (const unit of UNITS) await securityAnalysis(join(UNIT_FOLDER, unit));
  const open = join(temporaryDirectory('unit'), 'postrider.service');
  await writeFile(open, (await readFile(UNIT, 'utf8')).replace(/^(Protect|Restrict)\w+=.*$/gm, ''));
  await assert.rejects(securityAnalysis(open), /Overall exposure level/);
});

test('the account and its folders are made with the owners and modes the service needs', async () => {
  const root = temporaryDirectory('root');
  await mkdir(join(root, 'etc', 'postrider'), { recursive: true });
  await writeFile(join(root, 'etc', 'postrider', 'config.yaml'), 'hostname: mail.example.com\n', {
    mode: 0o644,
  });
  await run('systemd-sysusers', [`--root=${root}`, join(UNIT_FOLDER, 'postrider.sysusers')]);
  await run('systemd-tmpfiles', [`--root=${root}`, '--create', join(UNIT_FOLDER, 'postrider.tmpfiles')]);

  const passwd = await readFile(join(root, 'etc', 'passwd'), 'utf8');
  const [, uid, gid] =
    /^postrider:x:(\d+):(\d+):[^:]*:\/var\/lib\/postrider:\/usr\/sbin\/nologin$/m.exec(passwd) ?? [];
  assert.ok(uid !== undefined && gid !== undefined, passwd);
  const seen = async (path: string) => {
    const found = await stat(join(root, path));
    return [found.uid, found.gid, (found.mode & 0o7777).toString(8)];
  };
  assert.deepEqual(await seen('etc/postrider'), [0, Number(gid), '750']);
  assert.deepEqual(await seen('etc/postrider/config.yaml'), [0, Number(gid), '640']);
  assert.deepEqual(await seen('var/lib/postrider'), [Number(uid), Number(gid), '700']);
});

/** A root that holds the units of this machine, ours, and something to execute where ours points. */
async function rootWithUnit(unit: string): Promise<string> {
  const root = temporaryDirectory('root');
  const program = join(root, 'opt', 'postrider', 'current', 'bin', 'postrider');
  for (const folder of ['usr/lib/systemd', 'etc/systemd/system', 'opt/postrider/current/bin', 'bin']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await cp('/usr/lib/systemd/system', join(root, 'usr', 'lib', 'systemd', 'system'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await symlink('usr/lib', join(root, 'lib'));
  for (const executed of [program, join(root, 'bin', 'kill')]) {
    await copyFile('/bin/true', executed);
    await chmod(executed, 0o755);
  }
  for (const name of UNITS) await copyFile(join(UNIT_FOLDER, name), join(root, 'etc/systemd/system', name));
  await writeFile(join(root, 'etc', 'systemd', 'system', 'postrider.service'), unit);
  return root;
}

/** What systemd says of our unit; what it says of the machine's own is not ours to mend. */
async function complaints(root: string): Promise<string> {
  const args = ['verify', '--man=no', `--root=${root}`, ...UNITS];
  const { stdout, stderr } = await run('systemd-analyze', args);
  const lines = `${stdout}${stderr}`.split('\n');
  return lines.filter((line) => line.includes('postrider')).join('\n');
}

/** Rejects, with the whole table, when the unit is more exposed than it may be. */
async function securityAnalysis(unit: string): Promise<void> {
  await run('systemd-analyze', [
    ...['security', '--offline=true', '--no-pager', `--threshold=${MAX_EXPOSURE}`],
    unit,
  ]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
}
