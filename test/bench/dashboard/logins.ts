/** A flood of logins to one account, while its owner logs in from elsewhere. */

import { type Browser, browserAt } from '../../support/browser.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { percentile } from '../percentile.ts';
import { startModule } from '../program.ts';
import type { Measure } from '../row.ts';
import type { LoginFlood, LoginFloodResult } from './login-flood-program.ts';
import { logIn, OPERATOR, portOf } from './person.ts';

const ATTEMPTS = Number(process.env['BENCH_ATTEMPTS'] ?? 100_000);
/** Number of addresses from which passwords are guessed. */
const ADDRESSES = 10_000;
const PAUSE_MS = 5_000;

/** Measures the slowest login of the owner, in the browser that it has logged in with before, from an address where it never was. */
export async function measureLogins(daemon: DaemonProcess): Promise<Measure> {
  const browser = browserAt(portOf(daemon));
  await timeLogin(browser);
  const input: LoginFlood = {
    port: portOf(daemon),
    account: OPERATOR.email,
    attempts: ATTEMPTS,
    addresses: ADDRESSES,
  };
  const flood = startModule('dashboard/login-flood-program.ts', input);
  let isOver = false;
  const answer = flood.line().finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (isOver) break;
    browser.moveTo(`127.2.${Math.floor(times.length / 250)}.${(times.length % 250) + 1}`);
    times.push(await timeLogin(browser));
  }
  const result = JSON.parse(await answer) as LoginFloodResult;
  await flood.ended;
  const minutesLater = Math.max(result.seconds - 60, 0) / 60;
  return {
    figure: percentile(times, 1),
    details: {
      'passwords compared in the first minute': result.comparedFirst,
      'passwords compared in each minute after': minutesLater > 0 ? result.comparedLater / minutesLater : 0,
      'attempts a second': result.attempts / result.seconds,
      'logins of the owner': times.length,
    },
  };
}

/** Returns the milliseconds from the page with the form to the first page behind it. */
async function timeLogin(browser: Browser): Promise<number> {
  const startedAt = performance.now();
  await logIn(browser);
  const { status, html } = browser.page;
  if (status !== 200) throw new Error(`the owner was refused: ${status} ${html}`);
  return performance.now() - startedAt;
}
