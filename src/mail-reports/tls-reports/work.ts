/** Sends reports about TLS of past days to the domains that ask for them (RFC 8460 section 5): by mail, or by HTTPS. */
import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import type { TlsReportRow } from '../../db/tls-policy-tables.ts';
import { postmasterOf } from '../../mail/postmaster.ts';
import type { ReportedFailure, ReportedPolicy } from '../../mail/tls-policy/reported-session.ts';
import {
  composeTlsReport,
  compressReport,
  REPORT_MEDIA_TYPE,
  type ReportDestinations,
  readReportDestinations,
  type TlsReport,
} from '../../mail/tls-policy/tls-report.ts';
import { TLS_WISH } from '../../mail/tls-policy/tls-wish.ts';
import { buildOwnMail, type OwnMail } from '../../mailbox-delivery/forward/own-mail.ts';
import { DAY_MS } from '../../system/clock.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { ID_CHARACTERS, newId } from '../../system/ids.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { listDueTlsReports, listTlsSessions } from '../../tls-policies/store.ts';
import { settleTlsReport } from './store.ts';

const PERIOD_MS = 15 * 60_000;
/** Maximum number of reports of one run. */
const MAX_REPORTS = 200;
/** Maximum number of reports that are sent at the same time, so that servers that hang delay no others. */
const MAX_SENDING = 16;
/** Number of attempts, and the time between them: RFC 8460 section 5.5 suggests to try for a day. */
const MAX_ATTEMPTS = 6;
const RETRY_MS = 4 * 3_600_000;
/** Maximum time of a post, and size of its answer, which is not read. */
const POST_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 4_096;
/** Stands for all mail addresses among the destinations that have a report. */
const BY_MAIL = 'mail';

/** Returns the work that sends reports. Without the setting, what is left of earlier days is deleted. */
export function createTlsReportWork(app: App): Work<'run'> {
  const results = app.metrics.counter('tls_reports_total', 'Reports about TLS that were due.', ['result']);
  return periodic(app.clock, {
    name: 'tls reports',
    periodMs: PERIOD_MS,
    async run() {
      if (app.egress.isHeld) return;
      const due = await listDueTlsReports(app.db.read, { now: app.clock.now(), limit: MAX_REPORTS });
      const limiter = new ConcurrencyLimiter({ maxRunning: MAX_SENDING });
      const sendOne = async (report: TlsReportRow) => {
        const result = await send(app, report).catch((error) => {
          app.log.error({ err: error, domain: report.domain }, 'a report about TLS could not be sent');
          return settle(app, report, { sent: readSent(report), isOver: false });
        });
        results.inc({ result });
      };
      await Promise.all(due.map((report) => limiter.run(() => sendOne(report))));
    },
  });
}

type Sent = 'sent' | 'unwanted' | 'postponed' | 'given_up';

async function send(app: App, row: TlsReportRow): Promise<Sent> {
  const { day, domain } = row;
  const found = await findDestinations(app, domain);
  if (found === 'failed') return settle(app, row, { sent: readSent(row), isOver: false });
  if (found === 'none') {
    await app.db.commit(settleTlsReport, { day, domain });
    return 'unwanted';
  }
  const sent = new Set(readSent(row));
  const urls = found.urls.filter((url) => !sent.has(url));
  const report = await readReport(app, row);
  const file = compressReport(report);
  const posted = await Promise.all(urls.map(async (url) => ((await post(app, url, file)) ? [url] : [])));
  for (const url of posted.flat()) sent.add(url);
  const addresses = sent.has(BY_MAIL) ? [] : found.addresses;
  const mail = addresses.length > 0 ? await buildMail(app, report, addresses) : undefined;
  if (mail) sent.add(BY_MAIL);
  const isOver = urls.every((url) => sent.has(url));
  return settle(app, row, { mail, sent: [...sent], isOver });
}

function readSent({ sent }: Pick<TlsReportRow, 'sent'>): string[] {
  return JSON.parse(sent) as string[];
}

function buildMail(app: App, report: TlsReport, addresses: readonly string[]): Promise<OwnMail> {
  const id = newId('em', app.clock.now());
  const composed = composeTlsReport(report, addresses);
  // Policies about TLS do not hold up reports about them (RFC 8460 section 3).
  return buildOwnMail(app, { id, to: addresses, ...composed, requireTls: TLS_WISH.optional });
}

/** Ends the report, or makes it due once more for the destinations that do not have it. */
async function settle(
  app: App,
  { day, domain, attempts }: TlsReportRow,
  { mail, sent, isOver }: { mail?: OwnMail | undefined; sent: readonly string[]; isOver: boolean },
): Promise<Sent> {
  const isLast = isOver || attempts + 1 >= MAX_ATTEMPTS;
  const later = isLast ? undefined : { dueAt: app.clock.now() + RETRY_MS, sent: JSON.stringify(sent) };
  await app.db.commit(settleTlsReport, { day, domain, mail, later });
  if (mail) app.wakeups.notify('queue');
  if (later) return 'postponed';
  // One destination that has the report is enough (RFC 8460 section 3).
  return sent.length > 0 ? 'sent' : 'given_up';
}

async function findDestinations(app: App, domain: string): Promise<ReportDestinations | 'none' | 'failed'> {
  if (!app.config.outbound.tlsReports) return 'none';
  const answer = await app.dns.fresh.txt(`_smtp._tls.${domain}`);
  if (answer.kind === 'failed') return 'failed';
  return (answer.kind === 'found' && readReportDestinations(answer.records)) || 'none';
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

/** Returns the report. Its id is the same at every attempt, so that a destination can tell that it has the report. */
async function readReport(app: App, { day, domain }: TlsReportRow): Promise<TlsReport> {
  const submitter = app.config.hostname.toLowerCase();
  const sessions = await listTlsSessions(app.db.read, { day, domain });
  return {
    submitter,
    contact: postmasterOf(submitter).address,
    domain,
    id: createHash('sha256').update(`${submitter} ${domain} ${day}`).digest('hex').slice(0, ID_CHARACTERS),
    begin: day / 1_000,
    end: (day + DAY_MS) / 1_000 - 1,
    sessions: sessions.map(({ policy, failure, sessions: count }) => ({
      policy: JSON.parse(policy) as ReportedPolicy,
      failure: failure === '' ? null : (JSON.parse(failure) as ReportedFailure),
      count,
    })),
  };
}
