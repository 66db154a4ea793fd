/** The backups of the installation: when they are made, how the last one has ended, and the buttons that make and verify one. */
import type { ShownBackups } from '../../backups/admin-api.ts';
import type { BackupRun } from '../../backups/run.ts';
import { path } from '../../http/json/calls.ts';
import type { ShownStandby } from '../../standby/admin-api.ts';
import { Facts, Foreign, Heading, Status, Time } from '../frame/elements.tsx';
import { ActionButton } from '../frame/forms.tsx';
import { NextPager, Table } from '../frame/lists.tsx';
import { Refreshed } from '../frame/refreshed.tsx';
import { workName } from '../live/topics.ts';
import { type Contexts, definePage, fieldOf } from '../page.ts';

type Context = Contexts['operator'];

export const backupsPage = definePage({
  area: 'operator',
  path: '/backups',
  menu: { group: 'operating', label: ({ backups }) => backups.title },
  async show(context) {
    const { operator, query, texts } = context;
    const { backups } = texts;
    const asked = { after: query.get('after') ?? '' };
    const [shown, standby] = await Promise.all([
      operator.get<ShownBackups>('/backups', asked),
      operator.get<ShownStandby>('/standby'),
    ]);
    const running = [shown.made, shown.verified].find((run) => run?.endedAt === null);
    return {
      title: backups.title,
      isLive: running !== undefined,
      body: (
        <>
          <Heading title={backups.title}>
            <a href="/operator/restoration">{backups.restoration}</a>
          </Heading>
          <p>{backups.text}</p>
          <Refreshed
            context={context}
            id="backups"
            topic={workName('/operator', '/backups')}
            isRunning={running !== undefined}
            since={running?.startedAt ?? null}
          >
            <State context={context} shown={shown} />
            <StandbyState context={context} standby={standby} />
            <BackupTable context={context} backups={shown.backups} />
          </Refreshed>
          <NextPager context={context} next={shown.next} />
          <p>{backups.makeText}</p>
          <ActionButton context={context} action="make" submit={backups.make} />
          <p>
            {backups.restoreText} <code>postrider backup restore</code>
          </p>
        </>
      ),
    };
  },
  actions: {
    make: {
      async run({ operator, path: here }) {
        await operator.post('/backups?wait=false');
        return { to: here, said: 'backupBegun' };
      },
    },
    verify: {
      logs: ['name'],
      async run({ operator, path: here }, form) {
        await operator.post(`${path`/backups/${fieldOf(form, 'name')}`}/verify`);
        return { to: here, said: 'verificationBegun' };
      },
    },
  },
});

function State({ context, shown }: { context: Context; shown: ShownBackups }) {
  const { texts, formats } = context;
  const { backups, frame } = texts;
  const { folder, time, keep, isEncrypted, made, verified, copied } = shown;
  const copy = copied && { ...copied, problems: copied.failure === null ? [] : [copied.failure] };
  const none = <span class="muted">{frame.none}</span>;
  return (
    <Facts
      facts={[
        [backups.folder, <Foreign key="" text={folder} />],
        [backups.daily, time === null ? none : backups.dailyAt(time)],
        [backups.keep, formats.number(keep)],
        [backups.encrypted, isEncrypted ? frame.yes : frame.no],
        [
          backups.lastMade,
          made ? (
            <RunState key="" context={context} run={made} words={[backups.succeeded, backups.failed]} />
          ) : (
            none
          ),
        ],
        [backups.lastVerified, verified ? <Verified key="" context={context} run={verified} /> : none],
        [
          backups.copied,
          copy ? (
            <RunState key="" context={context} run={copy} words={[backups.succeeded, backups.failed]} />
          ) : (
            none
          ),
        ],
      ]}
    />
  );
}

