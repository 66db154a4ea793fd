/** The sources of outgoing mail: which are in use, what receivers find of them, which mail they are for, and their warm-ups. */
import { isIPv6 } from 'node:net';
import type { DoctorAnswer } from '../../../doctor/admin-api.ts';
import type { Finding } from '../../../doctor/check.ts';
import { path } from '../../../http/json/calls.ts';
import type { ShownProbe, ShownSources } from '../../../queue/sources/admin-api.ts';
import type { ShownPool, ShownSource } from '../../../queue/sources/list.ts';
import { Foreign, Heading, Sentence, Status, Time, type Tone } from '../../frame/elements.tsx';
import { isWhole, Later } from '../../frame/later.tsx';
import { Table } from '../../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../../page.ts';
import { TenantLink } from '../tenant-link.tsx';
import { ByHand, probeView, SourceActions, SuspendForm } from './suspensions.tsx';
import { dayText, WarmUps } from './warm-ups.tsx';

type Context = Contexts['operator'];

export const sourcesPage = definePage({
  area: 'operator',
  path: '/sources',
  menu: { group: 'operating', label: ({ sources }) => sources.title },
  async show(context) {
    const { operator } = context;
    const { sources: texts } = context.texts;
    const [shown, checked] = await Promise.all([
      operator.get<ShownSources>('/sources'),
      isWhole(context) ? operator.get<DoctorAnswer>('/doctor', { check: 'sources' }) : undefined,
    ]);
    return {
      title: texts.title,
      body: (
        <>
          <Heading title={texts.title} />
          <p>{texts.text}</p>
          {shown.sources.length === 0 ? (
            <p class="empty">
              {texts.none} <code>outbound.sources</code>
            </p>
          ) : (
            <>
              <SourceTable context={context} sources={shown.sources} />
              <SuspendForm context={context} sources={shown.sources} />
              <PoolTable context={context} pools={shown.pools} />
              <h2>{texts.checks}</h2>
              <p>{texts.checksText}</p>
              <Later context={context} id="checks">
                <Checks context={context} findings={checksOf(shown, checked?.findings ?? [])} />
              </Later>
              <WarmUps context={context} shown={shown} />
            </>
          )}
        </>
      ),
    };
  },
  actions: {
    start: {
      logs: ['source', 'curve'],
      async run({ operator, path: here }, form) {
        const address = path`/sources/${fieldOf(form, 'source')}/warm-up`;
        await operator.put(address, { curve: fieldOf(form, 'curve') });
        return { to: here, said: 'saved' };
      },
    },
    suspend: {
      logs: ['source', 'reason'],
      async run({ operator, path: here }, form) {
        const reason = fieldOf(form, 'reason').trim();
        const address = path`/sources/${fieldOf(form, 'source')}/suspension`;
        await operator.put(address, reason === '' ? {} : { reason });
        return { to: here, said: 'saved' };
      },
    },
    resume: {
      logs: ['source'],
      async run({ operator, path: here }, form) {
        await operator.delete(path`/sources/${fieldOf(form, 'source')}/suspension`);
        return { to: here, said: 'saved' };
      },
    },
    probe: {
      logs: ['source'],
      async run(context, form) {
        const source = fieldOf(form, 'source');
        return probeView(
          context,
          await context.operator.post<ShownProbe>(path`/sources/${source}/probe`, {}),
        );
      },
    },
    stop: {
      logs: ['source'],
      async run({ operator, path: here }, form) {
        await operator.delete(path`/sources/${fieldOf(form, 'source')}/warm-up`);
        return { to: here, said: 'saved' };
      },
    },
  },
});

function SourceTable({ context, sources }: { context: Context; sources: readonly ShownSource[] }) {
  const { sources: texts } = context.texts;
  return (
    <Table
      context={context}
      caption={texts.title}
      rows={sources}
      keyOf={({ name }) => name}
      columns={[
        {
          label: texts.source,
          cell: ({ name, ehlo }) => (
            <>
              <code>{name}</code>
              <div>
                EHLO <Foreign text={ehlo} />
              </div>
            </>
          ),
        },
        { label: texts.addresses, cell: (source) => <Addresses context={context} source={source} /> },
        { label: texts.through, cell: ({ proxy }) => proxyText(context, proxy) },
        { label: texts.pools, cell: ({ pools }) => <Foreign text={pools.join(', ')} /> },
        { label: texts.warmUp, cell: ({ warmUp }) => (warmUp ? dayText(context, warmUp) : texts.warm) },
        {
          label: context.texts.frame.actions,
          cell: (source) => <SourceActions context={context} source={source} />,
        },
      ]}
    />
  );
}

