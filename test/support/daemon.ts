/**
 * Runs the daemon as a child process, for tests that must be able to kill it (faults, interop, bench). It starts
 * `bin/postrider`, as an operator does, with its own data directory and a free port. When the test process exits,
 * daemons that still run are killed and temporary data directories are removed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';

export type DaemonOptions = {
  /** Variables in addition to those of this process. `POSTRIDER_*` variables of this process are not passed on. */
  env?: Record<string, string>;
  /** Data directory. By default it is a temporary directory, which is removed when the test process exits. */
  dataDir?: string;
  /** Name of a crash point (src/crash-points.ts) at which the daemon ends as `kill -9` ends it. */
  crashAt?: string;
  /**
   * File for standard output and standard error, so that this process spends no time on reading them. By default they
   * are pipes.
   */
  outputFile?: string;
  startTimeoutMs?: number;
  /** The program that is started, also for commands. By default it is `bin/postrider` of this checkout. */
  program?: string;
};

export type DaemonResponse = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The body as a value when it is JSON, and as text otherwise. */
  body: unknown;
};

/** Reports that the daemon ended, or did not listen in time. */
export class DaemonStartError extends Error {
  override readonly name = 'DaemonStartError';
  /** How the daemon ended. Undefined when it was killed because it took too long. */
  readonly exit: DaemonExit | undefined;

  constructor(message: string, exit: DaemonExit | undefined) {
    super(message);
    this.exit = exit;
  }
}

export type DaemonExit = { code: number | null; signal: NodeJS.Signals | null };

export type DaemonProcess = {
  /** Address such as `http://127.0.0.1:8025`. */
  address: string;
  /** The test key that the daemon prints at the first start on a data directory; undefined at later starts. */
  testKey: string | undefined;
  pid: number;
  dataDir: string;
  /**
   * Runs `bin/postrider …args --json` with the daemon's environment, and returns the printed JSON. When the command
   * fails, it rejects with the output.
   */
  cli(args: readonly string[]): Promise<unknown>;
  /** Sends a request. It rejects only when no response arrives: a refusal is a response too. */
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    key: string | undefined,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<DaemonResponse>;
  /** Sends the signal and waits until the process has ended. After `SIGSTOP` and `SIGCONT` it does not wait. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /**
   * Sends SIGTERM and waits for the end. It rejects when the daemon does not end within two minutes, or ends with a
   * failure.
   */
  stop(): Promise<void>;
  exited: Promise<DaemonExit>;
  /** Returns the last 64 KiB of both outputs, for error messages. */
  output(): string;
};

const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));
/** Time limits that only a failing test reaches: on a busy machine a start has taken 45 seconds. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 120_000;
const CLI_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Time in which the output of an ended process is read. Another process may hold it open for longer. */
const OUTPUT_GRACE_MS = 10_000;
const CONNECTIONS = 128;
const OUTPUT_KEPT = 64 * 1024;

const running = new Set<ChildProcess>();
const temporaryDirectories = new Set<string>();

// Each daemon has its own process group, so Ctrl-C does not reach it. The exit handler ends it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
  for (const directory of temporaryDirectories) rmSync(directory, { recursive: true, force: true });
});

/** Creates a directory that is removed when this process exits. */
export function temporaryDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `postrider-${name}-`));
  temporaryDirectories.add(directory);
  return directory;
}

/**
 * Starts the daemon and resolves when it has printed where it listens.
 *
 * @throws DaemonStartError
 */
