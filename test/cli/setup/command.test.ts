import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';

async function refused(person: { interactive?: boolean }, ...args: string[]): Promise<string> {
  const terminal = fakeTerminal({}, person);
  assert.equal(await runProgram(['setup', ...args], terminal), 2);
  assert.equal(terminal.output, '');
  return terminal.errors;
}

test('a program is asked nothing, and JSON has no questions between its lines', async () => {
  assert.match(await refused({}, 'you@example.com'), /nobody can be asked here: add --yes/);
  assert.match(await refused({ interactive: true }, 'you@example.com', '--json'), /add --yes/);
});

test('a time to wait is in whole seconds, and a proxy one of those that have an example', async () => {
  assert.match(
    await refused({}, 'you@example.com', '--yes', '--wait', '1.5'),
    /Give whole seconds, at most 86400/,
  );
  assert.match(await refused({}, 'you@example.com', '--yes', '--behind-proxy', 'apache'), /caddy, nginx/);
});
