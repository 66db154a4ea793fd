/** The operator's first page: the state of the installation, what the last hourly run of the checks has found, and which checks there are. */
import type { DoctorAnswer, StoredFindings } from '../../doctor/admin-api.ts';
import type { Finding, Level } from '../../doctor/check.ts';
import { CHECK_AREAS, type CheckArea } from '../../doctor/checks.ts';
import type { Status as Installation } from '../../doctor/status.ts';
import { Facts, Foreign, Heading, Sentence, Status, Time, type Tone } from '../frame/elements.tsx';
import { ActionButton } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import type { Texts } from '../texts/texts.ts';
import type { QueueStats } from './queue/overview.tsx';

type Context = Contexts['operator'];
type DomainStatus = keyof Texts['domains']['statuses'];
/** A finding; those of the last hourly run know since when they are so. */
type ShownFinding = Finding & { since?: string };

const TONES: Record<Level, Tone> = { ok: 'good', warn: 'warning', fail: 'bad' };

export const healthPage = definePage({
  area: 'operator',
  path: '',
  menu: { group: 'operating', label: ({ health }) => health.title },
  async show(context) {
    const { operator, texts } = context;
    const { health } = texts;
    const [status, stats, { findings, silenced }] = await Promise.all([
      operator.get<Installation>('/status'),
      operator.get<QueueStats>('/queue/stats', { by: 'kind' }),
      operator.get<StoredFindings>('/doctor/findings'),
    ]);
    return {
      title: health.title,
      body: (
        <>
          <Heading title={health.title}>
            <ActionButton context={context} action="run" submit={health.runAgain} />
          </Heading>
          {status.restoredAt !== null && (
            <p class="notice">
              {health.restored} <a href="/operator/restoration">{texts.backups.restoration}</a>
            </p>
          )}
          <h2>{health.attention}</h2>
          {findings.length === 0 ? (
            <p class="empty">{status.checkedAt === null ? health.notYet : health.allWell}</p>
          ) : (
            <FindingsByArea context={context} findings={findings} />
          )}
          <h2>{health.status}</h2>
          <StatusFacts context={context} status={status} total={stats.total} />
          <h2>{health.checks}</h2>
          <p>{health.checksText}</p>
          <Checks context={context} silenced={silenced} />
        </>
      ),
    };
  },
  actions: {
    run: {
      isAudited: false,
      async run(context) {
        const { health } = context.texts;
        const { findings } = await context.operator.get<DoctorAnswer>('/doctor');
        return {
          title: health.findings,
          body: (
            <>
              <Heading title={health.findings}>
                <a href={context.path}>{health.back}</a>
              </Heading>
              <FindingsByArea context={context} findings={findings} />
            </>
          ),
        };
      },
    },
    silence: { logs: ['check'], run: (context, form) => setSilenced(context, fieldOf(form, 'check'), true) },
    unsilence: {
      logs: ['check'],
      run: (context, form) => setSilenced(context, fieldOf(form, 'check'), false),
    },
  },
});

async function setSilenced({ operator, path }: Context, check: string, silenced: boolean) {
  await operator.post('/doctor/silence', { check, silenced });
  return { to: path, said: 'saved' as const };
}

function StatusFacts({
  context,
  status,
  total,
}: {
  context: Context;
  status: Installation;
  total: QueueStats['total'];
}) {
  const { formats, texts } = context;
  const { health } = texts;
  const { number } = formats;
  const domains = Object.entries(status.domains).map(
    ([name, count]) => `${number(count)} ${texts.domains.statuses[name as DomainStatus]}`,
  );
  const { waitingTasks, failedTasks, freeBytes } = status;
  return (
    <Facts
      facts={[
        [health.version, status.version],
        [health.startedAt, <Time key="" context={context} at={status.startedAt} />],
        [
          health.waiting,
          <a key="" href="/operator/queue">
            {number(total.waiting)}
          </a>,
        ],
        [
          health.nextAttempt,
          <Time key="" context={context} at={total.nextDueAt} otherwise={texts.queue.noneDue} />,
        ],
        [
          health.held,
          <a key="" href="/operator/queue/mail?state=held">
            {number(status.held)}
          </a>,
        ],
        [
          health.tasks,
          <a key="" href="/operator/tasks">
            {health.taskCounts(number(waitingTasks), number(failedTasks))}
          </a>,
        ],
        [
          health.certificates,
          status.certificatesExpireAt === null ? (
            texts.frame.none
          ) : (
            <Time key="" context={context} at={status.certificatesExpireAt} />
          ),
        ],
        [health.free, freeBytes === null ? texts.frame.none : formats.bytes(freeBytes)],
        [health.tenants, number(status.tenants)],
        [health.domains, domains.join(', ') || texts.frame.none],
        [health.checkedAt, <Time key="" context={context} at={status.checkedAt} />],
        [health.hostname, <Foreign key="" text={status.hostname} />],
        [health.dataDir, <Foreign key="" text={status.dataDir} />],
        [
          health.threads,
          status.threads
            .map(({ thread, p99Ms }) => health.delay(thread, number(Math.round(p99Ms))))
            .join(', '),
        ],
      ]}
    />
  );
}

