/** Shows what a restored installation keeps back and what its restoration did, with the button that lets everything leave. */
import type { Restoration } from '../../backups/release.ts';
import { countText, MAX_COUNTED } from '../frame/counted.ts';
import { Facts, Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Disclosure } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { type Contexts, definePage } from '../page.ts';
import { TaskKind } from './task-kind.tsx';

type Props = { context: Contexts['operator']; found: Restoration };

export const restorationPage = definePage({
  area: 'operator',
  path: '/restoration',
  within: '/backups',
  async show(context) {
    const { backups } = context.texts;
    const found = await context.operator.get<Restoration>('/restoration', { maximum: MAX_COUNTED });
    const isKept = found.restoredAt !== null;
    return {
      title: backups.restoration,
      body: (
        <>
          <Heading title={backups.restoration}>
            <a href="/operator/backups">{backups.title}</a>
          </Heading>
          <p class={isKept ? 'notice' : undefined}>{isKept ? backups.kept : backups.notRestored}</p>
          {found.last && <LastRestore context={context} last={found.last} />}
          {isKept && <Kept context={context} found={found} />}
        </>
      ),
    };
  },
  actions: {
    release: {
      async run({ operator, path }) {
        await operator.post('/restoration/release');
        return { to: path, said: 'released' };
      },
    },
  },
});

function LastRestore({
  context,
  last,
}: {
  context: Props['context'];
  last: NonNullable<Restoration['last']>;
}) {
  const { formats, texts } = context;
  const { backups, frame } = texts;
  return (
    <Facts
      facts={[
        [backups.keptSince, <Time key="" context={context} at={last.restoredAt} />],
        [backups.state, <Time key="" context={context} at={last.takenAt} />],
        [backups.from, <Foreign key="" text={last.backup} />],
        [backups.version, last.version],
        [backups.newUids, formats.number(last.mailboxes)],
        [backups.replaced, <Foreign key="" text={last.replaced ?? frame.none} />],
      ]}
    />
  );
}

function Kept({ context, found }: Props) {
  const { mail, tasks, dnsUpdates, dailyBackup, copyCommand } = found;
  const { texts } = context;
  const { backups } = texts;
  const count = (number: number) => countText(context, number);
  return (
    <>
      <Facts
        facts={[
          [backups.due, count(mail.due)],
          ...(mail.due > 0
            ? [[backups.oldest, <Time key="" context={context} at={mail.oldestDueAt} />] as const]
            : []),
          [backups.later, count(mail.later)],
          ...(dnsUpdates
            ? [[backups.updates, `${dnsUpdates.server}: ${dnsUpdates.zones.join(', ')}`] as const]
            : []),
          ...(dailyBackup
            ? [[backups.daily, `${backups.dailyAt(dailyBackup.time)}, ${dailyBackup.folder}`] as const]
            : []),
          ...(copyCommand ? [[backups.copied, <code key="">{copyCommand.join(' ')}</code>] as const] : []),
        ]}
      />
      {tasks.length > 0 && (
        <Table
          context={context}
          caption={backups.tasks}
          rows={tasks}
          keyOf={({ kind }) => kind}
          columns={[
            { label: texts.tasks.kind, cell: ({ kind }) => <TaskKind context={context} kind={kind} /> },
            {
              label: texts.queue.waiting,
              isNumeric: true,
              cell: ({ waiting }) => count(waiting),
            },
          ]}
        />
      )}
      <Disclosure label={backups.release} isOpen={context.failed !== undefined}>
        <p>{backups.releaseText}</p>
        <ActionButton context={context} action="release" submit={backups.release} isDangerous />
      </Disclosure>
    </>
  );
}
