/** How soon Chromium shows a page of the dashboard on a slow line and a slow processor, how much it moves, and how soon it answers. */
import type { CDPSession, Page } from 'playwright-core';
import { startBrowser } from '../../interop/browser.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import type { MillionStore } from '../million-store.ts';
import type { Measure } from '../row.ts';
import { interactionsOn } from './interactions.ts';
import type { Person } from './person.ts';

/** The line and the processor of the aim. */
const BITS_PER_SECOND = 1_600_000;
const LATENCY_MS = 150;
const CPU_SLOWER = 4;

type Vitals = { lcpMs: number; cls: number; inpMs: number };

/** Pages with a chart, a long list and a form. */
const PAGES = ['', '/emails', '/templates/new'];

/** Measures the slowest largest paint of the pages with an empty cache; how it is with a full one, and how soon fields answer, stand in the details. */
export async function measureVitals(
  daemon: DaemonProcess,
  person: Pick<Person, 'cookie' | 'path'>,
  store: Pick<MillionStore, 'audienceId'>,
): Promise<Measure> {
  const browser = await startBrowser({});
  const home = daemon.address + person.path;
  const cookies = person.cookie.split('; ').map((pair) => {
    const [name = '', value = ''] = pair.split('=');
    return { name, value, url: daemon.address };
  });
  const open = async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.addCookies(cookies);
    const page = await context.newPage();
    await page.addInitScript(OBSERVE);
    await slowDown(await context.newCDPSession(page));
    return page;
  };
  const cold: Vitals[] = [];
  const warm: Vitals[] = [];
  const answers: [string, number][] = [];
  try {
    for (const path of PAGES) {
      const page = await open();
      cold.push(await vitalsOf(page, home + path));
      await page.goto('about:blank');
      warm.push(await vitalsOf(page, home + path));
      await page.context().close();
    }
    for (const { name, path, act } of interactionsOn(store)) {
      const page = await open();
      await openFully(page, home + path);
      await act(page);
      answers.push([`longest answer to ${name}, ms`, (await readVitals(page)).inpMs]);
      await page.context().close();
    }
  } finally {
    await browser.close();
  }
  const all = [...cold, ...warm];
  return {
    figure: Math.max(...cold.map(({ lcpMs }) => lcpMs)),
    details: {
      'largest paint with a full cache, ms': Math.max(...warm.map(({ lcpMs }) => lcpMs)),
      'layout shift (thousandths)': Math.max(...all.map(({ cls }) => cls)) * 1_000,
      'longest answer to a key, ms': Math.max(...all.map(({ inpMs }) => inpMs)),
      ...Object.fromEntries(answers),
    },
  };
}

async function slowDown(session: CDPSession): Promise<void> {
  await session.send('Network.enable');
  const throughput = BITS_PER_SECOND / 8;
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWER });
}

/** Collects what the browser observes while the page is open. */
const OBSERVE = `
  window.vitals = { lcpMs: 0, cls: 0, inpMs: 0 };
  const observe = (type, take, more = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...more });
  observe('largest-contentful-paint', ({ startTime }) => { vitals.lcpMs = startTime; });
  observe('layout-shift', ({ value, hadRecentInput }) => { if (!hadRecentInput) vitals.cls += value; });
  observe('event', ({ duration }) => { vitals.inpMs = Math.max(vitals.inpMs, duration); }, { durationThreshold: 16 });
`;

async function vitalsOf(page: Page, url: string): Promise<Vitals> {
  await openFully(page, url);
  for (const key of ['Tab', 'Tab', 'Control+k', 'a', 'b', 'c']) await page.keyboard.press(key);
  return readVitals(page);
}

async function openFully(page: Page, url: string): Promise<void> {
  const response = await page.goto(url, { waitUntil: 'networkidle' });
  if (response?.status() !== 200) throw new Error(`${url} was answered ${response?.status()}`);
}

/** Returns what the browser has observed. Event timing is reported with the next frames. */
async function readVitals(page: Page): Promise<Vitals> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  return (await page.evaluate('vitals')) as Vitals;
}