const AREAS = Object.entries(CHECK_AREAS).map(([area, checks]) => ({
  area: area as CheckArea,
  checks: checks.map(({ name }) => name),
}));

/** Returns the area of a check. Findings about the whole installation come from no check, and stand with those about the machine. */
function areaOf(check: string): CheckArea {
  return AREAS.find(({ checks }) => checks.includes(check))?.area ?? 'machine';
}

/** Returns what people call a check. */
function titleOf({ texts }: Context, check: string): string {
  const { checkTexts } = texts.health;
  return Object.hasOwn(checkTexts, check) ? (checkTexts[check]?.[0] ?? check) : check;
}

/** Pages that show more about what checks have found. */
const PAGES: Readonly<Record<string, string>> = {
  receivers: '/operator/queue/resting',
  sources: '/operator/sources',
};

function CheckName({ context, check }: { context: Context; check: string }) {
  const page = PAGES[check];
  const title = titleOf(context, check);
  return page === undefined ? title : <a href={page}>{title}</a>;
}

function FindingsByArea({ context, findings }: { context: Context; findings: readonly ShownFinding[] }) {
  const { health } = context.texts;
  return AREAS.map(({ area }) => {
    const rows = findings.filter(({ check }) => areaOf(check) === area);
    if (rows.length === 0) return null;
    return (
      <Table
        key={area}
        context={context}
        caption={health.areas[area]}
        rows={rows}
        keyOf={({ check, subject }) => `${check} ${subject}`}
        columns={[
          {
            label: health.level,
            cell: ({ level }) => <Status tone={TONES[level]}>{health.levels[level]}</Status>,
          },
          { label: health.check, cell: ({ check }) => <CheckName context={context} check={check} /> },
          { label: health.subject, cell: ({ subject }) => <Foreign text={subject} /> },
          { label: health.says, cell: ({ says }) => <Sentence context={context} text={says} /> },
          { label: health.advice, cell: ({ advice }) => <Sentence context={context} text={advice} /> },
          {
            label: health.since,
            cell: ({ since }) => (since === undefined ? null : <Time context={context} at={since} />),
          },
        ]}
      />
    );
  });
}

function Checks({ context, silenced }: { context: Context; silenced: readonly string[] }) {
  const { health, frame } = context.texts;
  const rows = AREAS.flatMap(({ area, checks }) => checks.map((name) => ({ area, name })));
  return (
    <Table
      context={context}
      caption={health.checks}
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        {
          label: health.check,
          cell: ({ name }) => (
            <>
              <strong>{titleOf(context, name)}</strong>
              <br />
              {health.checkTexts[name]?.[1]} <code>{name}</code>
            </>
          ),
        },
        { label: health.area, cell: ({ area }) => health.areas[area] },
        {
          label: health.mail,
          cell: ({ name }) =>
            silenced.includes(name) ? <Status tone="warning">{health.silenced}</Status> : health.on,
        },
        {
          label: frame.actions,
          cell: ({ name }) => {
            const action = silenced.includes(name) ? 'unsilence' : 'silence';
            return (
              <ActionButton
                context={context}
                action={action}
                submit={health[action]}
                label={`${health[action]}: ${titleOf(context, name)}`}
                about={{ check: name }}
              />
            );
          },
        },
      ]}
    />
  );
}
