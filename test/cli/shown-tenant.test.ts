import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { composeReport } from '../../src/doctor/report.ts';
import { queueReport } from '../../src/doctor/store.ts';
import { parseMailbox } from '../../src/mail/address.ts';
import { buildOwnMail } from '../../src/mailbox-delivery/forward/own-mail.ts';
import { newId } from '../../src/system/ids.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const daemon = await openTestApp();
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

test('mail of the installation itself is listed as that of the installation', async () => {
  const { app } = daemon;
  const id = newId('em', app.clock.now());
  const to = parseMailbox('ops@admin.example') ?? assert.fail();
  const composed = composeReport({ id, hostname: app.config.hostname, to, findings: [] });
  const mail = await buildOwnMail(app, { id, ...composed, to: [to.address] });
  await app.db.commit(queueReport, { mail, checks: [], now: app.clock.now() });
  for (const command of ['email', 'queue']) {
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir });
    assert.equal(await runProgram([command, 'list'], terminal), 0, terminal.errors);
    assert.match(terminal.output, new RegExp(`^${id} +installation +`, 'm'));
  }
});
