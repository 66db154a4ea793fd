/**
 * Suppressions that bounces have made and would not make now. Reading them takes some reads for each suppression, so the operator begins it, and
 * goes on part by part.
 */

import { answerOf } from '../../http/json/calls.ts';
import type { SuppressionReview } from '../../queue/suppression-review/admin-api.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Disclosure, Form } from '../frame/forms.tsx';
import { FilterField, NextPager, Table } from '../frame/lists.tsx';
import { ReplyClass } from '../frame/reply-class.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { aboutTenant } from './find-tenant.ts';
import { Refused } from './queue/criteria.tsx';
import { TenantLink } from './tenant-link.tsx';

type Context = Contexts['operator'];
type Doubtful = SuppressionReview['suppressions'][number];

/** Number of suppressions on a page, which stays within 100 kB, and of those that are examined for it. */
const PAGE_SIZE = 50;
const EXAMINED = 2_000;

export const suppressionReviewPage = definePage({
  area: 'operator',
  path: '/suppressions',
  menu: { group: 'operating', label: ({ suppressions }) => suppressions.review },
  async show(context) {
    const { operator, query, texts } = context;
    const { suppressions } = texts;
    const tenant = (query.get('tenant') ?? '').trim();
    const asked = { tenant, after: query.get('after') ?? '', limit: PAGE_SIZE, examine: EXAMINED };
    const isAsked = query.has('tenant');
    const review = isAsked
      ? await answerOf(operator.get<SuppressionReview>('/suppressions/review', asked))
      : undefined;
    return {
      title: suppressions.review,
      body: (
        <>
          <Heading title={suppressions.review} />
          <p>{suppressions.reviewText}</p>
          <Begin context={context} />
          {review instanceof Error && <Refused context={context} refusal={review} />}
          {review && !(review instanceof Error) && (
            <Review context={context} tenant={tenant} review={review} />
          )}
        </>
      ),
    };
  },
  actions: {
    remove: {
      logs: ['tenant', 'id'],
      async run(context, form) {
        const { operator, path: here, query } = context;
        const tenant = fieldOf(form, 'tenant');
        const wanted = { tenant, ids: form.values('id') };
        await operator.post('/suppressions/review/remove', wanted);
        const to = query.size > 0 ? `${here}?${query}` : here;
        return { to, said: 'deleted', acted: await aboutTenant(operator, tenant) };
      },
    },
  },
});

function Begin({ context }: { context: Context }) {
  const { queue, suppressions } = context.texts;
  return (
    <form method="get" action={context.path} class="filters" aria-label={suppressions.review}>
      <FilterField context={context} name="tenant" label={queue.tenantHelp} />
      <div class="buttons">
        <button type="submit">{suppressions.reviewNow}</button>
      </div>
    </form>
  );
}

type ReviewProps = { context: Context; tenant: string; review: SuppressionReview };

function Review({ context, tenant, review: { suppressions: listed, next } }: ReviewProps) {
  const { formats, texts } = context;
  const { suppressions, queue, email } = texts;
  return (
    <>
      {next !== null && <p class="muted">{suppressions.reviewMore(formats.number(listed.length))}</p>}
      <Table
        context={context}
        caption={suppressions.review}
        rows={listed}
        keyOf={({ id }) => id}
        empty={next === null ? suppressions.reviewNone : suppressions.reviewNoneHere}
        columns={[
          { label: suppressions.email, cell: (one) => <Foreign text={one.email} /> },
          { label: suppressions.reply, cell: ({ diagnostic }) => <Foreign text={diagnostic} /> },
          { label: email.meaning, cell: (one) => <ReplyClass context={context} name={one.class} /> },
          { label: suppressions.error, cell: ({ reason }) => suppressions.doubts[reason] },
          {
            label: suppressions.createdAt,
            cell: ({ createdAt }) => <Time context={context} at={createdAt} />,
          },
          { label: queue.tenant, cell: ({ tenantId }) => <TenantLink id={tenantId} /> },
          { label: texts.frame.actions, cell: (one) => <Remove context={context} suppression={one} /> },
        ]}
      />
      {tenant !== '' && listed.length > 0 && (
        <RemoveThese context={context} tenant={tenant} suppressions={listed} />
      )}
      <NextPager context={context} next={next} />
    </>
  );
}

function Remove({
  context,
  suppression: { id, tenantId, email },
}: {
  context: Context;
  suppression: Doubtful;
}) {
  const { suppressions } = context.texts;
  return (
    <ActionButton
      context={context}
      action="remove"
      submit={suppressions.deleteNow}
      label={`${suppressions.deleteNow}: ${email}`}
      fields={{ tenant: tenantId, id }}
    />
  );
}

type RemoveTheseProps = { context: Context; tenant: string; suppressions: readonly Doubtful[] };

/** Removes those that the page shows, whose number it says, and no others. */
function RemoveThese({ context, tenant, suppressions: listed }: RemoveTheseProps) {
  const { formats, texts } = context;
  const { suppressions } = texts;
  const label = suppressions.removeThese(formats.number(listed.length));
  return (
    <Disclosure label={label}>
      <p>{suppressions.removeTheseText}</p>
      <Form context={context} action="remove" submit={label} fields={{ tenant }} isDangerous>
        {listed.map(({ id }) => (
          <input key={id} type="hidden" name="id" value={id} />
        ))}
      </Form>
    </Disclosure>
  );
}
