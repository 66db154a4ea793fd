/** A rule of a mailbox in a form, or a new one: its conditions, and what it does. */
import type { Form as Sent } from '../../http/pages/form-body.ts';
import { Heading } from '../frame/elements.tsx';
import { Checkbox, Field, Form, Select } from '../frame/forms.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { isSize, OPERATORS, operatorOf } from './rule-text.ts';
import {
  type Condition,
  indexOf,
  RULES_PAGE,
  type Rule,
  readRules,
  requireSeen,
  versionField,
} from './seen-rules.ts';

type MailboxContext = Contexts['mailbox'];

const FIELDS = ['from', 'to', 'subject', 'header', 'body', 'larger', 'smaller'] as const;
/** Maximum number of conditions of a rule in the API, and the numbers of rows that a form has at least and beyond those that are filled. */
const MAX_CONDITIONS = 20;
const MIN_ROWS = 2;
const MORE_ROWS = 2;

const NEW_RULE: Rule = { conditions: [] };

export const rulePage = definePage({
  area: 'mailbox',
  path: '/rules/:number',
  async show(context) {
    const { rules, frame } = context.texts;
    const seen = await readRules(context);
    const number = context.params['number'] ?? '';
    const rule = number === 'new' ? NEW_RULE : (seen.rules[indexOf(seen, number)] ?? NEW_RULE);
    const title = number === 'new' ? rules.add : rules.change;
    return {
      title,
      body: (
        <>
          <Heading title={title}>
            <a href={RULES_PAGE}>{rules.back}</a>
          </Heading>
          <Form context={context} action="save" submit={frame.save} keepsDraft>
            {Object.entries(versionField(seen)).map(([name, value]) => (
              <input key={name} type="hidden" name={name} value={value} />
            ))}
            <Field context={context} action="save" name="name" label={rules.name} value={rule.name ?? ''} />
            <Conditions context={context} rule={rule} />
            <Actions context={context} rule={rule} />
          </Form>
        </>
      ),
    };
  },
  actions: {
    save: {
      async run(context, form) {
        const seen = await readRules(context);
        requireSeen(seen, form);
        const number = context.params['number'] ?? '';
        const index = number === 'new' ? seen.rules.length : indexOf(seen, number);
        await context.api.patch('', { rules: seen.rules.toSpliced(index, 1, ruleOf(form)) });
        return { to: RULES_PAGE, said: 'saved' };
      },
    },
  },
});

function Conditions({ context, rule }: { context: MailboxContext; rule: Rule }) {
  const { rules } = context.texts;
  const { conditions, match = 'all' } = rule;
  const count = Math.min(MAX_CONDITIONS, Math.max(MIN_ROWS, conditions.length + MORE_ROWS));
  return (
    <fieldset>
      <legend>{rules.applies}</legend>
      <Select
        context={context}
        action="save"
        name="match"
        label={rules.match}
        value={match}
        options={[
          { value: 'all', label: rules.matchAll },
          { value: 'any', label: rules.matchAny },
        ]}
      />
      <p>{rules.conditionsHelp}</p>
      {Array.from({ length: count }, (_, index) => (
        <ConditionRow key={index} context={context} number={index + 1} condition={conditions[index]} />
      ))}
    </fieldset>
  );
}

type RowProps = { context: MailboxContext; number: number; condition: Condition | undefined };

function ConditionRow({ context, number, condition }: RowProps) {
  const { rules } = context.texts;
  const field = { context, action: 'save' };
  return (
    <fieldset class="row">
      <legend>{rules.condition(number)}</legend>
      <Select
        {...field}
        name={`field${number}`}
        label={rules.field}
        value={condition?.field ?? 'from'}
        options={FIELDS.map((value) => ({ value, label: rules.fields[value] }))}
      />
      <Field {...field} name={`header${number}`} label={rules.header} value={condition?.header ?? ''} />
      <Select
        {...field}
        name={`operator${number}`}
        label={rules.operator}
        value={condition ? operatorOf(condition) : 'contains'}
        options={OPERATORS.map((value) => ({ value, label: rules.operators[value] }))}
      />
      <Field {...field} name={`value${number}`} label={rules.value} value={condition?.value ?? ''} />
    </fieldset>
  );
}

function Actions({ context, rule }: { context: MailboxContext; rule: Rule }) {
  const { rules } = context.texts;
  const field = { context, action: 'save' };
  const { fileInto = '', forwardTo = '', markRead, star, discard, stop = true } = rule;
  return (
    <fieldset>
      <legend>{rules.does}</legend>
      <Field {...field} name="fileInto" label={rules.fileInto} value={fileInto} help={rules.fileIntoHelp} />
      <Field {...field} name="forwardTo" type="email" label={rules.forwardTo} value={forwardTo} />
      <Checkbox {...field} name="markRead" label={rules.markRead} isChecked={markRead === true} />
      <Checkbox {...field} name="star" label={rules.star} isChecked={star === true} />
      <Checkbox {...field} name="discard" label={rules.discard} isChecked={discard === true} />
      <Checkbox {...field} name="stop" label={rules.stop} isChecked={stop} />
    </fieldset>
  );
}

/** Returns the rule that a form describes. What the API refuses, it names. */
function ruleOf(form: Sent): Rule {
  const text = (name: string) => fieldOf(form, name).trim();
  const isOn = (name: string) => form.values(name).includes('on');
  const [name, fileInto, forwardTo] = [text('name'), text('fileInto'), text('forwardTo')];
  return {
    ...(name !== '' && { name }),
    match: text('match') === 'any' ? 'any' : 'all',
    conditions: Array.from({ length: MAX_CONDITIONS }, (_, index) => conditionOf(form, index + 1)).filter(
      (condition) => condition !== undefined,
    ),
    ...(fileInto !== '' && { fileInto }),
    ...(forwardTo !== '' && { forwardTo }),
    ...(isOn('markRead') && { markRead: true }),
    ...(isOn('star') && { star: true }),
    ...(isOn('discard') && { discard: true }),
    stop: isOn('stop'),
  };
}

/** Returns a condition of a form; undefined for a row that was left empty. */
function conditionOf(form: Sent, number: number): Condition | undefined {
  const value = fieldOf(form, `value${number}`);
  const field = FIELDS.find((one) => one === fieldOf(form, `field${number}`));
  if (value === '' || !field) return undefined;
  const [not, operator] = comparisonOf(fieldOf(form, `operator${number}`));
  return {
    field,
    value,
    ...(field === 'header' && { header: fieldOf(form, `header${number}`).trim() }),
    ...(!isSize(field) && { operator }),
    ...(not && { not }),
  };
}

/** Returns whether a comparison of the form is turned around, and the operator of the API. */
function comparisonOf(text: string): [boolean, Exclude<Condition['operator'], undefined>] {
  const operator = text.replace(/^not /, '');
  const known = (['contains', 'is', 'startsWith', 'endsWith'] as const).find((one) => one === operator);
  return [text.startsWith('not '), known ?? 'contains'];
}
