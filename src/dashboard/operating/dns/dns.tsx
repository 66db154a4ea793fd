/** The DNS records of the machine, the built-in name server, and the updates of another primary name server. */
import type { UpdateReport } from '../../../dns-updates/updates.ts';
import type { OperatorRecords } from '../../../domains/operator-records.ts';
import type { NameServerReport } from '../../../nameserver/name-server.ts';
import { Facts, Foreign, Heading, Sentence, Status, Time, type Tone } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { type Contexts, definePage } from '../../page.ts';
import { Records } from './records.tsx';

type Context = Contexts['operator'];

/** Maximum number of updated records on the page, which stays within 100 kB. */
const MAX_UPDATED = 50;

type UpdateState = UpdateReport['records'][number]['state'];
const TONES: Record<UpdateState, Tone> = {
  conflict: 'bad',
  failed: 'bad',
  removed: 'neutral',
  written: 'good',
  in_place: 'good',
};
/** The states in the order in which they are shown. */
const ORDER = Object.keys(TONES);

export const dnsPage = definePage({
  area: 'operator',
  path: '/dns',
  menu: { group: 'operating', label: ({ dns }) => dns.title },
  async show(context) {
    const { operator, texts } = context;
    const { dns } = texts;
    const [listed, server, updates] = await Promise.all([
      operator.get<OperatorRecords>('/dns-records', { keys: false }),
      operator.get<NameServerReport>('/nameserver'),
      operator.get<UpdateReport>('/dns-updates'),
    ]);
    return {
      title: dns.title,
      body: (
        <>
          <Heading title={dns.title}>
            <ActionButton context={context} action="check" submit={dns.check} />
          </Heading>
          <p>{dns.text}</p>
          <Warnings context={context} warnings={listed.warnings} />
          <h2>{dns.records}</h2>
          <Records context={context} records={listed.records} />
          <p>
            {dns.keys} <code>postrider domain records --zone</code>
          </p>
          <NameServer context={context} report={server} />
          <Updates context={context} report={updates} />
        </>
      ),
    };
  },
  actions: {
    check: {
      isAudited: false,
      async run(context) {
        const { dns } = context.texts;
        const { records, warnings } = await context.operator.get<OperatorRecords>('/dns-records', {
          keys: false,
          check: true,
        });
        return {
          title: dns.checked,
          body: (
            <>
              <Heading title={dns.checked}>
                <a href={context.path}>{dns.back}</a>
              </Heading>
              <Warnings context={context} warnings={warnings} />
              <h2>{dns.records}</h2>
              <Records context={context} records={records} />
            </>
          ),
        };
      },
    },
    update: {
      async run({ operator, path }) {
        await operator.post('/dns-updates/run');
        return { to: path, said: 'dnsUpdated' };
      },
    },
  },
});

function Warnings({ context, warnings }: { context: Context; warnings: readonly string[] }) {
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning} class="notice">
          <Sentence context={context} text={warning} />
        </p>
      ))}
    </>
  );
}

function NameServer({ context, report }: { context: Context; report: NameServerReport }) {
  const { dns } = context.texts;
  const { zone, enabled, status, delegation } = report;
  return (
    <section>
      <h2>{dns.nameServer}</h2>
      {!enabled && (
        <p>
          {dns.off} <code>nameserver.enabled</code>
        </p>
      )}
      {enabled && !status && <p class="notice">{dns.notRunning}</p>}
      {status && (
        <Facts
          facts={[
            [dns.answers, <code key="">{zone}</code>],
            [dns.on, status.addresses.join(', ')],
            [dns.recordCount, context.formats.number(status.records)],
            [dns.serial, String(status.serial)],
          ]}
        />
      )}
      {enabled && <h3>{dns.delegation}</h3>}
      {enabled && <Records context={context} records={delegation} />}
    </section>
  );
}

function Updates({ context, report }: { context: Context; report: UpdateReport }) {
  const { dns, frame } = context.texts;
  const { enabled, server, zones, finishedAt, problem } = report;
  return (
    <section>
      <h2>{dns.updates}</h2>
      {!enabled && (
        <p>
          {dns.updatesOff} <code>dns.update.server</code>
        </p>
      )}
      {enabled && (
        <>
          <Facts
            facts={[
              [dns.server, <Foreign key="" text={server} />],
              [dns.zones, <Foreign key="" text={zones.join(', ')} />],
              [dns.finishedAt, <Time key="" context={context} at={finishedAt} />],
              [dns.problem, <Foreign key="" text={problem ?? frame.none} />],
            ]}
          />
          <ActionButton context={context} action="update" submit={dns.run} />
          <UpdatedRecords context={context} report={report} />
        </>
      )}
    </section>
  );
}

function UpdatedRecords({ context, report }: { context: Context; report: UpdateReport }) {
  const { dns } = context.texts;
  const records = report.records.toSorted(
    (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state),
  );
  return (
    <>
      <Table
        context={context}
        caption={dns.conflicts}
        rows={records.slice(0, MAX_UPDATED)}
        keyOf={({ type, name }) => `${type} ${name}`}
        empty={dns.noRecords}
        columns={[
          { label: dns.type, cell: ({ type }) => type },
          { label: dns.name, cell: ({ name }) => <Foreign text={name} /> },
          {
            label: dns.state,
            cell: ({ state }) => <Status tone={TONES[state]}>{dns.updateStates[state]}</Status>,
          },
          { label: dns.detail, cell: ({ detail }) => <Foreign text={detail} /> },
        ]}
      />
      {records.length > MAX_UPDATED && <p>{dns.more(context.formats.number(MAX_UPDATED))}</p>}
    </>
  );
}
