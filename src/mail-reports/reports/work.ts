/**
 * Reads the reports that other servers send about the mail of a domain. A report counts when its sender is proven, when it came to
 * the address of a domain that a tenant has, and as far as it is about that domain.
 */
import type { App } from '../../app.ts';
import type { ReceivedMessageRow, ReceivedReportRow } from '../../db/inbound-tables.ts';
import { sandboxDomain } from '../../domains/name.ts';
import { findNamedDomain } from '../../domains/receiving/store.ts';
import { bounceDomain } from '../../domains/records.ts';
import { MAX_RETURNED_BYTES } from '../../inbound/space.ts';
import { createReceivedKind, type RunningReceivedTask, type TaskOutcome } from '../../inbound/tasks/kind.ts';
import type { AuthenticationResult } from '../../mail/auth/result.ts';
import { registrableDomain } from '../../mail/domain-names.ts';
import type { ReportReader } from '../../mail/reports/reader.ts';
import type { Report } from '../../mail/reports/report.ts';
import type { Directory } from '../../mailbox-delivery/directory.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { isId, newId } from '../../system/ids.ts';
import type { TaskKind } from '../../tasks/kind.ts';
import { openReturnedMail, type ReturnedMail } from '../returned-mail.ts';
import { selectFor } from './select.ts';
import { insertReport, reportBytesOf } from './store.ts';

/** Maximum number of reports that are read at the same time. The thread reads one at a time. */
const CONCURRENCY = 2;

/** Number of reports of one owner that are logged: at once, and then in a second. */
const LINES = { burst: 5, tokensPerSecond: 1 / 3_600 };
/** Maximum number of owners whose reports are counted. */
const MAX_LOGGED_OWNERS = 1_000;
/** Maximum number of failures that are logged of one report about one name. */
const MAX_LOGGED_FAILURES = 5;

type Reporter = Pick<ReceivedReportRow, 'reporter' | 'registrableDomain'>;

/** Returns the kind of task that reads reports. A second run stores nothing more. */
export function createReportKind(
  app: App & { reportReader: Pick<ReportReader, 'read'>; directory: Pick<Directory, 'noteStored'> },
): TaskKind {
  const results = app.metrics.counter('inbound_reports_total', 'Mail to addresses for reports.', ['result']);
  const lines = createTokenBuckets(app.clock, MAX_LOGGED_OWNERS);

  async function run(task: RunningReceivedTask): Promise<TaskOutcome> {
    const returned = await openReturnedMail(app, task, MAX_RETURNED_BYTES);
    if (!returned) return { kind: 'failed', error: 'The message was deleted' };
    const reporter = await findReporter(returned.message);
    if (!reporter) return done('unproven');
    const reading = await app.reportReader.read(new Uint8Array(returned.bytes), reporter.registrableDomain);
    switch (reading.kind) {
      case 'busy':
        return { kind: 'retry', error: 'Too many reports are being read' };
      case 'unreadable':
        return done('unreadable');
      case 'report':
        return done(
          await store(task, { reporter, report: reading.report, arrivedAt: returned.message.createdAt }),
        );
    }
  }

  function done(result: string): TaskOutcome {
    results.inc({ result });
    return { kind: 'done' };
  }

  async function store(
    { targetId }: RunningReceivedTask,
    { reporter, report, arrivedAt }: { reporter: Reporter; report: Report; arrivedAt: number },
  ): Promise<string> {
    const { reportId, leftOut } = report;
    if (leftOut.records > 0 && lines.take(reporter.registrableDomain, LINES).allowed)
      app.log.warn(
        { reporter: reporter.reporter, reportId, leftOut },
        'a part of a report could not be read',
      );
    if (!isId('dom', targetId)) {
      if (lines.take(reporter.registrableDomain, LINES).allowed) logOwn(app, reporter, report);
      return 'installation';
    }
    const domain = await findNamedDomain(app.db.read, targetId);
    const selected = domain && selectFor(domain.name, report);
    if (!selected) return 'other';
    const { details, ...columns } = selected;
    const row: ReceivedReportRow = {
      id: newId('rep', arrivedAt),
      tenantId: domain.tenantId,
      domainId: domain.id,
      ...reporter,
      ...columns,
      details: JSON.stringify(details),
      createdAt: arrivedAt,
    };
    const result = await app.db.commit(insertReport, row);
    if (result === 'stored') app.directory.noteStored(row.tenantId, reportBytesOf(row));
    return result;
  }

  return createReceivedKind(app, { kind: 'report', concurrency: CONCURRENCY, run });
}

async function findReporter(message: ReturnedMail['message']): Promise<Reporter | undefined> {
  const reporter = storedReporterOf(message);
  return reporter === undefined
    ? undefined
    : { reporter, registrableDomain: await registrableDomain(reporter) };
}

/** Reports about the names of this machine are for the operator, who reads the log. */
function logOwn({ log, config }: Pick<App, 'log' | 'config'>, { reporter }: Reporter, report: Report): void {
  if (report.type === 'dmarc') return;
  const own = new Set([config.hostname.toLowerCase(), bounceDomain(config), sandboxDomain(config)]);
  // Anybody can send a report, so it says something about names of this machine alone, and each only once.
  for (const { domain, succeeded, failed, failures } of report.policies)
    if (failed > 0 && own.delete(domain)) {
      const shown = failures.slice(0, MAX_LOGGED_FAILURES);
      log.warn({ reporter, domain, succeeded, failed, failures: shown }, 'other servers could not use TLS');
    }
}

/** Returns the domain that stands for a report: by DMARC, or else by a signature; undefined when nothing proves one. */
export function reporterOf({
  dmarc,
  dkim,
}: Pick<AuthenticationResult, 'dmarc' | 'dkim'>): string | undefined {
  if (dmarc.result === 'pass') return dmarc.domain;
  const signature = dkim.find(({ result, domain }) => result === 'pass' && domain !== '');
  return signature?.domain;
}

/**
 * Returns the domain that stands for the report in a stored message. The author of mail that was written on this machine is known: it
 * is the installation, or a tenant, and these send from no other domain than one that they have verified.
 */
export function storedReporterOf({
  auth,
  headerFrom,
}: Pick<ReceivedMessageRow, 'auth' | 'headerFrom'>): string | undefined {
  if (auth !== null) return reporterOf(JSON.parse(auth) as AuthenticationResult);
  return headerFrom?.slice(headerFrom.lastIndexOf('@') + 1).toLowerCase();
}
