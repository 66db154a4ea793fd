/** The DNS records of the machine, with what DNS has for each of them once that was asked for. */
import type { OperatorRecords } from '../../../domains/operator-records.ts';
import { Copyable, Facts, Foreign, Sentence, Status, type Tone } from '../../frame/elements.tsx';
import type { Contexts } from '../../page.ts';

type Context = Contexts['operator'];
type OperatorRecord = OperatorRecords['records'][number];
type State = NonNullable<OperatorRecord['published']>['state'];

/** A record to publish; those of a delegation have further types. */
type ShownRecord = { type: string } & Pick<
  OperatorRecord,
  'name' | 'value' | 'purpose' | 'isOptional' | 'published'
>;

/** Maximum number of records on the page, which stays within 100 kB. */
const MAX_LISTED = 60;

const TONES: Record<State, Tone> = {
  published: 'good',
  missing: 'bad',
  different: 'bad',
  unknown: 'neutral',
};

/** A list of records to publish. */
export function Records({ context, records }: { context: Context; records: readonly ShownRecord[] }) {
  return (
    <>
      {records.slice(0, MAX_LISTED).map((record) => (
        <RecordCard key={`${record.type} ${record.name} ${record.value}`} context={context} record={record} />
      ))}
    </>
  );
}

function RecordCard({ context, record }: { context: Context; record: ShownRecord }) {
  const { dns } = context.texts;
  const { type, name, value, purpose, isOptional, published } = record;
  return (
    <article class="record" aria-label={`${type}: ${name}`}>
      <h3>
        {type} <Published context={context} record={record} />
      </h3>
      <Facts
        facts={[
          [dns.name, <Copyable key="name" context={context} text={name} />],
          [dns.value, <Copyable key="value" context={context} text={value} />],
          ...(published?.state === 'different'
            ? [[dns.published, <Foreign key="found" text={published.found.join(', ')} />] as const]
            : []),
        ]}
      />
      <small class="muted">
        <Sentence context={context} text={purpose} />
        {isOptional && ` (${dns.optional})`}
      </small>
    </article>
  );
}

function Published({ context, record }: { context: Context; record: ShownRecord }) {
  const { published, isOptional } = record;
  if (!published) return null;
  const { state, reason } = published;
  const tone = isOptional && state === 'missing' ? 'neutral' : TONES[state];
  return (
    <>
      <Status tone={tone}>{context.texts.dns.states[state]}</Status> <Foreign text={reason} />
    </>
  );
}
