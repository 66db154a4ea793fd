/** Shows the restrictions that back-off rules have imposed at a site. The operator lifts one, or all with the rest of the site. */
import type { ShownSite } from '../../../queue/control/site-api.ts';
import { providerOfPlace } from '../../../queue/shaping/restriction.ts';
import { Foreign, Time } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { TenantLink } from '../tenant-link.tsx';
import type { OperatorContext } from './criteria.tsx';

type Restriction = ShownSite['restrictions'][number];
type Props = { context: OperatorContext; shown: ShownSite };

export function Restrictions({ context, shown: { site, binding, restrictions } }: Props) {
  const { site: texts, frame } = context.texts;
  const button = { context, action: 'lift' };
  return (
    <section>
      <h2>{texts.restrictions}</h2>
      <Table
        context={context}
        caption={texts.restrictions}
        rows={restrictions}
        keyOf={({ id }) => id}
        empty={texts.noRestrictions}
        columns={[
          { label: texts.rule, cell: ({ rule }) => <code>{rule}</code> },
          { label: texts.concerns, cell: (one) => <Concerned context={context} one={one} /> },
          { label: texts.effect, cell: (one) => effectOf(context, one) },
          { label: texts.since, cell: ({ since }) => <Time context={context} at={since} /> },
          { label: texts.ends, cell: ({ until }) => <Time context={context} at={until} /> },
          { label: texts.reply, cell: ({ reason }) => <Foreign text={reason} /> },
          {
            label: frame.actions,
            cell: ({ id, rule }) => (
              <ActionButton
                {...button}
                about={{ name: site, restriction: id }}
                submit={texts.lift}
                label={`${texts.lift}: ${rule}`}
              />
            ),
          },
        ]}
      />
      {(binding.limit === 'rest' || restrictions.length > 0) && (
        <>
          <p>{texts.liftText}</p>
          <ActionButton {...button} about={{ name: site }} submit={texts.liftAll} />
        </>
      )}
    </section>
  );
}

function Concerned({
  context,
  one: { place, tenantId, source },
}: {
  context: OperatorContext;
  one: Restriction;
}) {
  const { site: texts } = context.texts;
  const provider = providerOfPlace(place);
  if (tenantId !== null)
    return (
      <>
        {texts.ofTenant} <TenantLink id={tenantId} />
      </>
    );
  if (source !== null) return <Foreign text={texts.ofSource(source)} />;
  return provider === undefined ? texts.everything : texts.ofProvider(provider);
}

/** Returns the limits that a rule has lowered, in words. */
function effectOf({ texts: { site: texts }, formats }: OperatorContext, { lower }: Restriction): string {
  if (lower === null) return texts.rests;
  const names: Readonly<Record<string, string>> = texts.names;
  return Object.entries(lower)
    .map(([name, value]) => `${names[name] ?? name}: ${formats.number(value)}`)
    .join(', ');
}
