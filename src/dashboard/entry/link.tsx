/**
 * The page behind a link that lets somebody in once: it makes the first operator, makes an invited person, sets a new password, or lets a
 * person who is logged in accept an invitation. Looking at the page uses nothing, so programs that check links do not use it up.
 */
import type { LoginLinkRow } from '../../db/people-tables.ts';
import { readPassword } from '../../mailboxes/passwords/password.ts';
import { notFound } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { findTenant } from '../../tenants/store.ts';
import { Field, Form } from '../frame/forms.tsx';
import { definePage, fieldOf, type PublicContext } from '../page.ts';
import { readEmail, readName } from '../people/fields.ts';
import { acceptInvitation, findOpenLink, redeemLink } from '../people/links-store.ts';
import { findPersonByEmail } from '../people/store.ts';
import { hashToken } from '../people/tokens.ts';
import { requireChannel } from './login.tsx';
import { startOf } from './start.ts';

export const linkPage = definePage({
  area: 'public',
  path: '/link/:token',
  async show(context) {
    const { login } = context.texts;
    const link = await findLink(context);
    if (!link) return { title: login.wrongLink, body: <WrongLink context={context} /> };
    const isKnown = link.email !== null && (await findPersonByEmail(context.app.db.read, link.email));
    const title = titleOf(context, link);
    const body = isKnown ? <Known context={context} /> : <NewPerson context={context} link={link} />;
    return {
      title,
      body: (
        <>
          <h1>{title}</h1>
          <p>{await introductionOf(context, link)}</p>
          {body}
        </>
      ),
    };
  },
  actions: {
    enter: {
      async run(context, form) {
        requireChannel(context);
        const { app, setSession } = context;
        const link = await findLink(context);
        if (!link) throw notFound('Link');
        const now = app.clock.now();
        const id = newId('per', now);
        const person = {
          id,
          email: link.email ?? readEmail(fieldOf(form, 'email')),
          name: link.personId === null ? readName(fieldOf(form, 'name')) : '',
          passwordHash: await app.people.hashPassword(readPassword('password', fieldOf(form, 'password')), {
            id,
          }),
        };
        const personId = await app.db.commit(redeemLink, { tokenHash: link.tokenHash, now, person });
        const token = await app.people.begin({ personId, mailboxId: null, stage: 'complete' }, context);
        setSession(token);
        return { to: await startOf(app, token) };
      },
    },
    accept: {
      async run(context) {
        const { app, sessionToken } = context;
        const link = await findLink(context);
        const session = sessionToken === undefined ? undefined : await app.people.find(sessionToken);
        if (!link || session?.stage !== 'complete' || session.personId === null)
          return { to: `/login?to=${encodeURIComponent(context.path)}` };
        const { tokenHash } = link;
        const { personId } = session;
        await app.db.commit(acceptInvitation, { tokenHash, now: app.clock.now(), personId });
        return { to: await startOf(app, sessionToken) };
      },
    },
  },
});

async function findLink({ app, params }: PublicContext): Promise<LoginLinkRow | undefined> {
  const tokenHash = hashToken(params['token'] ?? '');
  if (tokenHash === undefined) return undefined;
  return findOpenLink(app.db.read, { tokenHash, now: app.clock.now() });
}

function titleOf({ texts: { login } }: PublicContext, { kind }: LoginLinkRow): string {
  switch (kind) {
    case 'set_up':
      return login.setUpTitle;
    case 'invitation':
      return login.invitationTitle;
    case 'recovery':
      return login.recoveryTitle;
  }
}

async function introductionOf(
  { app, texts: { login } }: PublicContext,
  { kind, tenantId }: LoginLinkRow,
): Promise<string> {
  if (kind === 'recovery') return '';
  if (kind === 'set_up') return login.setUpText;
  const tenant = tenantId === null ? undefined : await findTenant(app.db.read, tenantId);
  return tenant ? login.invitationText(tenant.name) : login.operatorInvitation;
}

function NewPerson({ context, link }: { context: PublicContext; link: LoginLinkRow }) {
  const { login } = context.texts;
  const field = { context, action: 'enter', isRequired: true };
  return (
    <Form context={context} action="enter" submit={login.linkSubmit}>
      {link.personId === null && <Field {...field} name="name" label={login.name} autocomplete="name" />}
      {link.personId === null && link.email === null && (
        <Field {...field} name="email" label={login.email} type="email" autocomplete="username" />
      )}
      <Field
        {...field}
        name="password"
        label={login.newPassword}
        type="password"
        autocomplete="new-password"
      />
    </Form>
  );
}

/** An invitation for somebody who has a password already. */
function Known({ context }: { context: PublicContext }) {
  const { login } = context.texts;
  return (
    <Form context={context} action="accept" submit={login.accept}>
      <p>{login.knownText}</p>
    </Form>
  );
}

function WrongLink({ context }: { context: PublicContext }) {
  const { login } = context.texts;
  return (
    <>
      <h1>{login.wrongLink}</h1>
      <p>{login.wrongLinkText}</p>
      <p>
        <small>{login.newLink}</small>
      </p>
    </>
  );
}
