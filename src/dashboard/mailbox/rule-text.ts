/** Says in words when a rule of a mailbox applies, and what it does then. */

import { shortened } from '../frame/shortened.ts';
import type { Texts } from '../texts/texts.ts';
import type { Condition, Rule } from './seen-rules.ts';

/** Number of conditions, and of characters of a value, that a list of rules shows. The page of a rule has all. */
const SHOWN_CONDITIONS = 5;
const SHOWN_CHARACTERS = 100;

/** Returns when the rule applies. */
export function conditionsOf({ conditions, match = 'all' }: Rule, { rules }: Texts): string {
  if (conditions.length === 0) return rules.always;
  const joint = match === 'all' ? rules.and : rules.or;
  const shown = conditions.slice(0, SHOWN_CONDITIONS).map((condition) => describe(condition, rules));
  return (conditions.length > SHOWN_CONDITIONS ? [...shown, '…'] : shown).join(joint);
}

function describe(condition: Condition, rules: Texts['rules']): string {
  const { field, header = '' } = condition;
  const value = shortened(condition.value, SHOWN_CHARACTERS);
  const name = field === 'header' ? header : rules.fields[field];
  const operator = rules.operators[operatorOf(condition)];
  return isSize(field)
    ? rules.sizes(name, value, condition.not === true)
    : `${name} ${operator} ${rules.quoted(value)}`;
}

/** Returns true for the fields whose value is a number of bytes. */
export function isSize(field: Condition['field']): boolean {
  return field === 'larger' || field === 'smaller';
}

/** The ways in which a condition compares, those that hold where the others do not among them. */
export const OPERATORS = [
  ...(['contains', 'is', 'startsWith', 'endsWith'] as const),
  ...(['not contains', 'not is', 'not startsWith', 'not endsWith'] as const),
];
type RuleOperator = (typeof OPERATORS)[number];

/** Returns the way in which a condition compares. */
export function operatorOf({ operator = 'contains', not }: Condition): RuleOperator {
  return not ? `not ${operator}` : operator;
}

/** Returns what the rule does. */
export function actionsOf(rule: Rule, { rules }: Texts): string {
  const { fileInto, markRead, star, forwardTo, discard, stop = true } = rule;
  const parts = [
    ...(forwardTo === undefined ? [] : [rules.forwards(forwardTo)]),
    ...(fileInto === undefined ? [] : [rules.files(fileInto)]),
    ...(discard ? [rules.discards] : []),
    ...(markRead ? [rules.marksRead] : []),
    ...(star ? [rules.stars] : []),
    ...(stop ? [] : [rules.goesOn]),
  ];
  return parts.length === 0 ? rules.keeps : parts.join(', ');
}
