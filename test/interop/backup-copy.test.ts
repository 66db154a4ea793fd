/** The program of docs/backup.md copies a backup with Debian's rsync: to a folder of this machine, and with the documented options of ssh. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyClosed } from '../../src/accounts/copy.ts';
import { createBackups } from '../../src/backups/backups.ts';
import { verifyBackup } from '../../src/backups/verify.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

test('rsync copies each backup as the documentation says, and the copy verifies', async (t) => {
  const home = temporaryDirectory('rsync');
  const page = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
  const [, script = ''] = /```text\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(page) ?? [];
  // The remote shell notes its options and runs the program of the other side here.
  const shell = join(home, 'ssh');
  const shellScript = `#!/bin/sh
printf '%s\\n' "$@" > ${home}/options
while [ "$1" != backup.example.com ]; do shift; done
shift; cd ${home} && exec "$@"
`;
  writeFileSync(shell, shellScript, { mode: 0o755 });
  const program = join(home, 'backup-copy');
  const adapted = script.replace("'ssh ", `'${shell} `);
  assert.notEqual(adapted, script);
  writeFileSync(program, adapted, { mode: 0o755 });

  const { app, dataDir, close } = await openTestApp();
  t.after(close);
  const config = { ...app.config, backup: { ...app.config.backup, command: [program] } };
  const backups = createBackups({ ...app, config, copyAccount: copyClosed(dataDir) });
  const { name, copyFailure } = await backups.create();
  assert.equal(copyFailure, null);
  assert.deepEqual((await verifyBackup(join(home, 'postrider', name))).findings, []);
  const options = readFileSync(join(home, 'options'), 'utf8').split('\n');
  for (const option of ['BatchMode=yes', 'UserKnownHostsFile=/etc/postrider/backup-hosts'])
    assert.ok(options.includes(option), options.join(' '));
});
