/** The proof of a contact's consent, and the confirmation mails of one that is pending. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { Facts, Foreign, Time } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import type { TenantContext } from '../../page.ts';

export function Consent({ context, contact }: { context: TenantContext; contact: ShownContact }) {
  const { audiences } = context.texts;
  const { consent, confirmation } = contact;
  if (!consent) return null;
  const { confirmedAt } = consent;
  return (
    <section aria-labelledby="consent">
      <h2 id="consent">{audiences.consent}</h2>
      <Facts
        facts={[
          [audiences.requestedAt, <Time key="requested" context={context} at={consent.requestedAt} />],
          [audiences.consentSource, consent.source],
          [audiences.requestedFrom, <Foreign key="from" text={consent.requestedIp} />],
          [audiences.confirmedAt, <Time key="confirmed" context={context} at={confirmedAt} />],
          ...(confirmedAt === null
            ? []
            : ([
                [audiences.confirmedFrom, <Foreign key="at" text={consent.confirmedIp} />],
                [audiences.confirmedBrowser, <Foreign key="with" text={consent.confirmedUserAgent} />],
              ] as const)),
        ]}
      />
      {confirmation && <Confirmations context={context} confirmation={confirmation} />}
    </section>
  );
}

type Confirmation = NonNullable<ShownContact['confirmation']>;

function Confirmations({ context, confirmation }: { context: TenantContext; confirmation: Confirmation }) {
  const { texts, formats, app, can } = context;
  const { count, nextAt } = confirmation;
  const isPossible = nextAt !== null && Date.parse(nextAt) <= app.clock.now();
  return (
    <>
      <Facts
        facts={[
          [texts.audiences.confirmations, formats.number(count)],
          [texts.audiences.nextConfirmation, <Time key="next" context={context} at={nextAt} />],
        ]}
      />
      {isPossible && can('write') && (
        <ActionButton context={context} action="confirm" submit={texts.audiences.sendConfirmation} />
      )}
    </>
  );
}