/** How far changes have been sent to the standby store; nothing without a store. */
function StandbyState({
  context,
  standby: { store, progress },
}: {
  context: Context;
  standby: ShownStandby;
}) {
  const { texts, formats } = context;
  const { backups, frame } = texts;
  if (!progress) return null;
  const { storedCutAt, oldestUnstoredAt, gap, waitingBytes } = progress;
  const none = <span class="muted">{frame.none}</span>;
  const time = (at: number | null) => (at === null ? none : <Time key="" context={context} at={at} />);
  return (
    <>
      <h2>{backups.standby}</h2>
      <Facts
        facts={[
          [backups.standbyStore, <Foreign key="" text={store} />],
          [backups.state, <StandbyOutcome key="" context={context} progress={progress} />],
          [backups.newestCut, time(storedCutAt)],
          [backups.oldestUnstored, time(oldestUnstoredAt)],
          [backups.waitingBytes, formats.bytes(waitingBytes)],
          [backups.gap, gap === null ? none : <Foreign key="" text={gap} />],
        ]}
      />
    </>
  );
}

function StandbyOutcome({
  context,
  progress: { isHeld, failure },
}: {
  context: Context;
  progress: NonNullable<ShownStandby['progress']>;
}) {
  const { backups } = context.texts;
  if (isHeld) return <Status tone="neutral">{backups.standbyHeld}</Status>;
  if (failure !== undefined) return <Foreign text={failure} />;
  return <Status tone="good">{backups.succeeded}</Status>;
}

type RunProps = { context: Context; run: Pick<BackupRun, 'backup' | 'startedAt' | 'endedAt' | 'problems'> };

/** How something has ended, with its reasons. `words` are those for success and failure. */
function RunState({ context, run, words }: RunProps & { words: readonly [string, string] }) {
  const { backup, startedAt, endedAt, problems } = run;
  const [good, bad] = words;
  return (
    <>
      {endedAt === null ? (
        <Status tone="neutral">{context.texts.backups.running}</Status>
      ) : (
        <Status tone={problems.length === 0 ? 'good' : 'bad'}>{problems.length === 0 ? good : bad}</Status>
      )}{' '}
      <Time context={context} at={endedAt ?? startedAt} /> {backup !== null && <code>{backup}</code>}
      {problems.length > 0 && (
        <ul>
          {problems.map((problem) => (
            <li key={problem}>
              <Foreign text={problem} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Verified({ context, run }: { context: Context; run: BackupRun }) {
  const { backups } = context.texts;
  return (
    <>
      <RunState context={context} run={run} words={[backups.undamaged, backups.damaged]} />
      {run.endedAt !== null && !run.isOpened && run.problems.length === 0 && <p>{backups.sumOnly}</p>}
    </>
  );
}

function BackupTable({ context, backups: rows }: { context: Context; backups: ShownBackups['backups'] }) {
  const { formats, texts } = context;
  const { backups, frame } = texts;
  return (
    <Table
      context={context}
      caption={backups.title}
      rows={rows}
      keyOf={({ name }) => name}
      empty={backups.none}
      columns={[
        { label: backups.name, cell: ({ name }) => <code>{name}</code> },
        { label: backups.takenAt, cell: ({ takenAt }) => <Time context={context} at={takenAt} /> },
        { label: backups.size, isNumeric: true, cell: ({ bytes }) => formats.bytes(bytes) },
        { label: backups.files, isNumeric: true, cell: ({ files }) => formats.number(files) },
        {
          label: backups.mailboxes,
          isNumeric: true,
          cell: ({ mailboxes, damagedMailboxes: { length } }) => (
            <>
              {formats.number(mailboxes)}
              {length > 0 && <p>{backups.damagedMailboxes(formats.number(length))}</p>}
            </>
          ),
        },
        { label: backups.encrypted, cell: ({ isEncrypted }) => (isEncrypted ? frame.yes : frame.no) },
        { label: backups.version, cell: ({ version }) => version },
        {
          label: frame.actions,
          cell: ({ name }) => (
            <ActionButton
              context={context}
              action="verify"
              submit={backups.verify}
              label={`${backups.verify}: ${name}`}
              about={{ name }}
            />
          ),
        },
      ]}
    />
  );
}
