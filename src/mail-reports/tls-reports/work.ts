/** Sends reports about TLS of past days to the domains that ask for them (RFC 8460 section 5): by mail, or by HTTPS. */
import type { App } from '../../app.ts';
import type { TlsReportRow } from '../../db/tls-policy-tables.ts';
import { postmasterOf } from '../../mail/postmaster.ts';
import {
  composeTlsReport,
  compressReport,
  REPORT_MEDIA_TYPE,
  type ReportDestinations,
  type ReportedFailure,
  type ReportedPolicy,
  readReportDestinations,
  type TlsReport,
} from '../../mail/tls-policy/tls-report.ts';
import { buildOwnMail } from '../../mailbox-delivery/forward/own-mail.ts';
import { DAY_MS } from '../../system/clock.ts';
import { ID_CHARACTERS, newId } from '../../system/ids.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { findDueTlsReport, listTlsSessions, postponeTlsReport } from '../../tls-policies/store.ts';
import { endTlsReport } from './store.ts';

const PERIOD_MS = 15 * 60_000;
/** Maximum number of reports of one run. */
const MAX_REPORTS = 200;
/** Number of attempts, and the time between them: RFC 8460 section 5.5 suggests to try for a day. */
const MAX_ATTEMPTS = 6;
const RETRY_MS = 4 * 3_600_000;
/** Maximum time of a post, and size of its answer, which is not read. */
const POST_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 4_096;

/** Value of `requireTls` of mail that policies about TLS do not hold up (RFC 8460 section 3). */
const NOT_HELD_UP = 2;

/** Returns the work that sends reports. Without the setting, what is left of earlier days is deleted. */
export function createTlsReportWork(app: App): Work<'run'> {
  const results = app.metrics.counter('tls_reports_total', 'Reports about TLS that were due.', ['result']);
  return periodic(app.clock, {
    name: 'tls reports',
    periodMs: PERIOD_MS,
    async run() {
      if (app.egress.isHeld) return;
      for (let count = 0; count < MAX_REPORTS; count++) {
        const report = await findDueTlsReport(app.db.read, app.clock.now());
        if (!report) return;
        results.inc({ result: await send(app, report) });
      }
    },
  });
}

type Sent = 'sent' | 'unwanted' | 'postponed' | 'given_up';

async function send(app: App, row: TlsReportRow): Promise<Sent> {
  const { day, domain } = row;
  const found = await findDestinations(app, domain);
  if (found === 'failed') return postpone(app, row);
  if (found === 'none') {
    await app.db.commit(endTlsReport, { day, domain, mail: undefined });
    return 'unwanted';
  }
  const id = newId('em', app.clock.now());
  const report = await readReport(app, row, id.slice(-ID_CHARACTERS));
  const { addresses, urls } = found;
  const file = compressReport(report);
  const posted = await Promise.all(urls.map((url) => post(app, url, file)));
  // One destination that has the report is enough (RFC 8460 section 3).
  if (addresses.length === 0 && !posted.includes(true)) return postpone(app, row);
  const mail =
    addresses.length === 0
      ? undefined
      : await buildOwnMail(app, {
          id,
          to: addresses,
          ...composeTlsReport(report, addresses),
          requireTls: NOT_HELD_UP,
        });
  await app.db.commit(endTlsReport, { day, domain, mail });
  app.wakeups.notify('queue');
  return 'sent';
}

async function findDestinations(app: App, domain: string): Promise<ReportDestinations | 'none' | 'failed'> {
  if (!app.config.outbound.tlsReports) return 'none';
  const answer = await app.dns.fresh.txt(`_smtp._tls.${domain}`);
  if (answer.kind === 'failed') return 'failed';
  return (answer.kind === 'found' && readReportDestinations(answer.records)) || 'none';
}

async function postpone(app: App, { day, domain, attempts }: TlsReportRow): Promise<Sent> {
  if (attempts + 1 >= MAX_ATTEMPTS) {
    await app.db.commit(endTlsReport, { day, domain, mail: undefined });
    return 'given_up';
  }
  await app.db.commit(postponeTlsReport, { day, domain, dueAt: app.clock.now() + RETRY_MS });
  return 'postponed';
}

/** Posts the report. Returns true when the server has taken it. */
async function post(app: App, url: string, body: Buffer): Promise<boolean> {
  try {
    const headers = {
      'content-type': REPORT_MEDIA_TYPE,
      'content-length': String(body.length),
      'user-agent': 'Postrider',
    };
    const { status } = await app.fetch({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs: POST_TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    });
    return status >= 200 && status < 300;
  } catch (error) {
    app.log.info({ err: error, url }, 'a report about TLS could not be posted');
    return false;
  }
}

async function readReport(app: App, { day, domain }: TlsReportRow, id: string): Promise<TlsReport> {
  const submitter = app.config.hostname.toLowerCase();
  const sessions = await listTlsSessions(app.db.read, { day, domain });
  return {
    submitter,
    contact: postmasterOf(submitter).address,
    domain,
    id,
    begin: day,
    end: day + DAY_MS - 1_000,
    sessions: sessions.map(({ policy, failure, sessions: count }) => ({
      policy: JSON.parse(policy) as ReportedPolicy,
      failure: failure === '' ? null : (JSON.parse(failure) as ReportedFailure),
      count,
    })),
  };
}
