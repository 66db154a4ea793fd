/** One site: what keeps its mail, its limits with their origins, what back-off rules have imposed, and its connections, which the operator ends here. */
import { answerOf } from '../../../http/json/calls.ts';
import type { ShownSite } from '../../../queue/control/site-api.ts';
import { Facts, Foreign, Heading, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure } from '../../frame/forms.tsx';
import { FilterField, Filters, Table } from '../../frame/lists.tsx';
import { definePage, fieldOf } from '../../page.ts';
import { mailPath, type OperatorContext, sitePath, tracePath } from './criteria.tsx';
import { Connections } from './site-connections.tsx';
import { Restrictions } from './site-restrictions.tsx';
import { QueueTabs } from './tabs.tsx';

type SiteProps = { context: OperatorContext; shown: ShownSite };

/** Maximum length of the name of a site, as the operation takes it. */
const MAX_NAME = 1_000;

export const sitePage = definePage({
  area: 'operator',
  path: '/queue/site',
  async show(context) {
    const { operator, query, texts } = context;
    const name = (query.get('name') ?? '').trim().slice(0, MAX_NAME);
    const answer =
      name === '' ? undefined : await answerOf(operator.get<{ sites: ShownSite[] }>('/queue/site', { name }));
    const found = answer === undefined || answer instanceof Error ? [] : answer.sites;
    const title = name === '' ? texts.sites.site : texts.site.title(hostsOf(name));
    return {
      title,
      body: (
        <>
          <Heading title={title}>
            {name !== '' && <a href={mailPath({ site: name })}>{texts.sites.mail}</a>}
            {name !== '' && <a href={tracePath(name)}>{texts.sites.trace}</a>}
            {name !== '' && <a href={sitePath(name)}>{texts.queue.refresh}</a>}
          </Heading>
          <QueueTabs context={context} />
          <Filters context={context}>
            <FilterField context={context} name="name" label={texts.site.find} />
          </Filters>
          {name !== '' && found.length === 0 && <p class="notice">{texts.site.notKnown}</p>}
          <Found context={context} sites={found} />
        </>
      ),
    };
  },
  actions: {
    disconnect: {
      logs: ['name', 'connection', 'force'],
      async run({ operator }, form) {
        const [name, connection] = [fieldOf(form, 'name'), fieldOf(form, 'connection')];
        await operator.post('/queue/site/disconnect', {
          name,
          ...(connection !== '' && { connection: Number(connection) }),
          ...(fieldOf(form, 'force') === 'on' && { force: true }),
        });
        return { to: sitePath(name), said: 'connectionsEnd' };
      },
    },
    lift: {
      logs: ['name', 'restriction'],
      async run({ operator }, form) {
        const [name, restriction] = [fieldOf(form, 'name'), fieldOf(form, 'restriction')];
        await operator.post('/queue/site/lift', { name, ...(restriction !== '' && { restriction }) });
        return { to: sitePath(name), said: 'lifted' };
      },
    },
    reset: {
      logs: ['name'],
      async run({ operator }, form) {
        const name = fieldOf(form, 'name');
        await operator.post('/queue/site/reset', { name });
        return { to: sitePath(name), said: 'forgotten' };
      },
    },
  },
});

/** Separates the names of hosts, so that a long key is broken where it may be. */
function hostsOf(name: string): string {
  return name.replaceAll(',', ', ');
}

function Found({ context, sites }: { context: OperatorContext; sites: readonly ShownSite[] }) {
  const [shown, ...others] = sites;
  if (!shown) return null;
  return others.length === 0 ? (
    <Site context={context} shown={shown} />
  ) : (
    <Several context={context} sites={sites} />
  );
}

