/**
 * Runs every example of the README word for word, in one shell, against a daemon on 127.0.0.1. Only the key and the
 * address are put in their places; names and the web are answered from here.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareFirstStart } from '../../src/cli/first-start.ts';
import { loadConfig } from '../../src/config.ts';
import { startDaemon } from '../../src/main.ts';
import type { Fetch } from '../../src/system/fetch.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { zoneDns } from '../support/zone-dns.ts';
import type { Block } from './page.ts';
import { type Exchange, startRecorder } from './recorder.ts';
import { openShell } from './shell.ts';

export type Ran = { block: Block; output: string; code: number; exchanges: Exchange[] };

export type Session = {
  run(block: Block): Promise<Ran>;
  /** The same GET once more, not recorded. */
  again(exchange: Exchange): Promise<unknown>;
  close(): Promise<void>;
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADDRESS = 'http://127.0.0.1:8025';
const KEY = 'svc_dev_…';
/** What the examples ask of the web. */
const WEB: Readonly<Record<string, string>> = {
  'GET https://www.rfc-editor.org/rfc/rfc5321.txt': 'Simple Mail Transfer Protocol',
  'POST https://example.com/hooks': '',
};

const fetchFromHere: Fetch = async ({ method, url }) => {
  const body = WEB[`${method} ${url}`];
  if (body === undefined) throw new Error(`no example asks for ${method} ${url}`);
  return { status: 200, headers: {}, body: Buffer.from(body), truncated: false };
};

/** `curl`: that of the machine, or the one that stands in for it. */
export async function openSession({ curl }: { curl: 'real' | 'stand-in' }): Promise<Session> {
  await using cleanUp = new AsyncDisposableStack();
  const dataDir = temporaryDirectory('readme-data');
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    POSTRIDER_HTTP_PORT: '0',
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
  const shell = openShell(directory, { PATH: path, POSTRIDER_DATA_DIR: dataDir });
  cleanUp.defer(() => shell.close());
  const opened = cleanUp.move();
  return {
    async run(block) {
      const before = recorder.exchanges.length;
      const text = block.text.replaceAll(KEY, key).replaceAll(ADDRESS, recorder.address);
      const ran = await shell.run(text);
      return { ...ran, block, exchanges: recorder.exchanges.slice(before) };
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

/** What of a clone the examples need, and where their own files may lie. */
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
