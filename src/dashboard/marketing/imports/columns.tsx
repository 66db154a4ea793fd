/** The fields of the form in which the columns of a file are mapped. */
import { Field, type Option, Select, Suggestions } from '../../frame/forms.tsx';
import type { TenantContext } from '../../page.ts';
import { fitInRows } from '../choices.tsx';
import { type Column, choiceOf, MAX_SHOWN_COLUMNS, TOPIC } from './mapping.ts';

type Props = {
  context: TenantContext;
  columns: readonly Column[];
  topics: readonly { id: string; name: string }[];
};

export function ColumnFields({ context, columns, topics }: Props) {
  const { texts, formats } = context;
  const { jobs } = texts;
  const field = { context, action: 'start' };
  const shown = columns.slice(0, MAX_SHOWN_COLUMNS);
  const topicList = fitInRows(topics, shown.length) ? undefined : 'topics';
  return (
    <>
      {topicList && (
        <Suggestions id={topicList} options={topics.map(({ id, name: label }) => ({ value: id, label }))} />
      )}
      {shown.map((one) => {
        const { column, heading } = one;
        const { field: value, key } = choiceOf(one.field, topicList);
        return (
          <fieldset key={column} class="rule">
            <legend>{jobs.column(column, heading)}</legend>
            <Select
              {...field}
              name={`field.${column}`}
              label={jobs.becomes}
              value={value}
              options={optionsFor(context, { topics, topicList }, value)}
            />
            <Field
              {...field}
              name={`key.${column}`}
              label={topicList === undefined ? jobs.key : jobs.keyOrTopic}
              value={key || foldedName(heading)}
              list={topicList}
            />
          </fieldset>
        );
      })}
      {columns.length > MAX_SHOWN_COLUMNS && <p>{jobs.moreColumns(formats.number(MAX_SHOWN_COLUMNS))}</p>}
    </>
  );
}

function optionsFor(
  { texts: { jobs } }: TenantContext,
  { topics, topicList }: Pick<Props, 'topics'> & { topicList: string | undefined },
  present: string,
): readonly Option[] {
  const options = [
    { value: '', label: jobs.leaveOut },
    ...Object.entries(jobs.fields).map(([value, label]) => ({ value, label })),
    ...(topicList === undefined
      ? topics.map(({ id, name }) => ({ value: `topics.${id}`, label: jobs.topic(name) }))
      : [{ value: TOPIC, label: jobs.oneTopic }]),
  ];
  if (options.some(({ value }) => value === present)) return options;
  return [...options, { value: present, label: present }];
}

/** Returns a name that a property may have, from the heading of a column, for whoever makes a property of it. */
function foldedName(heading: string): string {
  return heading
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 64);
}
