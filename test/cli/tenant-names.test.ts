import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { findTenantNames } from '../../src/cli/tenant-names.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { composeReport } from '../../src/doctor/report.ts';
import { queueReport } from '../../src/doctor/store.ts';
import { parseMailbox } from '../../src/mail/address.ts';
import { buildOwnMail } from '../../src/mailbox-delivery/forward/own-mail.ts';
import { newId } from '../../src/system/ids.ts';
import { getTenant } from '../../src/tenants/store.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const daemon = await openTestApp();
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

test('tables show tenants by their names, of which answers in JSON say nothing', async () => {
  const { app, tenantId } = daemon;
  const run = async (...given: string[]) => {
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir });
    assert.equal(await runProgram(given, terminal), 0, terminal.errors);
    return terminal.output;
  };
  const { name } = await getTenant(app.db.read, tenantId);
  await run('domain', 'add', 'shown.example', '--tenant', tenantId, '--product-type', 'both');
  const mailbox = `ann@sandbox.${app.config.hostname}`;
  await run('mailbox', 'create', mailbox, '--tenant', tenantId);
  await run('route', 'set', 'direct', '--tenant', tenantId, '--mx');
  for (const command of ['domain', 'key', 'mailbox', 'route']) {
    const table = await run(command, 'list');
    assert.match(table, new RegExp(` ${name}( |$)`, 'm'), command);
    assert.doesNotMatch(table, new RegExp(tenantId), command);
    const json = await run(command, 'list', '--json');
    assert.match(json, new RegExp(`"tenantId": "${tenantId}"`), command);
  }
  assert.match(await run('mailbox', 'show', mailbox), new RegExp(`^tenant +${name}$`, 'm'));
});

test('many tenants are asked for in groups, each once, and one that is deleted is shown by its id', async () => {
  const asked: string[] = [];
  const control = {
    request: async <Answer>(_: string, path: string): Promise<Answer> => {
      asked.push(path);
      const ids = new URL(path, 'http://control').searchParams.get('ids')?.split(',') ?? [];
      return ids.filter((id) => id !== 'ten_0').map((id) => ({ id, name: `name of ${id}\n` })) as Answer;
    },
  };
  const rows = Array.from({ length: 240 }, (_, index) => ({ mail: { tenantId: `ten_${index % 120}` } }));
  const nameOf = await findTenantNames(control, { rows: [...rows, { tenantId: null }] });
  assert.equal(asked.length, 2);
  assert.deepEqual([nameOf('ten_119'), nameOf('ten_0')], ['name of ten_119\ufffd', 'ten_0']);
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
