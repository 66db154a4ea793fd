/** How soon Chromium shows a page of the dashboard on a slow line and a slow processor, how much it moves, and how soon it answers a key. */
import type { CDPSession, Page } from 'playwright-core';
import { startBrowser } from '../../interop/browser.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import type { Measure } from '../row.ts';
import type { Person } from './person.ts';

/** The line and the processor of the aim. */
const BITS_PER_SECOND = 1_600_000;
const LATENCY_MS = 150;
const CPU_SLOWER = 4;

type Vitals = { lcpMs: number; cls: number; inpMs: number };

/** Measures the slowest largest paint of the pages with an empty cache; how it is with a full one stands in the details. */
export async function measureVitals(
  daemon: DaemonProcess,
  person: Pick<Person, 'cookie' | 'path'>,
  pages: readonly string[],
): Promise<Measure> {
  const browser = await startBrowser({});
  const origin = daemon.address;
  const cookies = person.cookie.split('; ').map((pair) => {
    const [name = '', value = ''] = pair.split('=');
    return { name, value, url: origin };
  });
  const cold: Vitals[] = [];
  const warm: Vitals[] = [];
  try {
    for (const path of pages) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      await context.addCookies(cookies);
      const page = await context.newPage();
      await slowDown(await context.newCDPSession(page));
      cold.push(await vitalsOf(page, origin + person.path + path));
      await page.goto('about:blank');
      warm.push(await vitalsOf(page, origin + person.path + path));
      await context.close();
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
  await page.addInitScript(OBSERVE);
  const response = await page.goto(url, { waitUntil: 'networkidle' });
  if (response?.status() !== 200) throw new Error(`${url} was answered ${response?.status()}`);
  for (const key of ['Tab', 'Tab', 'Control+k', 'a', 'b', 'c']) await page.keyboard.press(key);
  // Event timing is reported with the next frames.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  return (await page.evaluate('vitals')) as Vitals;
}
