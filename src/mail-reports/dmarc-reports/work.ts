/** Sends the DMARC reports of past days to the domains that ask for them. */
import type { App } from '../../app.ts';
import type { DmarcReportRow } from '../../db/inbound-tables.ts';
import { type AggregateReport, composeReport, type Observation } from '../../mail/dmarc/aggregate-report.ts';
import { findReportDestinations } from '../../mail/dmarc/destinations.ts';
import { postmasterOf } from '../../mail/postmaster.ts';
import { buildOwnMail } from '../../mailbox-delivery/forward/own-mail.ts';
import { DAY_MS } from '../../system/clock.ts';
import { ID_CHARACTERS, newId } from '../../system/ids.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { VERSION } from '../../version.ts';
import { endReport, findDueReport, listObservations, postponeReport } from './store.ts';

const PERIOD_MS = 15 * 60_000;
/** Maximum number of reports of one run. */
const MAX_REPORTS = 200;
/** Number of attempts to make a report and to look up its domain, and the time between them. */
const MAX_ATTEMPTS = 6;
const RETRY_MS = 3_600_000;

/** Returns the work that sends reports. Without the setting, what is left of earlier days is deleted. */
export function createDmarcReportWork(app: App): Work<'run'> {
  const results = app.metrics.counter('inbound_dmarc_reports_total', 'DMARC reports that were due.', [
    'result',
  ]);
  return periodic(app.clock, {
    name: 'dmarc reports',
    periodMs: PERIOD_MS,
    async run() {
      for (let count = 0; count < MAX_REPORTS; count++) {
        const report = await findDueReport(app.db.read, app.clock.now());
        if (!report) return;
        const result = await send(app, report).catch((error) => {
          app.log.error({ err: error, domain: report.domain }, 'a DMARC report could not be made');
          return postpone(app, report);
        });
        results.inc({ result });
      }
    },
  });
}

type Sent = 'sent' | 'unwanted' | 'postponed' | 'given_up';

async function send(app: App, row: DmarcReportRow): Promise<Sent> {
  const { day, domain } = row;
  const ownHost = app.config.hostname.toLowerCase();
  const found = app.config.inbound.dmarcReports
    ? await findReportDestinations(app.dns, { domain, ownHost })
    : ({ kind: 'none' } as const);
  if (found.kind === 'failed') return postpone(app, row);
  if (found.kind === 'none') {
    await app.db.commit(endReport, { day, domain, mail: undefined });
    return 'unwanted';
  }
  const id = newId('em', app.clock.now());
  const report = await readReport(app, row, { id, tags: found.tags });
  const to = found.addresses;
  const mail = await buildOwnMail(app, { id, to, ...composeReport(report, to) });
  await app.db.commit(endReport, { day, domain, mail });
  app.wakeups.notify('queue');
  return 'sent';
}

/** Makes a report due later, so that it holds up no others, or gives it up after the last attempt. */
async function postpone(app: App, { day, domain, attempts }: DmarcReportRow): Promise<Sent> {
  if (attempts + 1 < MAX_ATTEMPTS) {
    await app.db.commit(postponeReport, { day, domain, dueAt: app.clock.now() + RETRY_MS });
    return 'postponed';
  }
  await app.db.commit(endReport, { day, domain, mail: undefined });
  return 'given_up';
}

async function readReport(
  app: App,
  { day, domain }: DmarcReportRow,
  { id, tags }: { id: string; tags: AggregateReport['tags'] },
): Promise<AggregateReport> {
  const observations = await listObservations(app.db.read, { day, domain });
  const submitter = app.config.hostname.toLowerCase();
  return {
    submitter,
    contact: postmasterOf(submitter).address,
    generator: `Postrider ${VERSION}`,
    domain,
    id: id.slice(-ID_CHARACTERS),
    begin: day / 1_000,
    end: (day + DAY_MS) / 1_000 - 1,
    tags,
    rows: observations.map(({ observation, messages }) => ({
      observation: JSON.parse(observation) as Observation,
      messages,
    })),
  };
}
