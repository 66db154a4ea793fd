/**
 * Broadcasts at the size of a large newsletter (`--contacts N`, a million unless it says otherwise): their start, their rate
 * next to the bare path, what they do to other mail, and how soon they stop. Rates and windows are of a part of the audience,
 * so that a run ends.
 */
import { loadavg } from 'node:os';
import { measureClicks } from './marketing/clicks.ts';
import { LARGE_BROADCAST_HTML, LARGE_BROADCAST_TEXT } from './marketing/content.ts';
import { measureFairness } from './marketing/fairness.ts';
import { type Filled, fill, type Sizes } from './marketing/newsroom.ts';
import { measureOneClick } from './marketing/one-click.ts';
import { measurePause } from './marketing/pause.ts';
import { measureBareRate, measureRate } from './marketing/rate.ts';
import { measureStart } from './marketing/start.ts';
import { measureTransactional } from './marketing/transactional.ts';
import type { Group, Measure, Row } from './row.ts';

/** Number of contacts that get the whole broadcast: enough for minutes at the rates that a small machine reaches. */
const MAX_SENT_CONTACTS = 20_000;
const MIN_SENT_CONTACTS = 2_000;
const SENT_PART = 10;
const WINDOW_MS = { short: 5_000, long: 20_000 };
/** From this audience on, windows are long. */
const LARGE_AUDIENCE = 200_000;

/** Returns the group for an audience of this size. */
export function marketing(contacts: number): Group {
  const sizes: Sizes = {
    everybody: contacts,
    many: Math.min(MAX_SENT_CONTACTS, Math.max(MIN_SENT_CONTACTS, Math.floor(contacts / SENT_PART))),
    windowMs: contacts < LARGE_AUDIENCE ? WINDOW_MS.short : WINDOW_MS.long,
  };
  const [all, many] = [contacts, sizes.many].map((count) => count.toLocaleString('en'));
  return {
    name: 'marketing',
    async prepare(workspace) {
      let filling: Promise<Filled> | undefined;
      const row = (
        about: Omit<Row, 'measure' | 'rounds'>,
        measure: (filled: Filled) => Promise<Measure>,
      ): Row => ({
        ...about,
        rounds: 1,
        async measure() {
          filling ??= fill(workspace, sizes);
          const filled = await filling;
          const loadBefore = loadavg()[0] ?? 0;
          const measured = await measure(filled);
          return {
            ...measured,
            details: { ...measured.details, 'load average before, x 100': loadBefore * 100 },
          };
        },
      });
      return {
        rows: [
          row(
            {
              name: `Postrider: ledger of a broadcast to ${all} contacts, complete after`,
              unit: 'ms',
              aim: '60 s, first message 2 s, loop p99 50 ms, 500 MB, for a million',
            },
            (filled) => measureStart(workspace, filled, { contacts, ofSegment: false }),
          ),
          row(
            {
              name: `Postrider: ledger of a segment of three rules of ${all} contacts, complete after`,
              unit: 'ms',
              aim: '60 s, for a million',
            },
            (filled) => measureStart(workspace, filled, { contacts, ofSegment: true }),
          ),
          row(
            {
              name: `bare path: HTTP to sink, messages of the size of a copy`,
              unit: 'msg/s',
              comparison: { job: 'broadcast', role: 'bare path' },
            },
            () => measureBareRate(workspace, { messages: sizes.many }),
          ),
          row(
            {
              name: `Postrider: broadcast to sink, ${many} contacts, 20 KiB of HTML`,
              unit: 'msg/s',
              comparison: { job: 'broadcast', role: 'measured' },
              aim: '>= 0.5 x bare path, 1,000/s on 4 calm cores; <= 4,096 bytes a contact',
            },
            (filled) => measureRate(workspace, filled, { contacts: sizes.many }),
          ),
          row(
            {
              name: 'Postrider: transactional email during a broadcast, accepted, p99',
              unit: 'ms',
              aim: '50 ms; first attempt 200 ms; both <= 1.5 x without',
            },
            (filled) => measureTransactional(workspace, filled, { ...sizes, tenant: filled.everybody }),
          ),
          row(
            {
              name: 'Postrider: email of another tenant during a broadcast of large copies, accepted, p99',
              unit: 'ms',
              aim: 'accepted and first attempt <= 2 x without',
            },
            (filled) =>
              measureTransactional(workspace, filled, {
                ...sizes,
                tenant: filled.others,
                broadcast: { html: LARGE_BROADCAST_HTML, text: LARGE_BROADCAST_TEXT },
              }),
          ),
          row(
            { name: "Postrider: a second tenant's broadcast, share of the copies", unit: '%', aim: '50 %' },
            (filled) => measureFairness(workspace, filled, sizes),
          ),
          row(
            {
              name: 'Postrider: pause of a broadcast, idle after',
              unit: 'ms',
              aim: '5 s, nothing claimed after it',
            },
            (filled) => measurePause(workspace, filled),
          ),
          row(
            {
              name: 'Postrider: clicks on links, answered and recorded',
              unit: 'msg/s',
              aim: '3,000/s recorded; redirect p99 20 ms, <= 2 x during a broadcast',
            },
            (filled) => measureClicks(workspace, filled, sizes),
          ),
          row(
            { name: 'Postrider: one-click while the API refuses writes, p99', unit: 'ms', aim: '50 ms' },
            (filled) => measureOneClick(workspace, filled, sizes),
          ),
        ],
      };
    },
  };
}
