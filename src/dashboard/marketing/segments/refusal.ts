/** Says what the API refuses of a segment by the fields of its form, whose rules are parts of the filter that the API gets. */
import { AppError } from '../../../system/errors.ts';
import type { TenantContext } from '../../page.ts';
import { type FilterState, PROPERTY } from './rules.ts';

/**
 * Returns the answer of an operation on the rules of a form.
 * @throws AppError about a field of the form, such as `value.1`
 */
export async function askAbout<Answer>(
  { texts: { segments } }: Pick<TenantContext, 'texts'>,
  state: FilterState,
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer;
  } catch (refusal) {
    if (!(refusal instanceof AppError) || state.kind === 'json') throw refusal;
    const { param = '' } = refusal.options;
    const [, number, part] = /^filter\.rules\[(\d+)\]\.(field|cmp|value)/.exec(param) ?? [];
    // Rows without a field are no rules of the filter.
    const rows = state.rules.flatMap(({ field }, row) => (field === '' ? [] : [{ field, row }]));
    const rule = rows[Number(number)];
    if (!rule || part === undefined) throw refusal;
    const isAboutKey = part === 'field' && rule.field === PROPERTY;
    const name = `${isAboutKey ? 'key' : part}.${rule.row}`;
    const what = isAboutKey ? `\`${name}\` ${segments.keyFormat}` : refusal.message.replace(param, name);
    throw new AppError(refusal.code, `${segments.rule(rule.row + 1)}: ${what}`, {
      param: name,
      cause: refusal,
    });
  }
}