export async function startDaemonProcess(options: DaemonOptions = {}): Promise<DaemonProcess> {
  const dataDir = options.dataDir ?? temporaryDirectory('data');
  const env = environment(dataDir, options);
  // The child has its own process group, so a signal reaches the daemon even when a shell has started it.
  const program = options.program ?? PROGRAM;
  const child = startChild(program, env, options.outputFile);
  running.add(child);
  const exited = new Promise<DaemonExit>((resolve) => {
    child.once('error', () => resolve({ code: 127, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  }).finally(() => running.delete(child));
  const output = outputOf(child, options.outputFile);
  const address = await waitForAddress(child, exited, output, options.startTimeoutMs ?? START_TIMEOUT_MS);
  const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
  void exited.then(() => agent.destroy());
  return {
    address,
    testKey: /^Test key[^\n]*?(svc_dev_\S+)/m.exec(output())?.[1],
    pid: child.pid ?? 0,
    dataDir,
    cli: (args) => runCli(program, args, env),
    request: (method, path, key, body, headers) =>
      send(agent, `${address}${path}`, { method, key, body, headers: headers ?? {} }),
    async kill(signal) {
      signalGroup(child, signal);
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await exited;
    },
    async stop() {
      signalGroup(child, 'SIGTERM');
      const exit = await Promise.race([exited, after(STOP_TIMEOUT_MS)]);
      if (exit === undefined) throw new Error(`the daemon did not stop on SIGTERM:\n${output()}`);
      if (exit.code !== 0) throw new Error(`the daemon stopped with ${JSON.stringify(exit)}:\n${output()}`);
    },
    exited,
    output,
  };
}

function startChild(
  program: string,
  env: Record<string, string>,
  outputFile: string | undefined,
): ChildProcess {
  const file = outputFile === undefined ? undefined : openSync(outputFile, 'a');
  const output = file ?? 'pipe';
  const child = spawn(program, ['serve'], { env, detached: true, stdio: ['ignore', output, output] });
  if (file !== undefined) closeSync(file);
  return child;
}

function environment(dataDir: string, options: DaemonOptions): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith('POSTRIDER_')) env[name] = value;
  }
  env['POSTRIDER_DATA_DIR'] = dataDir;
  env['POSTRIDER_HTTP_PORT'] = '0';
  env['POSTRIDER_SMTP_PORT'] ??= '0';
  env['POSTRIDER_IMAP_PORT'] ??= '0';
  env['POSTRIDER_MANAGESIEVE_PORT'] ??= '0';
  env['POSTRIDER_SUBMISSION_ENABLED'] ??= 'false';
  env['POSTRIDER_HTTPS_ENABLED'] ??= 'false';
  env['POSTRIDER_POP3_PORT'] ??= '0';
  // The disks of tests are small or nearly full, so a reserve would refuse the requests under test.
  env['POSTRIDER_STORAGE_RESERVE_MEGABYTES'] = '0';
  if (options.crashAt !== undefined) env['POSTRIDER_CRASH_AT'] = options.crashAt;
  return { ...env, ...options.env };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The process has ended already, which `exited` reports.
  }
}

function outputOf(child: ChildProcess, outputFile: string | undefined): () => string {
  if (outputFile !== undefined) return () => readFileSync(outputFile, 'utf8').slice(-OUTPUT_KEPT);
  let text = '';
  const append = (part: Buffer) => {
    text = (text + part.toString()).slice(-OUTPUT_KEPT);
  };
  child.stdout?.on('data', append);
  child.stderr?.on('data', append);
  return () => text;
}

async function waitForAddress(
  child: ChildProcess,
  exited: Promise<DaemonExit>,
  output: () => string,
  timeoutMs: number,
): Promise<string> {
  const outputEnded = new Promise((resolve) => child.once('close', resolve));
  const find = () => /^Postrider listens on (http:\/\/\S+)\n/m.exec(output())?.[1];
  const found = new Promise<string>((resolve) => {
    const look = () => {
      const address = find();
      if (address === undefined) return;
      child.stdout?.off('data', look);
      clearInterval(timer);
      // The test key is printed next to the address, perhaps in a later chunk.
      setTimeout(() => resolve(address), KEY_LINE_GRACE_MS);
    };
    child.stdout?.on('data', look);
    // A file does not announce new output, so it is polled.
    const timer = child.stdout ? undefined : setInterval(look, FILE_POLL_MS).unref();
  });
  const first = await Promise.race([found, exited, after(timeoutMs)]);
  if (typeof first === 'string') return first;
  const address = find();
  if (address !== undefined) return address;
  signalGroup(child, 'SIGKILL');
  // The last words of a process can arrive after its exit, and a refusal is among them.
  if (first !== undefined && child.stdout) await Promise.race([outputEnded, after(OUTPUT_GRACE_MS)]);
  const why =
    first === undefined ? `did not listen within ${timeoutMs} ms` : `ended: ${JSON.stringify(first)}`;
  throw new DaemonStartError(`the daemon ${why}\n${output()}`, first);
}

const KEY_LINE_GRACE_MS = 50;
const FILE_POLL_MS = 20;

function after(delayMs: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), delayMs).unref());
}

async function runCli(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<unknown> {
  const { stdout } = await promisify(execFile)(program, [...args, '--json'], {
    env,
    timeout: CLI_TIMEOUT_MS,
  });
  return JSON.parse(stdout);
}

async function send(
  agent: Agent,
  url: string,
  options: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    key: string | undefined;
    body: unknown;
    headers: Record<string, string>;
  },
): Promise<DaemonResponse> {
  const response = await request(url, {
    method: options.method,
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    body: encode(options.body),
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
    dispatcher: agent,
  });
  const text = await response.body.text();
  return { status: response.statusCode, headers: response.headers, body: parse(text) };
}

/** Encodes a body. A string is sent unchanged, for bodies that are not JSON. */
function encode(body: unknown): string | null {
  if (body === undefined) return null;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