/** The word of the operator about a source, and each address with its state. */
function Addresses({ context, source }: { context: Context; source: ShownSource }) {
  return (
    <>
      <ByHand context={context} source={source} />
      {source.addresses.map((address) => (
        <div key={address}>
          <code>{address}</code> <AddressState context={context} source={source} address={address} />
        </div>
      ))}
    </>
  );
}

type AddressProps = { context: Context; source: ShownSource; address: string };

/** An address that is suspended is probed until it answers. One of IPv6 is not used before it is proven. */
function AddressState({ context, source: { suspended, suspendedByHand, ipv6 }, address }: AddressProps) {
  const { sources: texts } = context.texts;
  const suspension = suspended.find((one) => one.address === address);
  if (suspension)
    return (
      <>
        <Status tone="bad">{texts.suspended}</Status> {texts.since}{' '}
        <Time context={context} at={suspension.since} />: <Foreign text={suspension.reason} />
        <div>
          {texts.probed} <Time context={context} at={suspension.until} />
        </div>
      </>
    );
  if (suspendedByHand) return null;
  if (isIPv6(address) && ipv6 === 'proven') return <Status tone="neutral">{texts.onlyProven}</Status>;
  return <Status tone="good">{texts.inUse}</Status>;
}

function proxyText({ texts: { sources: texts } }: Context, proxy: ShownSource['proxy']): string {
  if (proxy === null) return texts.thisMachine;
  return texts.proxyOf(texts.proxies[proxy.kind], proxy.address, String(proxy.port));
}

function PoolTable({ context, pools }: { context: Context; pools: readonly ShownPool[] }) {
  const { sources: texts, queue } = context.texts;
  return (
    <>
      <h2>{texts.pools}</h2>
      <Table
        context={context}
        caption={texts.pools}
        rows={pools}
        keyOf={({ name }) => name}
        columns={[
          { label: texts.pool, cell: ({ name }) => <code>{name}</code> },
          { label: texts.itsSources, cell: ({ sources }) => <Foreign text={sources.join(', ')} /> },
          {
            label: texts.mailOf,
            cell: ({ tenantId }) => (tenantId === null ? texts.all : <TenantLink id={tenantId} />),
          },
          { label: texts.mailTo, cell: ({ domain }) => <Foreign text={domain ?? texts.all} /> },
          { label: texts.kind, cell: ({ kind }) => (kind === null ? texts.all : queue.kinds[kind]) },
        ]}
      />
    </>
  );
}

/** Returns the findings about addresses. A source that the operator has suspended is not looked up, and the first table says so. */
function checksOf({ sources }: ShownSources, findings: readonly Finding[]): Finding[] {
  const names = new Set(sources.map(({ name }) => name));
  return findings.filter(({ subject }) => !names.has(subject));
}

const TONES: Record<Finding['level'], Tone> = { ok: 'good', warn: 'warning', fail: 'bad' };

/** The findings of DNS about each address at this moment. */
function Checks({ context, findings }: { context: Context; findings: readonly Finding[] }) {
  const { sources: texts } = context.texts;
  return (
    <Table
      context={context}
      caption={texts.checks}
      rows={findings}
      keyOf={({ subject }) => subject}
      empty={texts.noChecks}
      columns={[
        { label: texts.source, cell: ({ subject }) => <Foreign text={subject} /> },
        {
          label: texts.result,
          cell: ({ level }) => <Status tone={TONES[level]}>{texts.results[level]}</Status>,
        },
        { label: texts.finding, cell: ({ says }) => <Sentence context={context} text={says} /> },
        { label: texts.advice, cell: ({ advice }) => advice && <Sentence context={context} text={advice} /> },
      ]}
    />
  );
}
