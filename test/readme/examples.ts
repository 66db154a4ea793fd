/**
 * Runs every example of the documents word for word, in one shell, against a daemon on 127.0.0.1. Only the key, the
 * address and shortened ids are filled in; DNS and the web are answered from here.
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { prepareFirstStart } from '../../src/cli/first-start.ts';
import { runProgram } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/main.ts';
import type { Fetch } from '../../src/system/fetch.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { curl } from './curl.ts';
import type { Block, Page } from './page.ts';
import { fillInIds } from './placeholders.ts';
import { type Exchange, startRecorder } from './recorder.ts';
import { openShell } from './shell.ts';
import { type Answer, type Call, writeStandIns } from './stand-ins.ts';

/** One example that was run: its page and block, what it printed, and the requests that it made. */
export type Ran = { page: string; block: Block; output: string; code: number; exchanges: Exchange[] };

export type Session = {
  /** Runs one example. Shortened ids in it stand for ids that the same page has shown. */
  run(page: Page, block: Block): Promise<Ran>;
  /** Repeats a GET request without recording it. */
  again(exchange: Exchange): Promise<unknown>;
  close(): Promise<void>;
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8025';
const SMTP_ADDRESS = '127.0.0.1:2525';
const IMAP_ADDRESS = '127.0.0.1:2993';
/** Time within which mail that was accepted can be read. Only a failing example takes so long. */
const MOMENT_MS = 60_000;
const POLL_MS = 50;
const KEY = 'svc_dev_…';
/** Requests of the daemon to the web that the examples cause, with the bodies of their responses. */
const WEB: Readonly<Record<string, string>> = {
  'GET https://www.rfc-editor.org/rfc/rfc5321.txt': 'Simple Mail Transfer Protocol',
  'POST https://example.com/hooks': '',
};

const fetchFromHere: Fetch = async ({ method, url }) => {
  const body = WEB[`${method} ${url}`];
  if (body === undefined) throw new Error(`no example asks for ${method} ${url}`);
  return { status: 200, headers: {}, body: Buffer.from(body), truncated: false };
};

/** Starts a daemon and a shell. `programs` are curl of the machine and bin/postrider, or what stands in for them. */
export async function openSession({ programs }: { programs: 'real' | 'stand-in' }): Promise<Session> {
  await using cleanUp = new AsyncDisposableStack();
  const dataDir = newDataDirectory();
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    ...FREE_PORTS,
    POSTRIDER_HTTP_METRICS: 'true',
    POSTRIDER_LOG_LEVEL: 'silent',
  };
  const world = { dns: zoneDns(''), fetch: fetchFromHere };
  const daemon = await startDaemon(loadConfig({ env }), world);
  cleanUp.defer(() => daemon.stop());
  const first = await prepareFirstStart(daemon.app, { showKey: true });
  if (first.kind !== 'key-made') throw new Error('the first start made no key');
  const key = first.testKey;
  const recorder = await startRecorder(daemon.address);
  cleanUp.defer(() => recorder.close());
  const directory = folder(programs);
  const path = `${join(directory, 'programs')}:${process.env['PATH'] ?? ''}`;
  const shell = openShell(directory, {
    env: { PATH: path, POSTRIDER_DATA_DIR: dataDir },
    answer: (call) => (basename(call.program) === 'curl' ? curl(call) : postrider(call, dataDir)),
  });
  cleanUp.defer(() => shell.close());
  const opened = cleanUp.move();
  const firstOfPage = new Map<string, number>();
  return {
    async run({ path: page }, block) {
      const before = recorder.exchanges.length;
      if (!firstOfPage.has(page)) firstOfPage.set(page, before);
      const text = block.text
        .replaceAll(KEY, key)
        .replaceAll(ADDRESS, recorder.address)
        .replaceAll(SMTP_ADDRESS, daemon.smtpAddress)
        .replaceAll(IMAP_ADDRESS, await imapAddressOf(daemon, block));
      const run = () => shell.run(fillInIds(text, recorder.exchanges.slice(firstOfPage.get(page))));
      const until = Date.now() + (block.text.includes(IMAP_ADDRESS) ? MOMENT_MS : 0);
      let ran = await run();
      for (; ran.code !== 0 && Date.now() < until; ran = await run()) await sleep(POLL_MS);
      return { ...ran, page, block, exchanges: recorder.exchanges.slice(before) };
    },
    async again({ path: asked }) {
      const response = await fetch(`${daemon.address}${asked}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return response.json();
    },
    close: () => opened.disposeAsync(),
  };
}

/** Returns where a daemon listens for IMAP, which it does once there is a mailbox. */
async function imapAddressOf({ accessAddresses }: Daemon, { text }: Block): Promise<string> {
  if (!text.includes(IMAP_ADDRESS)) return IMAP_ADDRESS;
  for (const until = Date.now() + MOMENT_MS; Date.now() < until; await sleep(POLL_MS)) {
    const [address] = (await accessAddresses())?.imap ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the daemon does not listen for IMAP');
}

/** Makes the working directory of the examples, with those files of the repository that they use. */
function folder(programs: 'real' | 'stand-in'): string {
  const directory = temporaryDirectory('readme');
  for (const name of ['bin', 'programs']) mkdirSync(join(directory, name));
  symlinkSync(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'));
  if (programs === 'real') symlinkSync(join(ROOT, 'bin/postrider'), join(directory, 'bin/postrider'));
  else writeStandIns(directory, ['bin/postrider', 'programs/curl']);
  return directory;
}

/** Runs a command of bin/postrider, which reaches the daemon through its control socket. */
async function postrider({ arguments: args, directory, input }: Call, dataDir: string): Promise<Answer> {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: dataDir }, { input: input.trimEnd() });
  const before = process.cwd();
  process.chdir(directory);
  try {
    const code = await runProgram(args, terminal);
    return { output: terminal.output, errors: terminal.errors, code };
  } finally {
    process.chdir(before);
  }
}
