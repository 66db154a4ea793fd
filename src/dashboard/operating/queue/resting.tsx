/**
 * The page of resting sites: each says why its mail waits, until when, and how much of it. The operator lifts rests and restrictions here,
 * and resets what sites have taught.
 */

import { answerOf } from '../../../http/json/calls.ts';
import type { ShownKept, ShownKeptSites } from '../../../queue/control/kept-sites.ts';
import { providerOfPlace } from '../../../queue/shaping/restriction.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import { NextPager, Table } from '../../frame/lists.tsx';
import { definePage, fieldOf } from '../../page.ts';
import { TenantLink } from '../tenant-link.tsx';
import { changePath, type OperatorContext, Refused, sitePath } from './criteria.tsx';
import { QueueTabs } from './tabs.tsx';

/** Number of entries on a page, which stays within 100 kB. */
const PAGE_SIZE = 50;

type Props = { context: OperatorContext; one: ShownKept };

export const restingPage = definePage({
  area: 'operator',
  path: '/queue/resting',
  async show(context) {
    const { operator, query, texts, formats } = context;
    const { resting } = texts;
    const asked = { limit: PAGE_SIZE, after: query.get('after') ?? '' };
    const answer = await answerOf(operator.get<ShownKeptSites>('/queue/sites', asked));
    return {
      title: resting.title,
      body: (
        <>
          <Heading title={resting.title}>
            <a href={context.path}>{texts.queue.refresh}</a>
          </Heading>
          <QueueTabs context={context} />
          <p>{resting.text}</p>
          {answer instanceof Error ? (
            <Refused context={context} refusal={answer} />
          ) : (
            <>
              {answer.total > answer.sites.length && (
                <p>{resting.shown(formats.number(answer.sites.length), formats.number(answer.total))}</p>
              )}
              <KeptTable context={context} kept={answer.sites} />
              <NextPager context={context} next={answer.next} />
            </>
          )}
        </>
      ),
    };
  },
  actions: {
    lift: {
      logs: ['name', 'restriction'],
      async run({ operator, path: here }, form) {
        const [name, restriction] = [fieldOf(form, 'name'), fieldOf(form, 'restriction')];
        await operator.post('/queue/site/lift', { name, ...(restriction !== '' && { restriction }) });
        return { to: here, said: 'lifted' };
      },
    },
    reset: {
      logs: ['name'],
      async run({ operator, path: here }, form) {
        await operator.post('/queue/site/reset', { name: fieldOf(form, 'name') });
        return { to: here, said: 'forgotten' };
      },
    },
  },
});

function KeptTable({ context, kept }: { context: OperatorContext; kept: readonly ShownKept[] }) {
  const { resting: texts, sites, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={texts.title}
      rows={kept}
      keyOf={({ place, source, cause, restriction, hold }) =>
        [place, source, cause, restriction?.id, hold].join(' ')
      }
      empty={texts.none}
      columns={[
        { label: sites.site, cell: (one) => <Place context={context} one={one} /> },
        { label: texts.cause, cell: (one) => <Cause context={context} one={one} /> },
        {
          label: texts.until,
          cell: ({ until, cause }) =>
            (until !== null || cause === 'hold') && (
              <Time context={context} at={until} otherwise={texts.open} />
            ),
        },
        {
          label: texts.waiting,
          isNumeric: true,
          cell: ({ waiting }) => context.formats.number(waiting),
        },
        { label: texts.reason, cell: ({ reason }) => reason && <Foreign text={reason} /> },
        { label: frame.actions, cell: (one) => <Ends context={context} one={one} /> },
      ]}
    />
  );
}

/** The site, or all sites of a provider, with the tenant and the source when the mail of others is not kept. */
function Place({ context, one: { place, tenantId, source } }: Props) {
  const { resting: texts, site } = context.texts;
  const provider = providerOfPlace(place);
  return (
    <>
      {provider === undefined ? (
        <a href={sitePath(place)}>
          <Foreign text={place.replaceAll(',', ', ')} />
        </a>
      ) : (
        site.ofProvider(provider)
      )}
      {tenantId !== null && (
        <div>
          {texts.ofTenant} <TenantLink id={tenantId} />
        </div>
      )}
      {source !== null && (
        <div>
          <Foreign text={texts.ofSource(source)} />
        </div>
      )}
    </>
  );
}

/** The cause with the rule, and with the limits that are lowered or reached. */
function Cause({ context, one: { cause, restriction, limits } }: Props) {
  const { resting: texts, site } = context.texts;
  const names: Readonly<Record<string, string>> = site.names;
  const lowered = Object.entries(limits ?? {}).map(
    ([name, value]) => `${names[name] ?? name}: ${context.formats.number(value)}`,
  );
  const effect = limits === null ? site.rests : lowered.join(', ');
  return (
    <>
      {texts.causes[cause]}
      {restriction && (
        <>
          {' '}
          <code>{restriction.rule}</code>
        </>
      )}
      {(restriction || limits) && ` (${effect})`}
    </>
  );
}

/** Returns the control that ends an entry before its time. A rate has none, because it ends by itself at once. */
function Ends({ context, one: { place, tenantId, source, cause, restriction, hold } }: Props) {
  const { resting: texts, site, sites } = context.texts;
  const about = { name: place, ...(restriction && { restriction: restriction.id }) };
  const subject = [restriction?.rule, tenantId, source, place].filter(Boolean).join(' ');
  const labelled = (submit: string) => ({ context, about, submit, label: `${submit}: ${subject}` });
  switch (cause) {
    case 'failures':
    case 'rule':
      return <ActionButton {...labelled(site.lift)} action="lift" />;
    case 'learned':
      return <ActionButton {...labelled(texts.forgetLearned)} action="reset" />;
    case 'hold':
      return (
        <a href={changePath({ verb: 'release', hold: hold ?? '' })} aria-label={`${sites.resume}: ${place}`}>
          {sites.resume}
        </a>
      );
    case 'probe':
    case 'rate':
      return null;
  }
}
