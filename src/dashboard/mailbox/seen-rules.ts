/**
 * The rules of a mailbox as a page has shown them. They have no ids, so a form names one by its number, and says which list it has seen: another
 * window may have changed them meanwhile.
 */
import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import type { Form } from '../../http/pages/form-body.ts';
import type { mailboxSchema } from '../../mailboxes/schemas.ts';
import { AppError, notFound } from '../../system/errors.ts';
import { type Contexts, fieldOf } from '../page.ts';

export const RULES_PAGE = '/mailbox/rules';

export type Rule = Static<typeof mailboxSchema>['rules'][number];
export type Condition = Rule['conditions'][number];

export type SeenRules = { rules: readonly Rule[]; version: string };

const VERSION_FIELD = 'version';

/** Returns the present rules. */
export async function readRules({ api }: Contexts['mailbox']): Promise<SeenRules> {
  const { rules } = await api.get<Static<typeof mailboxSchema>>('');
  return { rules, version: createHash('sha256').update(JSON.stringify(rules)).digest('base64url') };
}

/** Returns the hidden field that says which rules a form has seen. */
export function versionField({ version }: SeenRules): Record<string, string> {
  return { [VERSION_FIELD]: version };
}

/**
 * Checks that a form has seen the present rules.
 * @throws AppError invalid_state
 */
export function requireSeen({ version }: SeenRules, form: Form): void {
  if (fieldOf(form, VERSION_FIELD) === version) return;
  throw new AppError('invalid_state', 'The rules were changed in another window; load the page again');
}

/**
 * Returns the rule with a number, counted from 1, of which a form has seen the present state.
 * @throws AppError invalid_state, not_found
 */
export function requireRule(seen: SeenRules, form: Form, number: string) {
  requireSeen(seen, form);
  const index = indexOf(seen, number);
  return { rules: seen.rules, index };
}

/**
 * Returns the index of the rule with a number, counted from 1.
 * @throws AppError not_found
 */
export function indexOf({ rules }: SeenRules, number: string): number {
  const index = /^[1-9]\d{0,2}$/.test(number) ? Number(number) - 1 : -1;
  if (!rules[index]) throw notFound('Rule');
  return index;
}
