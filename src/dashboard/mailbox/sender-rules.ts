/**
 * Reads and writes the choices of the owner of a mailbox about senders: their mail is never spam, or always. A choice is a rule of the mailbox, which
 * the page of the rules shows and changes as any other. So nothing else decides about mail, and mail programs with Sieve see the same.
 */
import type { Rule } from './seen-rules.ts';

export const CHOICES = ['never', 'always'] as const;
export type Choice = (typeof CHOICES)[number];

export type SenderChoice = { address: string; choice: Choice };

/** Name of the folder for spam of a mailbox that has none, which is made then. */
const DEFAULT_FOLDER = 'Junk';
const INBOX = 'INBOX';

/** Returns the rules that are choices, with the folder for spam of the mailbox. */
export function choicesIn(rules: readonly Rule[], folder: string | null): SenderChoice[] {
  return rules.flatMap((rule) => choiceOf(rule, folder) ?? []);
}

/** Returns the rules with another choice for a sender, before all others; without one when the choice is undefined. */
export function withChoice(
  rules: readonly Rule[],
  { address, choice }: { address: string; choice: Choice | undefined },
  folder: string | null,
): Rule[] {
  const others = rules.filter((rule) => choiceOf(rule, folder)?.address !== keyOf(address));
  return choice === undefined ? others : [ruleOf({ address, choice }, folder), ...others];
}

/** Moving to a folder by name overrides the mark that the server gives spam, and ends the rules. */
function ruleOf({ address, choice }: SenderChoice, folder: string | null): Rule {
  return {
    match: 'all',
    conditions: [{ field: 'from', operator: 'is', value: keyOf(address) }],
    fileInto: choice === 'never' ? INBOX : (folder ?? DEFAULT_FOLDER),
    stop: true,
  };
}

/** Returns the choice that a rule is; undefined for a rule that says anything else. */
function choiceOf(rule: Rule, folder: string | null): SenderChoice | undefined {
  const [condition, ...more] = rule.conditions;
  if (!condition || more.length > 0 || condition.field !== 'from' || condition.operator !== 'is')
    return undefined;
  const { forwardTo, markRead, star, discard, stop = true, fileInto } = rule;
  const doesMore = forwardTo !== undefined || markRead || star || discard || !stop || condition.not;
  if (doesMore) return undefined;
  const address = keyOf(condition.value);
  if (fileInto?.toUpperCase() === INBOX) return { address, choice: 'never' };
  return fileInto === (folder ?? DEFAULT_FOLDER) ? { address, choice: 'always' } : undefined;
}

/** Rules compare the letters of ASCII without case. */
function keyOf(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
