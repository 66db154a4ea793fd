/** Finds what a form has changed: the values that its page has shown before. */
import type { Form } from '../../http/pages/form-body.ts';
import { renderPage } from '../../http/pages/render.ts';
import { AppError } from '../../system/errors.ts';
import { ACTION_FIELD } from '../field-names.ts';
import type { Area, Contexts, PageDefinition } from '../page.ts';
import { fieldOf } from '../page.ts';
import { formsIn, type ShownForm } from './forms-in.ts';

/** Values of fields by their names, several of one name separated by commas. */
export type Values = Readonly<Record<string, string>>;

/** Returns the values that the page has for the fields of a form right now. Without the form on its page, there are none. */
export async function shownValues(
  page: PageDefinition,
  context: Contexts[Area],
  form: Form,
): Promise<Values> {
  const html = await show(page, context);
  const shown = formsIn(html).find((one) => isSame(one, form));
  const names = new Set(shown?.values.keys());
  return Object.fromEntries([...names].map((name) => [name, shown?.values.getAll(name).join(', ') ?? '']));
}

/** Returns the HTML of a page; empty when it shows none, or refuses to. */
async function show(page: PageDefinition, context: Contexts[Area]): Promise<string> {
  try {
    const answer = await page.show(context as never);
    return 'body' in answer ? renderPage(<main>{answer.body}</main>) : '';
  } catch (error) {
    if (error instanceof AppError) return '';
    throw error;
  }
}

/** Returns true for the form that was sent: it has the same action, and is about the same thing. */
function isSame({ hidden }: ShownForm, form: Form): boolean {
  if (hidden.get(ACTION_FIELD) !== fieldOf(form, ACTION_FIELD)) return false;
  const about = [...hidden].filter(([name]) => !name.startsWith('_'));
  return about.every(([name, value]) => fieldOf(form, name) === value);
}
