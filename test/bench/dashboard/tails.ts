/** Open tails of the dashboard, which read what they get. */
import { type ClientRequest, request } from 'node:http';
import { browserAt } from '../../support/browser.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { portOf } from './person.ts';

export type Tails = Disposable & {
  /** Number of tails that are open. */
  readonly open: number;
  /** Number of frames with lines that all of them have got. */
  readonly frames: number;
};

/** Number of tails of a person, who may have twenty. */
const PER_PERSON = 20;

/** Opens tails of the tenant's events, by as many people as they need. */
export async function openTails(daemon: DaemonProcess, tenantId: string, count: number): Promise<Tails> {
  const requests: ClientRequest[] = [];
  const tails = { open: 0, frames: 0 };
  for (let person = 0; person < count / PER_PERSON; person++) {
    const { cookie, path } = await newViewer(daemon, tenantId);
    for (let tail = 0; tail < PER_PERSON; tail++)
      requests.push(await openTail(daemon, { cookie, path }, tails));
  }
  return {
    get open() {
      return tails.open;
    },
    get frames() {
      return tails.frames;
    },
    [Symbol.dispose]() {
      for (const asked of requests) asked.destroy();
    },
  };
}

async function newViewer(daemon: DaemonProcess, tenantId: string): Promise<{ cookie: string; path: string }> {
  const email = `viewer${process.hrtime.bigint()}@people.example`;
  const rights = ['--tenant', tenantId, '--role', 'viewer'];
  const { url } = (await daemon.cli(['person', 'link', email, ...rights])) as { url: string };
  const browser = browserAt(portOf(daemon));
  await browser.open(new URL(url).pathname);
  await browser.submit('enter', { name: 'Vera Viewer', password: 'correct horse battery' });
  const shown = await browser.submit('later');
  if (shown.status !== 200) throw new Error(`a viewer was answered ${shown.status} ${shown.html}`);
  return { cookie: browser.cookie(), path: shown.url };
}

function openTail(
  daemon: DaemonProcess,
  { cookie, path }: { cookie: string; path: string },
  tails: { open: number; frames: number },
): Promise<ClientRequest> {
  const port = portOf(daemon);
  return new Promise((resolve, reject) => {
    const asked = request({
      host: '127.0.0.1',
      port,
      agent: false,
      path: `/live?${new URLSearchParams({ topic: `${path}/tail` })}`,
      headers: { cookie, host: `localhost:${port}` },
    });
    asked.on('response', (response) => {
      if (response.statusCode !== 200) {
        reject(new Error(`a tail was answered ${response.statusCode}`));
        return;
      }
      tails.open++;
      response.on('data', (part: Buffer) => {
        if (part.includes('event: tail')) tails.frames++;
      });
      response.on('close', () => tails.open--);
      resolve(asked);
    });
    asked.on('error', reject);
    asked.end();
  });
}
