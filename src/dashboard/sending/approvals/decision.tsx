/** The state of an approval on the page of its mail, and the actions that approve and decline it. */
import type { ShownApprovalState } from '../../../approvals/schemas.ts';
import type { Form as SentForm } from '../../../http/pages/form-body.ts';
import { Facts, Foreign, Status, Time, type Tone } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form } from '../../frame/forms.tsx';
import { fieldOf, type PageDefinition, type TenantContext } from '../../page.ts';

/** Colours of the states of an approval. */
export const APPROVAL_TONES: Record<ShownApprovalState['state'], Tone> = {
  pending: 'warning',
  approved: 'good',
  declined: 'bad',
  expired: 'bad',
  withdrawn: 'neutral',
};

type Props = { context: TenantContext; approval: ShownApprovalState | null };

/** The section about the approval of an email or a broadcast; nothing for mail that has not asked for one. */
export function ApprovalPart({ context, approval }: Props) {
  if (approval === null) return null;
  const { approvals } = context.texts;
  const { state, expiresAt, decidedAt, reason } = approval;
  const isPending = state === 'pending';
  return (
    <section id="approval" aria-labelledby="approval-title">
      <h2 id="approval-title">{approvals.one}</h2>
      <Facts
        facts={[
          [
            approvals.state,
            <Status key="state" tone={APPROVAL_TONES[state]}>
              {approvals.states[state]}
            </Status>,
          ],
          isPending
            ? [approvals.expiresAt, <Time key="expires" context={context} at={expiresAt} />]
            : [approvals.decidedAt, <Time key="decided" context={context} at={decidedAt} />],
          ...(reason === null ? [] : [[approvals.reason, <Foreign key="reason" text={reason} />] as const]),
        ]}
      />
      {isPending && context.can('write') && <Decision context={context} hash={approval.hash} />}
    </section>
  );
}

function Decision({ context, hash }: { context: TenantContext; hash: string }) {
  const { approvals } = context.texts;
  return (
    <>
      <p>{approvals.decideText}</p>
      <div class="buttons">
        <ActionButton context={context} action="approve" submit={approvals.approve} fields={{ hash }} />
        <Disclosure label={approvals.decline} isOpen={context.failed?.action === 'decline'}>
          <p>{approvals.declineText}</p>
          <Form context={context} action="decline" submit={approvals.declineNow} isDangerous>
            <input type="hidden" name="hash" value={hash} />
            <Field
              context={context}
              action="decline"
              name="reason"
              label={approvals.reason}
              help={approvals.reasonHelp}
              maxLength={500}
            />
          </Form>
        </Disclosure>
      </div>
    </>
  );
}

/**
 * Returns the actions that approve and decline. The form names the hash of what was shown, so that nothing else is approved. `pathOf` returns
 * the path of the mail in the API.
 */
export function decisionActions(
  pathOf: (context: TenantContext, form: SentForm) => string,
): NonNullable<PageDefinition<'tenant'>['actions']> {
  const back = ({ path, query }: TenantContext) => (query.size > 0 ? `${path}?${query}` : path);
  return {
    approve: {
      logs: ['kind', 'id'],
      async run(context, form) {
        await context.api.post(`${pathOf(context, form)}/approve`, { hash: fieldOf(form, 'hash') });
        return { to: back(context), said: 'approved' };
      },
    },
    decline: {
      logs: ['kind', 'id'],
      async run(context, form) {
        const reason = fieldOf(form, 'reason').trim();
        const body = { hash: fieldOf(form, 'hash'), ...(reason !== '' && { reason }) };
        await context.api.post(`${pathOf(context, form)}/decline`, body);
        return { to: back(context), said: 'declined' };
      },
    },
  };
}
