/**
 * Fills the spool of a daemon that is not running: emails scheduled over a year, for many domains, each accepted by the
 * daemon's own code, from the request's body to the commit. Prints a line when all are on disk.
 */

import { openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createDownloads } from '../../src/emails/download.ts';
import { createInFlight } from '../../src/emails/idempotency/in-flight.ts';
import { type SendApp, sendEmail } from '../../src/emails/send.ts';
import { createLinks } from '../../src/links/links.ts';
import { handNothing } from '../../src/queue/contents/handed.ts';
import { createByteBudget } from '../../src/system/guards/byte-budget.ts';
import type { Caller } from '../../src/tenants/authenticate.ts';

export type SpoolInput = {
  /** `POSTRIDER_*` of the daemon. */
  env: Record<string, string>;
  caller: Caller;
  from: string;
  emails: number;
  domains: number;
};

const DAY_MS = 24 * 3_600_000;
/** None of them falls due while anybody looks. */
const FIRST_MS = DAY_MS;
const LAST_MS = 365 * DAY_MS;
/** As many as keep the writer busy. */
const IN_FLIGHT = 500;
const TEXT = 'Your subscription renews soon. There is nothing you need to do.\n'.repeat(4);

const input = JSON.parse(process.argv[2] ?? '') as SpoolInput;
// No power fails here, and a flush for each group would take most of the time.
const env = { ...input.env, POSTRIDER_LOG_LEVEL: 'error', POSTRIDER_UNSAFE_SYNCHRONOUS: 'NORMAL' };
const app = await openApp(loadConfig({ env }));
const downloads = createDownloads({ ...app, bodies: createByteBudget() });
const sending: SendApp = {
  ...app,
  downloads,
  inFlight: createInFlight(app.clock),
  links: createLinks(app),
  handOver: handNothing,
};
const startedAtMs = Date.now();
let accepted = 0;
await Promise.all(Array.from({ length: IN_FLIGHT }, acceptMany));
await app[Symbol.asyncDispose]();
console.log(`accepted ${accepted} in ${Date.now() - startedAtMs} ms`);
process.exit(0);

async function acceptMany(): Promise<void> {
  while (accepted < input.emails) {
    accepted += 1;
    await accept(accepted);
  }
}

/** Evenly over the time, and over the domains in turn. */
async function accept(number: number): Promise<void> {
  const dueInMs = FIRST_MS + ((LAST_MS - FIRST_MS) * number) / input.emails;
  await sendEmail(sending, input.caller, {
    body: {
      from: input.from,
      to: `r${number}@d${number % input.domains}.test`,
      subject: `Renewal ${number}`,
      text: TEXT,
      type: 'transactional',
      scheduledAt: new Date(startedAtMs + dueInMs).toISOString(),
    },
    detached: { find: () => undefined, hash: () => undefined },
    idempotency: undefined,
    holdText: () => () => {},
    requireValidKey: async () => {},
  });
}
