/**
 * Measures how long an operator waits for `postrider setup --yes` on loopback, from an empty folder to a mail that a receiver has taken, and for
 * `postrider doctor` of that installation, with a resolver that answers and with one that never does.
 */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DoctorAnswer } from '../../src/doctor/admin-api.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { type SetupWorld, startSetupWorld } from '../support/setup-world.ts';
import { treeMemory } from './process-tree.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));

export const setup: Group = {
  name: 'setup',
  prepare: async (workspace) => ({
    rows: [
      {
        name: 'Postrider: `setup --yes`, with DNS, receiver and authority on loopback',
        unit: 'ms',
        aim: 'under 15 s',
        measure: () => measureSetup(workspace),
      },
      {
        name: 'Postrider: `doctor`, of an installation that `setup` made',
        unit: 'ms',
        aim: 'under 5 s',
        measure: () => measureDoctor(workspace),
      },
    ],
  }),
};

type Installation = { world: SetupWorld; configFile: string; dataDir: string; tookMs: number };

/** Runs a set-up in an empty folder. */
async function setUp(workspace: Workspace, world: SetupWorld): Promise<Installation> {
  const folder = workspace.newFolder('setup');
  const configFile = join(folder, 'postrider.yaml');
  const startedAt = performance.now();
  const { code, output, errors } = await world.run(['--config', configFile]);
  const tookMs = performance.now() - startedAt;
  if (code !== 0 || world.sink.messages.length !== 1)
    throw new Error(`the set-up ended with ${code}, ${world.sink.messages.length} mails: ${output}${errors}`);
  return { world, configFile, dataDir: join(folder, 'postrider-data'), tookMs };
}

async function measureSetup(workspace: Workspace): Promise<Measure> {
  await using world = await startSetupWorld();
  const { tookMs } = await setUp(workspace, world);
  return { figure: tookMs };
}

async function measureDoctor(workspace: Workspace): Promise<Measure> {
  await using world = await startSetupWorld();
  await using silent = await openSilentResolver();
  const installation = await setUp(workspace, world);
  const answered = await examine(installation, {});
  const unanswered = await examine(installation, { POSTRIDER_DNS_SERVERS: silent.address });
  return {
    figure: answered.tookMs,
    memory: answered.memory,
    details: {
      findings: answered.findings,
      'with a resolver that never answers, ms': unanswered.tookMs,
      'findings with that resolver': unanswered.findings,
    },
  };
}

/** Runs the command once, beside a daemon that has just started. */
async function examine({ world, configFile, dataDir }: Installation, env: Record<string, string>) {
  const daemon = await startDaemonProcess({
    dataDir,
    env: { ...world.env, POSTRIDER_CONFIG: configFile, ...env },
  });
  try {
    const startedAt = performance.now();
    const { findings } = await runDoctor(daemon);
    const tookMs = performance.now() - startedAt;
    return { tookMs, findings: findings.length, memory: treeMemory([daemon.pid]) };
  } finally {
    await daemon.kill('SIGKILL');
  }
}

/** Returns the answer of the command, which exits with 1 when a check fails, as some do on loopback. */
function runDoctor({ dataDir }: DaemonProcess): Promise<DoctorAnswer> {
  const env = { ...process.env, POSTRIDER_DATA_DIR: dataDir };
  return new Promise((resolve, reject) => {
    execFile(PROGRAM, ['doctor', '--json'], { env }, (error, stdout) => {
      if (error && error.code !== 1) reject(error);
      else resolve(JSON.parse(stdout) as DoctorAnswer);
    });
  });
}

/** Opens a port at which queries arrive and none is answered. */
async function openSilentResolver(): Promise<AsyncDisposable & { address: string }> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}
