import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openTestDatabase, temporaryDirectory } from '../db/open.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';

async function run(dataDir: string, ...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: dataDir });
  const code = await runProgram(['db', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('a database is compacted while no daemon runs, and left alone while one does', async (t) => {
  const directory = temporaryDirectory();
  const daemon = await openTestDatabase(t, { directory, readers: 0 });
  const refused = await run(directory, 'compact');
  assert.deepEqual([refused.code, refused.output], [1, '']);
  assert.match(
    refused.errors,
    /^error: a daemon or another command is using .+: stop it, run this command again, and start it again\n$/,
  );
  await daemon.close();
  const { code, output, errors } = await run(directory, 'compact');
  assert.deepEqual([code, errors], [0, '']);
  assert.match(output, /^postrider\.db: \d+\.\d MB before, \d+\.\d MB after\n$/);
  const json = JSON.parse((await run(directory, 'compact', '--json')).output);
  assert.deepEqual(Object.keys(json), ['beforeBytes', 'afterBytes']);
});

test('mailboxes of a restored data directory get new UIDVALIDITYs, while no daemon runs', async (t) => {
  const directory = temporaryDirectory();
  const daemon = await openTestDatabase(t, { directory, readers: 0 });
  const refused = await run(directory, 'restored');
  assert.deepEqual([refused.code, refused.output], [1, '']);
  assert.match(refused.errors, /^error: a daemon or another command is using /);
  await daemon.close();
  const { code, output, errors } = await run(directory, 'restored');
  assert.deepEqual([code, errors], [0, '']);
  assert.equal(
    output,
    '0 mailboxes get new UIDVALIDITYs when they are next opened. Nothing leaves this installation until "postrider restore release"\n',
  );
  assert.deepEqual(JSON.parse((await run(directory, 'restored', '--json')).output), { mailboxes: 0 });
});
