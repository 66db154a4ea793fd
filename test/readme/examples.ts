/**
 * Runs every example of the documents word for word, in one shell, against a daemon on 127.0.0.1. Only the key, the
 * address and shortened ids are filled in; DNS and the web are answered from here.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareFirstStart } from '../../src/cli/first-start.ts';
import { loadConfig } from '../../src/config.ts';
import { startDaemon } from '../../src/main.ts';
import type { Fetch } from '../../src/system/fetch.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { zoneDns } from '../support/zone-dns.ts';
import type { Block, Page } from './page.ts';
import { fillInIds } from './placeholders.ts';
import { type Exchange, startRecorder } from './recorder.ts';
import { openShell } from './shell.ts';

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

/** Starts a daemon and a shell. `curl` selects the program of the machine, or the one that stands in for it. */
export async function openSession({ curl }: { curl: 'real' | 'stand-in' }): Promise<Session> {
  await using cleanUp = new AsyncDisposableStack();
  const dataDir = temporaryDirectory('readme-data');
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    POSTRIDER_HTTP_PORT: '0',
    POSTRIDER_SMTP_PORT: '0',
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
  const directory = folder(curl);
  const path = `${join(directory, 'programs')}:${process.env['PATH'] ?? ''}`;
  const shell = openShell(directory, { PATH: path, POSTRIDER_DATA_DIR: dataDir, ...compileCache() });
  cleanUp.defer(() => shell.close());
  const opened = cleanUp.move();
  const firstOfPage = new Map<string, number>();
  return {
    async run({ path: page }, block) {
      const before = recorder.exchanges.length;
      if (!firstOfPage.has(page)) firstOfPage.set(page, before);
      const text = block.text.replaceAll(KEY, key).replaceAll(ADDRESS, recorder.address);
      const ran = await shell.run(fillInIds(text, recorder.exchanges.slice(firstOfPage.get(page))));
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

/** Lets the many short programs of the examples start from the code that this process has compiled before. */
function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: resolve(NODE_COMPILE_CACHE) };
}

/** Makes the working directory of the examples, with those files of the repository that they use. */
function folder(curl: 'real' | 'stand-in'): string {
  const directory = temporaryDirectory('readme');
  for (const name of ['bin', 'programs']) mkdirSync(join(directory, name));
  for (const name of ['bin/postrider', 'LICENSE']) symlinkSync(join(ROOT, name), join(directory, name));
  if (curl === 'stand-in') {
    const program = join(directory, 'programs/curl');
    const source = fileURLToPath(new URL('curl.ts', import.meta.url));
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${source}' "$@"\n`);
    chmodSync(program, 0o755);
  }
  return directory;
}
