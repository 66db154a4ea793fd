/** The daemon, started as systemd starts a unit of Type=notify: bin/postrider connects it to the socket. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { until } from './until.ts';

const RECEIVER = fileURLToPath(new URL('./notify.py', import.meta.url));
/** The watchdog is fed three times as often. */
const WATCHDOG_MS = 1_500;

/** Starts what stands for systemd: it receives the messages of a service, each as a line after the id of its sender. */
async function startReceiver(context: TestContext) {
  const socket = join(temporaryDirectory('notify'), 'socket');
  const receiver = spawn('python3', [RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => receiver.kill());
  const lines: string[] = [];
  createInterface({ input: receiver.stdout }).on('line', (line) => lines.push(line));
  const count = (line: string) => lines.filter((one) => one === line).length;
  const receive = (line: string, times = 1) =>
    until(`${line}, ${times} times, in ${lines.join(', ')}`, async () => count(line) >= times);
  await receive('bound');
  return { socket, lines, count, receive };
}

test('the daemon is ready once it serves, feeds the watchdog while its loop turns, reloads and stops', async (t) => {
  const { socket, lines, count, receive } = await startReceiver(t);
  const daemon = await startDaemonProcess({
    env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: String(WATCHDOG_MS * 1_000) },
  });
  t.after(() => daemon.kill('SIGKILL'));
  const { pid } = daemon;
  await receive(`${pid} READY=1`);
  await receive(`${pid} WATCHDOG=1`, 3);

  process.kill(pid, 'SIGHUP');
  await receive(`${pid} RELOADING=1`);
  await receive(`${pid} READY=1`, 2);

  process.kill(pid, 'SIGSTOP');
  const fedBefore = count(`${pid} WATCHDOG=1`);
  await new Promise((resolve) => setTimeout(resolve, WATCHDOG_MS));
  const fedWhileStopped = count(`${pid} WATCHDOG=1`) - fedBefore;
  process.kill(pid, 'SIGCONT');
  // One message may not have been read yet.
  assert.ok(fedWhileStopped <= 1, `fed ${fedWhileStopped} times while it was stopped`);

  await daemon.stop();
  await receive(`${pid} STOPPING=1`);
  assert.deepEqual(lines.slice(0, 2), ['bound', `${pid} READY=1`]);
});