/** The sites that share a name, each of which has a page by its whole key. */
function Several({ context, sites }: { context: OperatorContext; sites: readonly ShownSite[] }) {
  const { site: texts } = context.texts;
  const { number } = context.formats;
  return (
    <>
      <p>{texts.several(number(sites.length))}</p>
      <Table
        context={context}
        caption={context.texts.sites.title}
        rows={sites}
        keyOf={({ site }) => site}
        columns={[
          {
            label: texts.key,
            cell: ({ site }) => (
              <a href={sitePath(site)}>
                <Foreign text={hostsOf(site)} />
              </a>
            ),
          },
          { label: texts.binds, cell: (shown) => <Binding context={context} shown={shown} /> },
          { label: texts.open, isNumeric: true, cell: ({ sessions }) => number(sessions) },
        ]}
      />
    </>
  );
}

function Site({ context, shown }: SiteProps) {
  const { site: texts } = context.texts;
  const { number } = context.formats;
  const { provider, source, sessions, idleSessions, allowedConnections, claimed, queues } = shown;
  return (
    <>
      <Facts
        facts={[
          [texts.binds, <Binding key="" context={context} shown={shown} />],
          [texts.open, texts.openOf(number(sessions), number(allowedConnections), number(idleSessions))],
          [context.texts.resting.learned, <Learned key="" context={context} shown={shown} />],
          [texts.queues, number(queues)],
          [texts.claimed, number(claimed)],
          [texts.provider, provider ?? texts.noProvider],
          [texts.source, source ?? texts.noSource],
        ]}
      />
      <Connections context={context} shown={shown} />
      <h2>{texts.limits}</h2>
      <Limits context={context} shown={shown} />
      <Restrictions context={context} shown={shown} />
      <Disclosure label={context.texts.resting.forget}>
        <p>{context.texts.resting.forgetText}</p>
        <ActionButton
          context={context}
          action="reset"
          about={{ name: shown.site }}
          submit={context.texts.resting.forget}
        />
      </Disclosure>
    </>
  );
}

/** Shows what the site has taught: how many connections it takes, and its failures. */
function Learned({ context, shown: { learned } }: SiteProps) {
  const { resting: texts } = context.texts;
  const { number } = context.formats;
  const { connections, ceilingUntil, failures } = learned;
  return (
    <>
      {texts.learnedOf(number(connections), number(failures))}
      {ceilingUntil !== null && (
        <>
          {'. '}
          {texts.learnedUntil} <Time context={context} at={ceilingUntil} />
        </>
      )}
    </>
  );
}

/** Shows the limit or rest that keeps the mail of the site, until when, and why. */
function Binding({ context, shown: { binding } }: SiteProps) {
  const { site: texts } = context.texts;
  const { limit, until, reason } = binding;
  return (
    <>
      {texts.bindings[limit]}
      {until !== null && (
        <>
          {' '}
          {texts.until} <Time context={context} at={until} />
        </>
      )}
      {reason !== null && (
        <>
          {': '}
          <Foreign text={reason} />
        </>
      )}
    </>
  );
}

type Limit = ShownSite['limits'][number];

function Limits({ context, shown: { limits } }: SiteProps) {
  const { site: texts } = context.texts;
  const names: Readonly<Record<string, string>> = texts.names;
  return (
    <Table
      context={context}
      caption={texts.limits}
      rows={limits}
      keyOf={({ limit }) => limit}
      columns={[
        { label: texts.limit, cell: ({ limit }) => names[limit] ?? limit },
        {
          label: texts.value,
          isNumeric: true,
          cell: ({ value }) => (value === null ? texts.noLimit : context.formats.number(value)),
        },
        { label: texts.from, cell: ({ origin }) => <Origin context={context} origin={origin} /> },
      ]}
    />
  );
}

function Origin({ context, origin }: { context: OperatorContext; origin: Limit['origin'] }) {
  const { site: texts } = context.texts;
  if (origin.kind === 'default') return texts.origins.default;
  return (
    <>
      {texts.origins[origin.kind]} <code>{origin.name}</code>
      {origin.until !== null && (
        <>
          {' '}
          {texts.until} <Time context={context} at={origin.until} />
        </>
      )}
    </>
  );
}
