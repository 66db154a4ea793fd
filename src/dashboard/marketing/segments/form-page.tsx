/** The part that the pages of a new and of an existing segment share: the actions of the form that change its rules and count. */
import type { Static } from 'typebox';
import type { countSchema, segmentSchema } from '../../../audiences/segments/schemas.ts';
import type { Form } from '../../../http/pages/form-body.ts';
import { AppError } from '../../../system/errors.ts';
import { actionOf } from '../../frame/forms.tsx';
import { type Answer, fieldOf, type TenantContext } from '../../page.ts';
import { ALL_TOPICS, listNewest } from '../choices.tsx';
import { type BuilderProps, SegmentForm } from './builder.tsx';
import { askAbout } from './refusal.ts';
import { type FilterState, filterOf, NO_RULE, readState } from './rules.ts';

export type Segment = Static<typeof segmentSchema>;

/** Number of broadcasts that a rule offers: their subjects are long. */
const OFFERED_BROADCASTS = 50;

type Shown = Pick<BuilderProps, 'name' | 'state' | 'count'>;

/** Returns the form with what was entered last, or else with the stored segment. */
export async function segmentForm(context: TenantContext, stored: Shown) {
  const { api, failed } = context;
  const topics = await listNewest<{ id: string; name: string }>(api, '/topics', ALL_TOPICS);
  const broadcasts = await api.get<BuilderProps['broadcasts']>('/broadcasts', {
    limit: OFFERED_BROADCASTS,
  });
  const shown: Shown = failed
    ? { name: fieldOf(failed.form, 'name'), state: readState(failed.form) }
    : stored;
  return <SegmentForm context={context} {...shown} topics={topics.data} broadcasts={broadcasts} />;
}

/** Shows a page with a segment that was not stored. */
type Show = (context: TenantContext, entered: Shown) => Promise<Answer>;

/** Returns the actions that change nothing but the form. `audienceIdOf` returns the audience in which contacts are counted. */
export function formActions(show: Show, audienceIdOf: (context: TenantContext) => Promise<string>) {
  const change = (changeRules: (state: FilterState, about: string) => FilterState) => ({
    isAudited: false,
    run: (context: TenantContext, form: Form) =>
      show(context, {
        name: fieldOf(form, 'name'),
        state: changeRules(readState(form), actionOf(form).about),
      }),
  });
  return {
    add: change((state) => (state.kind === 'json' ? state : { ...state, rules: [...state.rules, NO_RULE] })),
    remove: change((state, about) =>
      state.kind === 'json'
        ? state
        : { ...state, rules: state.rules.filter((_, at) => String(at) !== about) },
    ),
    count: {
      isAudited: false,
      async run(context: TenantContext, form: Form) {
        const state = readState(form);
        const count = await countContacts(context, { audienceId: await audienceIdOf(context), state });
        return show(context, { name: fieldOf(form, 'name'), state, count });
      },
    },
  };
}

/** Returns the number of contacts for whom rules hold, or why they cannot be counted. */
async function countContacts(
  context: TenantContext,
  { audienceId, state }: { audienceId: string; state: FilterState },
): Promise<number | AppError> {
  const { api } = context;
  try {
    const body = { audienceId, filter: filterOf(state) };
    const counted = api.post<Static<typeof countSchema>>('/segments/count', body);
    return (await askAbout(context, state, counted)).contactCount;
  } catch (refusal) {
    if (!(refusal instanceof AppError)) throw refusal;
    return refusal;
  }
}
