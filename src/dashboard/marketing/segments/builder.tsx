/** The form of a segment: its name and its rules, with the number of contacts for whom they hold. */
import { COLUMN_FIELDS, COMPARISONS_OF, type Comparison } from '../../../audiences/segments/field.ts';
import { AppError } from '../../../system/errors.ts';
import { ACTION_FIELD } from '../../field-names.ts';
import { Field, Form, type Option, Select, Suggestions } from '../../frame/forms.tsx';
import { Why, withLabels } from '../../frame/refusal.tsx';
import type { TenantContext } from '../../page.ts';
import { fitInRows } from '../choices.tsx';
import { type FilterState, kindOf, NO_RULE, PROPERTY, type RuleState, TOPIC, TOPIC_PREFIX } from './rules.ts';

export type BuilderProps = {
  context: TenantContext;
  name: string;
  state: FilterState;
  /** Number of contacts, or why they could not be counted; undefined before somebody has asked. */
  count?: number | AppError | undefined;
  topics: readonly Named[];
  /** The newest broadcasts. */
  broadcasts: { data: readonly { id: string; subject: string }[]; hasMore: boolean };
};

type Named = { id: string; name: string };

export function SegmentForm(props: BuilderProps) {
  const { context, name, state } = props;
  const { segments, frame } = context.texts;
  const others = [
    ...(state.kind === 'rules' ? [{ action: 'add', label: segments.add }] : []),
    { action: 'count', label: segments.count },
  ];
  return (
    <Form context={context} action="save" submit={frame.save} others={others}>
      {/* The Enter key presses the first button of a form, which must not remove a rule. */}
      <button type="submit" class="visually-hidden" tabIndex={-1} name={ACTION_FIELD} value="count">
        {segments.count}
      </button>
      <Field context={context} action="save" name="name" label={segments.name} value={name} isRequired />
      {state.kind === 'json' ? (
        <Field
          context={context}
          action="save"
          name="filter"
          label={segments.json}
          help={segments.jsonHelp}
          rows={16}
          value={state.json}
        />
      ) : (
        <Rules {...props} state={state} />
      )}
      <Count {...props} />
    </Form>
  );
}

/** The number of contacts. A browser with JavaScript asks for it again when somebody stops changing the rules. */
function Count({ context, count }: BuilderProps) {
  const { texts, formats, path, query } = context;
  const { segments } = texts;
  return (
    <p
      id="count"
      role="status"
      hx-post={path + (query.size > 0 ? `?${query}` : '')}
      hx-trigger='input from:"closest form" delay:800ms'
      hx-vals={JSON.stringify({ [ACTION_FIELD]: 'count' })}
      hx-validate="false"
      hx-select="#count"
      hx-swap="outerHTML"
    >
      {typeof count === 'number' && segments.counted(formats.number(count))}
      {count === undefined && segments.notCounted}
      {count instanceof AppError && <NotCounted context={context} refusal={count} />}
    </p>
  );
}

function NotCounted({ context, refusal }: Pick<BuilderProps, 'context'> & { refusal: AppError }) {
  const { segments, frame } = context.texts;
  const { field, key, comparison: cmp, value } = segments;
  const labels: Readonly<Record<string, string>> = { field, key, cmp, value };
  const labelled = (text: string) => withLabels(text, (name) => labels[name], frame.quoted);
  return <Why context={context} refusal={refusal} labelled={labelled} />;
}

function Rules(props: BuilderProps & { state: Extract<FilterState, { kind: 'rules' }> }) {
  const { context, state } = props;
  const { segments } = context.texts;
  const rules = state.rules.length > 0 ? state.rules : [NO_RULE];
  const { topics, broadcasts } = props;
  const lists = {
    ...(!fitInRows(topics, rules.length) && { topicList: 'topics' }),
    ...((broadcasts.hasMore || !fitInRows(broadcasts.data, rules.length)) && { broadcastList: 'broadcasts' }),
  };
  const ops = (['and', 'or'] as const).map((value) => ({ value, label: segments.ops[value] }));
  return (
    <>
      <Select context={context} action="save" name="op" label={segments.op} value={state.op} options={ops} />
      <p>
        <small>{segments.valueHelp}</small>
      </p>
      {rules.map((rule, index) => (
        <RuleFields key={index} {...props} {...lists} rule={rule} index={index} />
      ))}
      {lists.topicList && (
        <Suggestions
          id={lists.topicList}
          options={topics.map(({ id, name: label }) => ({ value: id, label }))}
        />
      )}
      {lists.broadcastList && <Suggestions id={lists.broadcastList} options={broadcastOptions(props)} />}
    </>
  );
}

