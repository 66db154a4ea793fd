/** The latest emails to an address. */
import type { Static } from 'typebox';
import type { emailPageSchema } from '../../../emails/show.ts';
import type { TenantContext } from '../../page.ts';
import { EmailTable } from '../../sending/emails/list.tsx';

/** Number of emails that the page of a contact shows. */
const SHOWN = 10;

export async function historyOf({ api }: TenantContext, email: string) {
  const { data } = await api.get<Static<typeof emailPageSchema>>('/emails', { to: email, limit: SHOWN });
  return data;
}

export function History({
  context,
  email,
  emails,
}: {
  context: TenantContext;
  email: string;
  emails: Awaited<ReturnType<typeof historyOf>>;
}) {
  const { audiences } = context.texts;
  return (
    <section aria-labelledby="history">
      <h2 id="history">{audiences.history}</h2>
      {emails.length === 0 ? (
        <p class="empty">{audiences.noHistory}</p>
      ) : (
        <EmailTable context={context} emails={emails} />
      )}
      {emails.length === SHOWN && (
        <a href={context.at(`/emails?${new URLSearchParams({ to: email })}`)}>{audiences.allEmails}</a>
      )}
    </section>
  );
}
