/** The DNS records of a domain: what to publish, and what DNS answered at the last check. */
import { Copyable, Facts, Sentence, Status, Time } from '../../frame/elements.tsx';
import type { TenantContext } from '../../page.ts';
import type { Domain } from './choice.tsx';
import { DOMAIN_TONES } from './list.tsx';

type OptionalRecord = Domain['optionalRecords'][number];
type AnyRecord = Domain['records'][number] | OptionalRecord;

/** The records that the domain needs, and those that it may have, by their purpose. */
export function Records({ context, domain }: { context: TenantContext; domain: Domain }) {
  const { domains } = context.texts;
  const byPurpose = Map.groupBy(domain.optionalRecords, ({ purpose }) => purpose);
  return (
    <>
      <h2>{domains.records}</h2>
      <p>{domains.recordsText}</p>
      {domain.records.map((record) => (
        <RecordCard key={record.record + record.name} context={context} record={record} />
      ))}
      <h2>{domains.optional}</h2>
      {[...byPurpose].map(([purpose, records]) => (
        <details key={purpose} class="purpose">
          <summary>
            {domains.purposes[purpose].title} <RecordsStatus context={context} records={records} />
          </summary>
          <p>{domains.purposes[purpose].text}</p>
          {records.map((record) => (
            <RecordCard
              key={`${record.record} ${record.type} ${record.name}`}
              context={context}
              record={record}
            />
          ))}
        </details>
      ))}
    </>
  );
}

/** Says how far the records of a purpose are: verified when all of them are. */
function RecordsStatus({ context, records }: { context: TenantContext; records: readonly OptionalRecord[] }) {
  const { domains } = context.texts;
  const open = records.find(({ status }) => status !== 'verified');
  const status = open?.status ?? 'verified';
  // A record that nobody needs is not missing.
  if (status === 'failed' || status === 'pending')
    return <Status tone="neutral">{domains.notPublished}</Status>;
  return <Status tone={DOMAIN_TONES[status]}>{domains.statuses[status]}</Status>;
}

function RecordCard({ context, record }: { context: TenantContext; record: AnyRecord }) {
  const { domains } = context.texts;
  const { type, name, value, status, found, error, lastCheckedAt, alternative, required } = record;
  const more = numbersOf(record);
  const tone = required || status === 'verified' ? DOMAIN_TONES[status] : 'neutral';
  return (
    <article class="record" aria-label={`${record.record}: ${name}`}>
      <h3>
        {record.record.replaceAll('_', ' ')} <Status tone={tone}>{domains.statuses[status]}</Status>
      </h3>
      <Facts
        facts={[
          [domains.type, type],
          [domains.recordName, <Copyable key="name" context={context} text={name} />],
          ...more.map(([label, number]) => [domains[label], String(number)] as const),
        ]}
      />
      <div class="compared">
        <Facts facts={[[domains.expected, <Copyable key="value" context={context} text={value} />]]} />
        <Facts
          facts={[
            [
              domains.found,
              <Found key="found" context={context} found={found} isChecked={lastCheckedAt !== null} />,
            ],
          ]}
        />
      </div>
      {error !== null && status !== 'verified' && (
        <p class={required ? 'refused' : 'muted'}>
          <Sentence context={context} text={error} />
        </p>
      )}
      {alternative && (
        <details>
          <summary>{domains.alternative(alternative.type)}</summary>
          <Copyable context={context} text={alternative.value} />
        </details>
      )}
      <small class="muted">
        {domains.lastCheckedAt}: <Time context={context} at={lastCheckedAt} />
      </small>
    </article>
  );
}

/** Returns the numbers that a record has besides its value. */
function numbersOf(record: AnyRecord) {
  return (['priority', 'weight', 'port'] as const).flatMap((label) => {
    const number = label in record ? (record as Partial<Record<typeof label, number>>)[label] : undefined;
    return number === undefined ? [] : [[label, number] as const];
  });
}

type FoundProps = { context: TenantContext; found: readonly string[]; isChecked: boolean };

function Found({ context, found, isChecked }: FoundProps) {
  const { domains } = context.texts;
  if (found.length === 0)
    return <span class="muted">{isChecked ? domains.foundNothing : domains.notChecked}</span>;
  return (
    <ul>
      {found.map((value) => (
        <li key={value}>
          <code dir="ltr">{value}</code>
        </li>
      ))}
    </ul>
  );
}