type RuleProps = BuilderProps & {
  rule: RuleState;
  index: number;
  /** Ids of the suggestions of the page, where the choices of a rule cannot have all topics or broadcasts. */
  topicList?: string;
  broadcastList?: string;
};

function RuleFields(props: RuleProps) {
  const { context, rule, index, topicList } = props;
  const { segments } = context.texts;
  const field = { context, action: '' };
  const isListedTopic = topicList !== undefined && rule.field.startsWith(TOPIC_PREFIX);
  const shown = isListedTopic ? { field: TOPIC, key: rule.field.slice(TOPIC_PREFIX.length) } : rule;
  return (
    <fieldset class="rule">
      <legend>{segments.rule(index + 1)}</legend>
      <Select
        {...field}
        name={`field.${index}`}
        label={segments.field}
        value={shown.field}
        options={fieldOptions(props, shown.field)}
      />
      {[PROPERTY, TOPIC, ''].includes(shown.field) && (
        <Field
          {...field}
          name={`key.${index}`}
          label={shown.field === TOPIC ? segments.topicId : segments.key}
          value={shown.key}
          list={shown.field === TOPIC ? topicList : undefined}
        />
      )}
      <Select
        {...field}
        name={`cmp.${index}`}
        label={segments.comparison}
        value={rule.cmp}
        options={comparisonOptions(context, rule)}
      />
      <Value {...props} />
      <button
        type="submit"
        class="secondary outline"
        name={ACTION_FIELD}
        value={`remove ${index}`}
        aria-label={segments.removeRule(index + 1)}
      >
        {segments.remove}
      </button>
    </fieldset>
  );
}

/** The value of a rule: a choice where only few are possible. */
function Value(props: RuleProps) {
  const { context, rule, index, broadcastList } = props;
  const { segments, frame } = context.texts;
  const field = {
    context,
    action: '',
    name: `value.${index}`,
    label: segments.value,
    value: rule.value,
  };
  const kind = kindOf(rule.field);
  const yesOrNo = [
    { value: 'true', label: frame.yes },
    { value: 'false', label: frame.no },
  ];
  if (kind === 'flag') return <Select {...field} options={yesOrNo} />;
  if (kind === 'topic') {
    const { audiences } = context.texts;
    const choices = [
      { value: 'true', label: audiences.topicIn },
      { value: 'false', label: audiences.topicOut },
    ];
    return <Select {...field} options={choices} />;
  }
  if (kind === 'activity' && (rule.cmp === 'eq' || rule.cmp === 'ne')) {
    if (broadcastList !== undefined) return <Field {...field} help={frame.newestIds} list={broadcastList} />;
    return <Select {...field} options={withPresent(broadcastOptions(props), rule.value)} />;
  }
  return <Field {...field} />;
}

function broadcastOptions({ broadcasts }: BuilderProps): Option[] {
  return broadcasts.data.map(({ id, subject }) => ({ value: id, label: subject }));
}

function fieldOptions({ context, topics, topicList }: RuleProps, present: string): Option[] {
  const { segments } = context.texts;
  const columns = COLUMN_FIELDS.map((value) => ({ value, label: segments.fields[value] ?? value }));
  return withPresent(
    [
      { value: '', label: segments.noField },
      ...columns,
      { value: PROPERTY, label: segments.fields[PROPERTY] ?? PROPERTY },
      ...(topicList === undefined
        ? topics.map(({ id, name }) => ({ value: TOPIC_PREFIX + id, label: segments.topic(name) }))
        : [{ value: TOPIC, label: segments.oneTopic }]),
    ],
    present,
  );
}

/** A rule without a field may become one of any kind. */
function comparisonOptions({ texts: { segments } }: TenantContext, { field, cmp }: RuleState): Option[] {
  const all = Object.keys(segments.comparisons) as Comparison[];
  const possible = field === '' ? all : COMPARISONS_OF[kindOf(field)];
  const options = possible.map((value) => ({ value: value as string, label: segments.comparisons[value] }));
  return cmp === '' ? options : withPresent(options, cmp);
}

/** Adds the present value to a choice that does not offer it, so that saving does not change it. */
function withPresent(options: Option[], value: string): Option[] {
  if (value === '' || options.some((option) => option.value === value)) return options;
  return [...options, { value, label: value }];
}
