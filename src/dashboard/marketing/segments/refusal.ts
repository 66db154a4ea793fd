/** Says what the API refuses of a segment by the fields of its form, whose rules are parts of the filter that the API gets. */
import { AppError } from '../../../system/errors.ts';
import type { TenantContext } from '../../page.ts';
import { TranslatedRefusal } from '../../texts/refusal.ts';
import { translateRefusal } from '../../texts/sentences.ts';
import { textsOf } from '../../texts/texts.ts';
import { type FilterState, PROPERTY } from './rules.ts';

/**
 * Returns the answer of an operation on the rules of a form.
 * @throws AppError about a field of the form, such as `value.1`
 */
export async function askAbout<Answer>(
  { formats: { language } }: Pick<TenantContext, 'formats'>,
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
    const field = `\`${name}\``;
    const { text, lang } = isAboutKey
      ? { text: `${field} ${textsOf(language).segments.keyFormat}` }
      : translateRefusal(language, refusal);
    const options = { param: name, cause: refusal };
    const { segments } = textsOf(lang ?? language);
    const message = `${segments.rule(rule.row + 1)}: ${text.replace(`\`${param}\``, field)}`;
    throw lang === undefined
      ? new TranslatedRefusal(refusal.code, message, options)
      : new AppError(refusal.code, message, options);
  }
}
