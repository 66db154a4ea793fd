/** The rules for new mail of a mailbox, in their order, which can be changed. */

import type { Form } from '../../http/pages/form-body.ts';
import { Foreign, Heading } from '../frame/elements.tsx';
import { ActionButton, addressOf } from '../frame/forms.tsx';
import { Pager, pageIn, Table } from '../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { actionsOf, conditionsOf } from './rule-text.ts';
import { RULES_PAGE, type Rule, readRules, requireRule, type SeenRules, versionField } from './seen-rules.ts';

type MailboxContext = Contexts['mailbox'];
/** A rule with its number, by which pages are found. */
type Row = { id: string; rule: Rule; index: number };

/** Number of rules on a page: with the buttons of each it stays within 100 kB. */
const SHOWN_RULES = 30;

export const rulesPage = definePage({
  area: 'mailbox',
  path: '/rules',
  menu: { group: 'mailbox', label: ({ rules }) => rules.title },
  async show(context) {
    const { rules: texts } = context.texts;
    const seen = await readRules(context);
    return {
      title: texts.title,
      body: (
        <>
          <Heading title={texts.title}>
            <a href={`${RULES_PAGE}/new`}>{texts.add}</a>
          </Heading>
          <p>{texts.introduction}</p>
          <Rules context={context} seen={seen} />
        </>
      ),
    };
  },
  actions: {
    up: {
      logs: ['number'],
      run: (context, form) => change(context, form, (rules, index) => moved(rules, index, index - 1)),
    },
    down: {
      logs: ['number'],
      run: (context, form) => change(context, form, (rules, index) => moved(rules, index, index + 1)),
    },
    delete: {
      logs: ['number'],
      run: (context, form) => change(context, form, (rules, index) => rules.toSpliced(index, 1)),
    },
  },
});

type Change = (rules: readonly Rule[], index: number) => readonly Rule[];

async function change(context: MailboxContext, form: Form, changed: Change) {
  const { rules, index } = requireRule(await readRules(context), form, fieldOf(form, 'number'));
  await context.api.patch('', { rules: changed(rules, index) });
  return { to: addressOf(context), said: 'saved' as const };
}

function moved(rules: readonly Rule[], from: number, to: number): readonly Rule[] {
  const rule = rules[from];
  return rule && to >= 0 ? rules.toSpliced(from, 1).toSpliced(to, 0, rule) : rules;
}

function Rules({ context, seen }: { context: MailboxContext; seen: SeenRules }) {
  const { texts } = context;
  const rows = seen.rules.map((rule, index): Row => ({ id: String(index + 1), rule, index }));
  const page = pageIn(rows, context.query, SHOWN_RULES);
  return (
    <>
      <Table
        context={context}
        caption={texts.rules.title}
        rows={page.data}
        keyOf={({ id }) => id}
        empty={texts.rules.none}
        columns={[
          {
            label: texts.rules.name,
            cell: ({ rule, index }) => (
              <a href={`${RULES_PAGE}/${index + 1}`}>
                <Foreign text={rule.name || texts.rules.unnamed(index + 1)} />
              </a>
            ),
          },
          { label: texts.rules.applies, cell: ({ rule }) => <Foreign text={conditionsOf(rule, texts)} /> },
          { label: texts.rules.does, cell: ({ rule }) => <Foreign text={actionsOf(rule, texts)} /> },
          {
            label: texts.frame.actions,
            cell: (row) => <RuleActions context={context} seen={seen} row={row} />,
          },
        ]}
      />
      <Pager context={context} page={page} isOrdered />
    </>
  );
}

function RuleActions({
  context,
  seen,
  row: { index },
}: {
  context: MailboxContext;
  seen: SeenRules;
  row: Row;
}) {
  const { rules, frame } = context.texts;
  const number = index + 1;
  const button = { context, fields: { number: String(number), ...versionField(seen) } };
  return (
    <div class="buttons">
      {index > 0 && (
        <ActionButton {...button} action="up" submit={rules.up} label={`${rules.up}: ${number}`} />
      )}
      {number < seen.rules.length && (
        <ActionButton {...button} action="down" submit={rules.down} label={`${rules.down}: ${number}`} />
      )}
      <ActionButton
        {...button}
        action="delete"
        submit={frame.delete}
        label={`${frame.delete}: ${number}`}
        isDangerous
      />
    </div>
  );
}
