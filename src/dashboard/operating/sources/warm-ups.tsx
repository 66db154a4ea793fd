/** The warm-ups of sources: the day of each and what it has sent today, with what starts and ends one. */
import type { ShownSources } from '../../../queue/sources/admin-api.ts';
import type { ShownSource } from '../../../queue/sources/list.ts';
import { Facts, Foreign, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Form, Select } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import type { Contexts } from '../../page.ts';

type Context = Contexts['operator'];
type WarmUpProgress = NonNullable<ShownSource['warmUp']>;

export function WarmUps({ context, shown: { sources, curves } }: { context: Context; shown: ShownSources }) {
  const { sources: texts } = context.texts;
  const warming = sources.flatMap(({ name, warmUp }) => (warmUp ? [{ name, warmUp }] : []));
  return (
    <section>
      <h2>{texts.warmUps}</h2>
      <p>{texts.warmUpsText}</p>
      {warming.length === 0 && <p class="empty">{texts.noWarmUps}</p>}
      {warming.map(({ name, warmUp }) => (
        <Progress key={name} context={context} name={name} warmUp={warmUp} />
      ))}
      <Disclosure label={texts.start} isOpen={context.failed?.action === 'start'}>
        <StartForm context={context} sources={sources} curves={curves} />
      </Disclosure>
    </section>
  );
}

/** Returns the day of a warm-up in words. */
export function dayText({ formats, texts }: Context, { day, days }: WarmUpProgress): string {
  const { day: dayOf, complete, unknownCurve } = texts.sources;
  if (days === null) return unknownCurve;
  return day > days ? complete : dayOf(formats.number(day), formats.number(days));
}

function Progress({ context, name, warmUp }: { context: Context; name: string; warmUp: WarmUpProgress }) {
  const { sources: texts } = context.texts;
  const { number } = context.formats;
  const { curve, startedAt, nextDayAt, providers } = warmUp;
  const title = texts.warmUpOf(name);
  return (
    <>
      <h3>{title}</h3>
      <Facts
        facts={[
          [texts.present, dayText(context, warmUp)],
          [texts.curve, <code key="">{curve}</code>],
          [texts.startedAt, <Time key="" context={context} at={startedAt} />],
          [texts.nextDayAt, <Time key="" context={context} at={nextDayAt} />],
        ]}
      />
      <Table
        context={context}
        caption={title}
        rows={providers}
        keyOf={({ provider }) => provider}
        columns={[
          {
            label: texts.provider,
            cell: ({ provider }) => (provider === 'other' ? texts.other : <Foreign text={provider} />),
          },
          { label: texts.sentToday, isNumeric: true, cell: ({ firstAttempts }) => number(firstAttempts) },
          {
            label: texts.limitToday,
            isNumeric: true,
            cell: ({ cap }) => (cap === null ? texts.noLimit : number(cap)),
          },
        ]}
      />
      <Disclosure label={texts.stop}>
        <p>{texts.stopText}</p>
        <ActionButton
          context={context}
          action="stop"
          about={{ source: name }}
          submit={texts.stop}
          label={`${texts.stop}: ${name}`}
          isDangerous
        />
      </Disclosure>
    </>
  );
}

type StartProps = { context: Context; sources: readonly ShownSource[]; curves: readonly string[] };

function StartForm({ context, sources, curves }: StartProps) {
  const { sources: texts } = context.texts;
  const field = { context, action: 'start' };
  const optionOf = (value: string) => ({ value, label: value });
  return (
    <Form context={context} action="start" submit={texts.start}>
      <p>{texts.startText}</p>
      <Select
        {...field}
        name="source"
        label={texts.source}
        options={sources.map(({ name }) => optionOf(name))}
      />
      <Select {...field} name="curve" label={texts.curve} options={curves.map(optionOf)} />
    </Form>
  );
}
